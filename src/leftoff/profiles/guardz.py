"""guardz: named checkpoints in the agent's memory folder, consumed when they are resumed.

Each checkpoint is a file `checkpoint-{name}.md`, and MEMORY.md lists them in a section. The rest of
MEMORY.md belongs to the agent and stays unchanged, byte for byte.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint
from leftoff.profiles import markdown
from leftoff.profiles.guardz_index import (
    INDEX,
    names_listed,
    one_line,
    place_of,
    summary_in,
    with_bullets,
)
from leftoff.profiles.markdown_codec import Field, Layout, Lines, Plain, Section, Style
from leftoff.profiles.profile import Files, More, Native, StoreNews
from leftoff.profiles.regular_files import names_in
from leftoff.projects.project import Project
from leftoff.text import times

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
_PLAN = re.compile(r"`(.+)`(?: \(step (\d+) of (\d+)\))?$")
_COMMIT = re.compile(r"[0-9a-f]{7,8}")
_MOST_FILES = 10


def home(project: Project) -> Path:
    """Return Claude Code's memory folder, which all worktrees of a repository share."""
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(project.root))
    return project.environment.find_agent_folder("claude") / "projects" / munged / "memory"


def is_here(folder: Path) -> bool:
    """Return whether this folder contains a checkpoint."""
    return next(natives(folder), None) is not None


def folders(folder: Path) -> list[Path]:
    """Return the one folder that contains checkpoints."""
    return [folder]


def natives(folder: Path) -> Iterator[Path]:
    """Yield the files of checkpoints."""
    yield from (folder / name for name in sorted(names_in(folder, ".md")) if _FILE.match(name))


def find_stale_names(folder: Path) -> list[str]:
    """Return the names that MEMORY.md lists although their files are gone."""
    there = {*names_in(folder, ".md")}
    return [name for name in names_listed(folder) if f"checkpoint-{name}.md" not in there]


def more(folder: Path) -> More:
    """Return nothing: guardz stores only checkpoints."""
    del folder
    return More()


# Reading


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file."""
    parts = LAYOUT.split(data.decode("utf-8", "replace"))
    if not (parts.fields or parts.sections or parts.unknown_sections):
        return Native(problem="It has none of the fields or sections of a checkpoint.")
    fields = LAYOUT.read(parts)
    name = path.stem.removeprefix("checkpoint-")
    if summary := summary_in(path.parent, name, fields.get("left_off")):
        fields["summary"] = summary
    return Native(fields=fields, name=name, saved_at=fields.pop("saved_at", None))


# Writing


def write(files: Files, news: StoreNews) -> None:
    """Write the current state of each changed name; the files of archived ones go to the trash."""
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
    head = [f"# Checkpoint: {checkpoint.name}\n", *LAYOUT.write_fields(checkpoint), "\n"]
    return "\n".join(head) + LAYOUT.write_sections(checkpoint)


# Fields


def _read_branch(text: str) -> Plain:
    branch = text.strip("`")
    is_branch = branch != "unknown" and not _COMMIT.fullmatch(branch)
    return {"branch": branch if is_branch else None}


def _read_moment(text: str) -> Plain:
    found = times.parse(text, zone=None)
    return {"saved_at": found.astimezone()} if found else {}


def _read_plan(text: str) -> Plain:
    found = _PLAN.match(text)
    if found is None:
        return {}
    step = {"step": int(found[2]), "total": int(found[3])} if found[2] else {}
    return {"plan": {"path": found[1], **step}}


def _write_plan(checkpoint: Checkpoint) -> str | None:
    plan = checkpoint.plan
    if plan is None or plan.path is None:
        return None
    step = f" (step {plan.step} of {plan.total})" if plan.step and plan.total else ""
    return f"`{plan.path}`{step}"


def _first_line(read: Callable[[str], Plain]) -> Callable[[str], Plain]:
    return lambda text: read(text.partition("\n")[0].strip(" \t"))


# Sections


def _read_text(lines: Lines) -> str:
    return markdown.unescape("\n".join(lines).strip("\n"))


def _read_list(lines: Lines) -> list[str]:
    found = markdown.read_bullets(lines)
    return [] if found == ["None"] else found


def _write_list(texts: Iterable[str]) -> str:
    return markdown.write_bullets(texts, none="- None")


def _read_failed(lines: Lines) -> Plain:
    found = (text.partition(" — ") for text in _read_list(lines))
    return {"failed": [{"what": what, "why": why} for what, _, why in found]}


def _write_failed(checkpoint: Checkpoint) -> str:
    failed = checkpoint.failed
    return _write_list(f"{each.what} — {each.why}" if each.why else each.what for each in failed)


def _find_files(checkpoint: Checkpoint) -> list[str]:
    """Return the modified files, or those named, or those that git sees as changed."""
    named = [file.path for file in checkpoint.files if file.role != "plan"]
    return checkpoint.files_modified or named or checkpoint.dirty[:_MOST_FILES]


# The last lines of Left Off: nothing that waits for a decision may be lost.
_PENDING = ("Open question", "Blocked", "Next")
_LINE = re.compile(f"({'|'.join(_PENDING)}): (.+)")


def _write_left_off(checkpoint: Checkpoint) -> str:
    """Write where the work stopped, and what is still undecided."""
    text = checkpoint.left_off or checkpoint.summary or checkpoint.intent or ""
    action = [checkpoint.next_action.text] if checkpoint.next_action else []
    pending = zip(_PENDING, (checkpoint.questions, checkpoint.blockers, action), strict=True)
    lines = [f"{words}: {one_line(each)}" for words, texts in pending for each in texts]
    return markdown.escape("\n".join([text, *lines]).strip())


def _read_left_off(section: Lines) -> Plain:
    """Read where the work stopped, and what was pending below it."""
    text, *lines = _read_text(section).split("\n")
    found: dict[str, list[str]] = {words: [] for words in _PENDING}
    while lines and (pending := _LINE.match(lines[-1])):
        found[pending[1]].insert(0, pending[2])
        lines.pop()
    questions, blockers, actions = found.values()
    action = {"next_action": {"text": actions[0]}} if actions else {}
    return {
        "left_off": "\n".join([text, *lines]),
        "questions": questions,
        "blockers": blockers,
        **action,
    }


_STYLE = Style(
    read_text=_read_text,
    write_text=lambda text: markdown.escape(text or ""),
    read_list=_read_list,
    write_list=_write_list,
)
LAYOUT = Layout(
    fields=(
        Field("Branch", _first_line(_read_branch), lambda checkpoint: f"`{place_of(checkpoint)}`"),
        Field(
            "Saved",
            _first_line(_read_moment),
            lambda checkpoint: f"{checkpoint.saved_at.astimezone():%Y-%m-%d %H:%M}",
        ),
        Field("Plan", _first_line(_read_plan), _write_plan),
    ),
    field_mark=re.compile(r"[ \t\\]*- \*\*([^*\n]+?):\*\*[ \t]*(.*)$"),
    field_line="- **{title}:** {value}",
    sections=(
        Section("Left Off", _read_left_off, _write_left_off),
        _STYLE.texts("Done This Session", "done"),
        Section("Failed Approaches", _read_failed, _write_failed),
        _STYLE.texts("Modified Files", "files_modified", find=_find_files),
    ),
)
