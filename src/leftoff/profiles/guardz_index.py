"""Maintain the section of MEMORY.md that lists checkpoints, in a file that belongs to the agent.

Everything outside that section stays unchanged, byte for byte.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from leftoff.checkpoint import Checkpoint
from leftoff.profiles.regular_files import read_regular

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
