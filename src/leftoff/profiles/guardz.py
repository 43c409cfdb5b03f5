"""guardz: named checkpoints in the agent's memory folder, consumed when they are resumed.

Each checkpoint is a file `checkpoint-{name}.md`, and MEMORY.md lists them in a section. The rest of
MEMORY.md belongs to the agent and stays unchanged, byte for byte.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint
from leftoff.profiles import markdown_codec
from leftoff.profiles.markdown_codec import Field, Layout, Lines, Plain, Section, Style
from leftoff.profiles.profile import Files, More, Native, StoreNews
from leftoff.profiles.regular_files import names_in, read_regular
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
    return markdown_codec.unescape("\n".join(lines).strip("\n"))


def _read_list(lines: Lines) -> list[str]:
    found = markdown_codec.read_bullets(lines)
    return [] if found == ["None"] else found


def _write_list(texts: Iterable[str]) -> str:
    return markdown_codec.write_bullets(texts, none="- None")


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
    return markdown_codec.escape("\n".join([text, *lines]).strip())


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
    write_text=lambda text: markdown_codec.escape(text or ""),
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


# --- the section of MEMORY.md that lists checkpoints ---
#
# Everything outside that section stays unchanged, byte for byte.


INDEX = "MEMORY.md"

_SECTION = "Active Checkpoints"
_TRAILER = "Resume any: `continue` or `continue {name}`"
_TITLE = "# Project Memory\n"
# The length to which git shortens a commit.
_SHORT = 7
_BULLET = re.compile(r"- \*\*(.+?)\*\* \(")
_SUMMARY = re.compile(r"- \*\*(.+?)\*\* \(.*?, \w+ \d{1,2}\) [—–-] (.+?)\s*")
_SUMMARY_CHARS = 200
_CUT = "…"


def names_listed(folder: Path) -> list[str]:
    """Return the names that MEMORY.md lists."""
    return [found[1] for line in _section_lines(folder) if (found := _BULLET.match(line))]


def _section_lines(folder: Path) -> list[str]:
    found = read_regular(folder / INDEX)
    text = found[0].decode("utf-8", "replace") if found else ""
    begin, end = _section_span(text)
    return text[begin:end].splitlines()


def summary_in(folder: Path, name: str, left_off: str | None) -> str | None:
    """Return MEMORY.md's line about a checkpoint, unless it only repeats the file or was cut."""
    found = (_SUMMARY.fullmatch(line) for line in _section_lines(folder))
    listed = next((each[2] for each in found if each and each[1] == name), None)
    is_new = listed is not None and listed != one_line(left_off or "") and not listed.endswith(_CUT)
    return listed if is_new else None


def one_line(text: str) -> str:
    """Collapse line breaks and other blanks, because a bullet has a single line."""
    return " ".join(text.split())


def place_of(checkpoint: Checkpoint) -> str:
    """Return the branch, or the commit on a detached HEAD."""
    return checkpoint.branch or (checkpoint.head or "")[:_SHORT] or "unknown"


def bullet(checkpoint: Checkpoint) -> str:
    """Write the line of MEMORY.md for a checkpoint."""
    saved = checkpoint.saved_at.astimezone()
    summary = one_line(checkpoint.summary or checkpoint.left_off or checkpoint.task)
    place = f"{place_of(checkpoint)}, {_MONTHS[saved.month - 1]} {saved.day:02d}"
    if len(summary) > _SUMMARY_CHARS:
        summary = summary[: _SUMMARY_CHARS - 1].rstrip() + _CUT
    return f"- **{checkpoint.name}** ({place}) — {summary}"


# Not from the locale: programs read this line.
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def with_bullets(text: str, named: Mapping[str, Checkpoint | None]) -> str:
    """Return MEMORY.md with the lines of these names updated and the rest unchanged."""
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
        return _insert(text, section, newline) if result else text
    before, after = text[: span[0]], text[span[1] :]
    return before + section + after if result else _take_out(before, after, newline)


def _take_out(before: str, after: str, newline: str) -> str:
    """Remove the section, with the empty line that separated it from the rest."""
    if before.endswith(newline * 2):
        before = before.removesuffix(newline)
    elif not before:
        after = after.removeprefix(newline)
    return before + after


def _insert(text: str, section: str, newline: str) -> str:
    """Insert the section after the first heading, or at the top if there is none."""
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
    """Find our section, from its heading to our last line; an empty span if there is none."""
    headings = [*_headings(text), (len(text), 0, "")]
    for number, (begin, _, name) in enumerate(headings[:-1]):
        if name == _SECTION:
            return begin, _section_end(text, begin, headings[number + 1][0])
    return 0, 0


def _section_end(text: str, begin: int, limit: int) -> int:
    """Find the end of the trailer or, if someone else wrote the section, of the last bullet."""
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
    """Yield each heading outside of fences: its start, its level and its words."""
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
