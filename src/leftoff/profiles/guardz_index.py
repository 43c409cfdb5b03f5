"""The section of MEMORY.md that lists guardz's checkpoints.

Everything outside that section stays unchanged, byte for byte.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from leftoff.checkpoint import Checkpoint
from leftoff.names import clean_name
from leftoff.profiles.guardz_file import find_kept_text, one_line, place_of
from leftoff.profiles.loose_markdown import fold
from leftoff.profiles.regular_files import read_regular

INDEX = "MEMORY.md"

_SECTION = "Active Checkpoints"
_TRAILER = "Resume any: `continue` or `continue {name}`"
_TITLE = "# Project Memory\n"
LINES = "native_lines"
"""The key under which a checkpoint keeps what MEMORY.md said about it."""
# A bullet in the form of the original; a name may have stars and backticks of its own.
_EXACT = re.compile(r"[-*+][ \t]+\*\*(.+?)\*\*(?= \([^)]*, [A-Z][a-z]{2} \d{1,2}\) \u2014 )")
# A bullet names its checkpoint in bold, as code, by its file, or as its first word.
_BULLET = re.compile(
    r"[-*+][ \t]+(?:\*\*(.+?):?\*\*|__(.+?)__|`(.+?)`|.*?\((?:\./)?(checkpoint-.+?\.md)\)"
    r"|([^\s:]+)(?=[ \t]+[(\u2014\u2013-]))"
)
# Only these are certain to be about a checkpoint, even if there is none of that name.
_CERTAIN = re.compile(r"[-*+][ \t]+(?:\*\*.+?\*\*[ \t]+\(|.*\((?:\./)?checkpoint-.+?\.md\))")
_SUMMARY = re.compile(r"(?:[ \t]*\(.*?\))?[ \t]*[\u2014\u2013:-][ \t]*(.+?)\s*")
_SUMMARY_CHARS = 200
_CUT = "…"


def list_names(folder: Path) -> list[str]:
    """Return the names that MEMORY.md lists."""
    found = [name_in(line) for line in _read_section(folder) if _CERTAIN.match(line)]
    return [name for name in found if name]


def name_in(line: str) -> str | None:
    """Return the name in a bullet; None if the line is not one."""
    found = _match_bullet(line)
    if found is None:
        return None
    text = next(filter(None, found.groups()))
    link = re.fullmatch(r"\[.*\]\((.+)\)", text)
    text = link[1] if link else text
    return clean_name(text.removesuffix(".md").removeprefix("checkpoint-")) or None


def _match_bullet(line: str) -> re.Match[str] | None:
    return _EXACT.match(line) or _BULLET.match(line)


def find_lines_about(folder: Path, name: str) -> list[str]:
    """Return MEMORY.md's bullet about a checkpoint, and the details below it."""
    found: list[str] = []
    for line in _read_section(folder):
        if found and line[:1] not in {" ", "\t"}:
            break
        if found or name_in(line) == name:
            found.append(line)
    return found


def _read_section(folder: Path) -> list[str]:
    found = read_regular(folder / INDEX)
    text = found[0].decode("utf-8", "replace") if found else ""
    begin, end = _find_section(text)
    return text[begin:end].splitlines()


def read_summary(line: str, left_off: str | None) -> str | None:
    """Return the summary in a bullet, unless it only repeats the file or was cut."""
    listed = _read_summary(line)
    is_new = listed is not None and listed != one_line(left_off or "") and not listed.endswith(_CUT)
    return listed if is_new else None


def _read_summary(line: str) -> str | None:
    bullet = _match_bullet(line)
    found = _SUMMARY.fullmatch(line[bullet.end() :]) if bullet else None
    return found[1] if found else None


def is_listed_otherwise(checkpoint: Checkpoint) -> bool:
    """Return whether MEMORY.md's line about a file shows what the file no longer says."""
    lines = checkpoint.extra.get(LINES)
    listed = _read_summary(lines.split("\n")[0]) if isinstance(lines, str) else None
    said = [one_line(each) for each in (checkpoint.summary, checkpoint.left_off) if each]
    return listed is not None and not any(each.startswith(listed.rstrip(_CUT)) for each in said)


def bullet(checkpoint: Checkpoint) -> str:
    """Write the line of MEMORY.md for a checkpoint: as it was, if nobody changed it since."""
    before = checkpoint.extra.get(LINES)
    is_current = find_kept_text(checkpoint) is not None and not is_listed_otherwise(checkpoint)
    if isinstance(before, str) and is_current:
        return before
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
    span = _find_section(text)
    heading, *lines = [line.rstrip("\r") for line in text[slice(*span)].split("\n")]
    result = _update_lines(lines, named)
    section = newline.join([heading or f"## {_SECTION}", *result, _TRAILER, ""])
    if span == (0, 0):
        return _insert(text, section, newline) if result else text
    before, after = text[: span[0]], text[span[1] :]
    return before + section + after if result else _take_out(before, after, newline)


def _update_lines(lines: list[str], named: Mapping[str, Checkpoint | None]) -> list[str]:
    """Return the lines of the section, without the last one that explains how to resume."""
    shown = dict(named)
    result: list[str] = []
    is_ours = False
    for line in lines:
        name = name_in(line)
        # The details below a bullet go where the bullet goes.
        is_ours = name in named if name is not None else is_ours and line[:1] in {" ", "\t"}
        if not is_ours:
            result += [line] if line.strip() and not _is_trailer(line) else []
        elif name is not None and (checkpoint := shown.pop(name, None)) is not None:
            result.append(bullet(checkpoint))
    return [*result, *(bullet(each) for each in shown.values() if each is not None)]


def _is_trailer(line: str) -> bool:
    return fold(line).startswith("resume any ")


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
    first = next(_list_headings(text), None)
    if first is None:
        return f"{section}{newline}{text}"
    at = text.find("\n", first[0]) + 1
    if at == 0:
        return f"{text}{newline}{newline}{section}"
    return f"{text[:at]}{newline}{section}{text[at:]}"


def _find_section(text: str) -> tuple[int, int]:
    """Find our section, from its heading to our last line; an empty span if there is none."""
    headings = [*_list_headings(text), (len(text), 0, "")]
    for number, (begin, _, name) in enumerate(headings[:-1]):
        if fold(name) == fold(_SECTION):
            return begin, _find_section_end(text, begin, headings[number + 1][0])
    return 0, 0


def _find_section_end(text: str, begin: int, limit: int) -> int:
    """Find the end of the trailer or, if someone else wrote the section, of the last bullet."""
    at = end = text.find("\n", begin, limit) + 1 or limit
    is_in_bullet = False
    while at < limit:
        following = text.find("\n", at, limit) + 1 or limit
        line = text[at:following].rstrip("\r\n")
        if _is_trailer(line):
            return following
        is_in_bullet = name_in(line) is not None or (is_in_bullet and line[:1] in {" ", "\t"})
        if is_in_bullet:
            end = following
        at = following
    return end


def _list_headings(text: str) -> Iterator[tuple[int, int, str]]:
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
