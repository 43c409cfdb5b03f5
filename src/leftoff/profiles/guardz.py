"""guardz: named checkpoints in the agent's memory folder, consumed when they are taken up.

`checkpoint-{name}.md` holds one each, and MEMORY.md lists them in a section of its own. The rest
of MEMORY.md belongs to the agent and stays as it is, byte for byte.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from leftoff import paths
from leftoff.checkpoint import Checkpoint
from leftoff.paths import Project
from leftoff.profiles import markdown
from leftoff.profiles.guardzindex import (
    INDEX,
    names_listed,
    one_line,
    place_of,
    summary_in,
    with_bullets,
)
from leftoff.profiles.profile import Files, More, Native, News
from leftoff.profiles.regular_files import names_in

SETTINGS: Mapping[str, Any] = {
    "on_resume": "consume",
    "confirm": "never",
    "naming": "ask",
    "noise": "line",
    "next_action": "stated",
}
HOLDS = frozenset({"name", "branch", "plan", "left_off", "done", "failed", "files_modified"})
IS_LIVING = True
PER_WORKTREE = False
WANTS_KNOWLEDGE = False
EVENTS: frozenset[str] = frozenset()
NATIVE: frozenset[str] = frozenset()

_FILE = re.compile(r"checkpoint-.")
_FIELD = re.compile(r"- \*\*(Branch|Saved|Plan):\*\*[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_PLAN = re.compile(r"`(.+)`(?: \(step (\d+) of (\d+)\))?$")
_COMMIT = re.compile(r"[0-9a-f]{7,8}")
_MOST_FILES = 10


def home(project: Project) -> Path:
    """Return Claude Code's memory folder, which all worktrees of a repository share."""
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(project.root))
    return paths.agent_folder("claude") / "projects" / munged / "memory"


def is_here(folder: Path) -> bool:
    """Say whether there is a checkpoint in this folder."""
    return next(natives(folder), None) is not None


def folders(folder: Path) -> list[Path]:
    """Return the one folder that holds checkpoints."""
    return [folder]


def natives(folder: Path) -> Iterator[Path]:
    """Yield the files of checkpoints."""
    yield from (folder / name for name in sorted(names_in(folder, ".md")) if _FILE.match(name))


def listed(folder: Path) -> list[str]:
    """Return the names that MEMORY.md lists though their files are gone."""
    there = {*names_in(folder, ".md")}
    return [name for name in names_listed(folder) if f"checkpoint-{name}.md" not in there]


def more(folder: Path) -> More:
    """Return nothing: there is nothing else."""
    del folder
    return More()


# Reading


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file."""
    text = data.decode("utf-8", "replace")
    parts = {part.title.lower(): part for part in markdown.sections(text)}
    fields = dict(_FIELD.findall(parts[""].text.replace("\\- ", "- ")))
    if not fields and len(parts) == 1:
        return Native(problem="It has neither fields nor sections of a checkpoint.")
    told: dict[str, Any] = {
        "branch": _unquoted(fields.get("Branch")),
        "plan": _plan(fields.get("Plan", "")),
        **(_left_off(parts["left off"].text) if "left off" in parts else {}),
        "done": _listed(parts, "done this session"),
        "failed": [_failure(each) for each in _listed(parts, "failed approaches")],
        "files_modified": _listed(parts, "modified files"),
    }
    if told["branch"] == "unknown" or _COMMIT.fullmatch(told["branch"] or ""):
        told["branch"] = None
    name = path.stem.removeprefix("checkpoint-")
    if summary := summary_in(path.parent, name, told.get("left_off")):
        told["summary"] = summary
    return Native(
        told=told,
        name=name,
        saved_at=_moment(fields.get("Saved", "")),
    )


def _listed(parts: Mapping[str, markdown.Section], title: str) -> list[str]:
    found = markdown.bullets(parts[title].lines) if title in parts else []
    return [] if found == ["None"] else found


def _failure(text: str) -> dict[str, str]:
    what, _, why = text.partition(" — ")
    return {"what": what, "why": why}


def _unquoted(text: str | None) -> str | None:
    return text.strip("`") if text else None


def _plan(text: str) -> dict[str, Any] | None:
    found = _PLAN.match(text)
    if found is None:
        return None
    step = {"step": int(found[2]), "total": int(found[3])} if found[2] else {}
    return {"path": found[1], **step}


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        return None


# Writing


def write(files: Files, news: News) -> None:
    """Show each name that was touched as it is now; what was put away goes to the trash."""
    named = {name: shown for name, shown in news.current.items() if name}
    for name, checkpoint in named.items():
        path = f"checkpoint-{name}.md"
        if checkpoint is None:
            files.trash(path)
        else:
            files.replace(path, render(checkpoint).encode("utf-8", "replace"), of=checkpoint.id)
    if named:
        files.edit(INDEX, lambda text: with_bullets(text, named))


def render(checkpoint: Checkpoint) -> str:
    """Write a checkpoint as its native file."""
    saved = checkpoint.saved_at.astimezone()
    fields = [
        f"- **Branch:** `{place_of(checkpoint)}`",
        f"- **Saved:** {saved:%Y-%m-%d %H:%M}",
    ]
    plan = checkpoint.plan
    if plan is not None and plan.path is not None:
        step = f" (step {plan.step} of {plan.total})" if plan.step and plan.total else ""
        fields.append(f"- **Plan:** `{plan.path}`{step}")
    failed = [f"{each.what} — {each.why}" if each.why else each.what for each in checkpoint.failed]
    return "\n".join(
        [
            f"# Checkpoint: {checkpoint.name}\n",
            *fields,
            f"\n## Left Off\n{markdown.escaped(left_off(checkpoint))}",
            f"\n## Done This Session\n{markdown.bullet_list(checkpoint.done, none='- None')}",
            f"\n## Failed Approaches\n{markdown.bullet_list(failed, none='- None')}",
            f"\n## Modified Files\n{markdown.bullet_list(_files(checkpoint), none='- None')}\n",
        ]
    )


def _files(checkpoint: Checkpoint) -> list[str]:
    """Tell the files that were modified, else those that were named, else what git sees changed."""
    named = [file.path for file in checkpoint.files if file.role != "plan"]
    return checkpoint.files_modified or named or checkpoint.dirty[:_MOST_FILES]


def left_off(checkpoint: Checkpoint) -> str:
    """Tell where the work stopped, with what is still to be decided."""
    told = checkpoint.left_off or checkpoint.summary or checkpoint.intent or ""
    action = [checkpoint.next_action.text] if checkpoint.next_action else []
    pending = zip(_PENDING, (checkpoint.questions, checkpoint.blockers, action), strict=True)
    lines = [f"{words}: {one_line(each)}" for words, texts in pending for each in texts]
    return "\n".join([told, *lines]).strip()


# The last lines of Left Off: nothing that waits for a decision may get lost.
_PENDING = ("Open question", "Blocked", "Next")


def _left_off(text: str) -> dict[str, Any]:
    """Read where the work stopped, and what was pending below it."""
    told, *lines = text.split("\n")
    found: dict[str, list[str]] = {words: [] for words in _PENDING}
    while lines and (pending := _LINE.match(lines[-1])):
        found[pending[1]].insert(0, pending[2])
        lines.pop()
    questions, blockers, actions = found.values()
    action = {"next_action": {"text": actions[0]}} if actions else {}
    return {
        "left_off": "\n".join([told, *lines]),
        "questions": questions,
        "blockers": blockers,
        **action,
    }


_LINE = re.compile(f"({'|'.join(_PENDING)}): (.+)")
