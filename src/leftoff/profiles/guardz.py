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
from leftoff.profiles.base import Files, More, Native, News

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

INDEX = "MEMORY.md"
_SECTION = "Active Checkpoints"
_TRAILER = "Resume any: `continue` or `continue {name}`"
_TITLE = "# Project Memory\n"

_FILE = "checkpoint-*.md"
_FIELD = re.compile(r"- \*\*(Branch|Saved|Plan):\*\*[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_PLAN = re.compile(r"`(.+)`(?: \(step (\d+) of (\d+)\))?$")
# As git shortens a commit.
_SHORT = 7
_COMMIT = re.compile(r"[0-9a-f]{7,8}")
_MOST_FILES = 10
_BULLET = re.compile(r"- \*\*(.+?)\*\* \(")


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
    yield from sorted(folder.glob(_FILE))


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
    return Native(
        told=told,
        name=path.stem.removeprefix("checkpoint-"),
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
        f"- **Branch:** `{_branch(checkpoint)}`",
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


def _branch(checkpoint: Checkpoint) -> str:
    """Tell the branch, or on a detached HEAD the commit."""
    return checkpoint.branch or (checkpoint.head or "")[:_SHORT] or "unknown"


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


def one_line(text: str) -> str:
    """Put a text on one line."""
    return " ".join(text.split())


def bullet(checkpoint: Checkpoint) -> str:
    """Write the line of MEMORY.md for a checkpoint."""
    saved = checkpoint.saved_at.astimezone()
    summary = one_line(checkpoint.summary or checkpoint.left_off or checkpoint.task)
    place = f"{_branch(checkpoint)}, {_MONTHS[saved.month - 1]} {saved.day:02d}"
    return f"- **{checkpoint.name}** ({place}) — {summary[:120]}"


# Not the locale's: the line is read by programs.
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def with_bullets(text: str, named: Mapping[str, Checkpoint | None]) -> str:
    """Return MEMORY.md with the lines of these names as they should be, all else as it was."""
    newline = "\r\n" if "\r\n" in text else "\n"
    span = _section_span(text)
    lines = [line.rstrip("\r") for line in text[slice(*span)].split("\n")[1:]]
    shown = dict(named)
    result = []
    for line in lines:
        found = _BULLET.match(line)
        if found is None or found[1] not in named:
            result += [line] if line.strip() and line != _TRAILER else []
        elif (checkpoint := shown.pop(found[1], None)) is not None:
            result.append(bullet(checkpoint))
    result += [bullet(each) for each in shown.values() if each is not None]
    section = newline.join([f"## {_SECTION}", *result, _TRAILER, ""])
    if span == (0, 0):
        return _inserted(text, section, newline) if result else text
    before, after = text[: span[0]], text[span[1] :]
    return before + section + after if result else _joined(before, after, newline)


def _joined(before: str, after: str, newline: str) -> str:
    """Take the section out, with the empty line that was put between it and the rest."""
    if before.endswith(newline * 2):
        before = before.removesuffix(newline)
    elif not before:
        after = after.removeprefix(newline)
    return before + after


def _inserted(text: str, section: str, newline: str) -> str:
    """Put the section after the first heading; without one, on top."""
    if not text.strip():
        return f"{_TITLE}\n".replace("\n", newline) + section
    first = next(_headings(text), None)
    if first is None:
        return f"{section}{newline}{text}"
    at = text.find("\n", first[0]) + 1
    if at == 0:
        return f"{text}{newline}{newline}{section}"
    return f"{text[:at]}{newline}{section}{text[at:]}"


def _section_span(text: str) -> tuple[int, int]:
    """Find our section: from its heading to the last line of ours; nothing where there is none."""
    headings = [*_headings(text), (len(text), 0, "")]
    for number, (begin, _, name) in enumerate(headings[:-1]):
        if name == _SECTION:
            return begin, _section_end(text, begin, headings[number + 1][0])
    return 0, 0


def _section_end(text: str, begin: int, limit: int) -> int:
    """Find the end of the trailer or, in a section of other hands, of the last bullet."""
    at = end = text.find("\n", begin, limit) + 1 or limit
    while at < limit:
        following = text.find("\n", at, limit) + 1 or limit
        line = text[at:following].rstrip("\r\n")
        if line == _TRAILER:
            return following
        if _BULLET.match(line):
            end = following
        at = following
    return end


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each heading: where it begins, its level, its words; fences hold none."""
    front = _FRONT_MATTER.match(text)
    at, is_fenced = front.end() if front else 0, False
    for line in text[at:].split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        found = re.match(r"\ufeff?(#{1,6})[ \t]+(.*?)\s*$", line)
        if found and not is_fenced:
            yield at, len(found[1]), found[2]
        at += len(line) + 1


_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


def listed(folder: Path) -> list[str]:
    """Return the names that MEMORY.md lists."""
    try:
        text = (folder / INDEX).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    begin, end = _section_span(text)
    return [found[1] for line in text[begin:end].splitlines() if (found := _BULLET.match(line))]
