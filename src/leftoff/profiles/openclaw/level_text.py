"""Bring a file in any usual spelling to the form of openclaw's template, before it is read.

Only what the file lacks in that form is changed, so files that leftoff wrote stay as they are.
"""

import re
from collections.abc import Iterator, Sequence

from leftoff.profiles.loose_frames import reframe
from leftoff.profiles.loose_headings import fold_title, level_fields, level_headings
from leftoff.profiles.loose_times import read_moment
from leftoff.profiles.loose_titles import find_title
from leftoff.profiles.markdown_codec import split_sections
from leftoff.profiles.openclaw.openclaw_titles import FIELD_NAMES, ORDER, SPELLINGS
from leftoff.text.markdown_tables import is_ruler, split_row

_TITLES = {spelling: title for title, others in SPELLINGS.items() for spelling in others}
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_HEADING = re.compile(r"##[ \t]+(.+?)[ \t#]*$")
_FIELD = re.compile(r"\*\*([^*\n]{1,40}?)(?:\*\*[:\uff1a]|[:\uff1a]\*\*)[ \t]*(.*)$")
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n+|\Z)", re.DOTALL)
_CELLS = 2


def level(text: str) -> str:
    """Return a file with each heading and field in the form of this layout."""
    text = _expand_front_matter(text.replace("\r\n", "\n").lstrip("\n"))
    text = _expand_table(reframe(text, SPELLINGS))
    text = "\n".join(_level_titles(text.split("\n")))
    text = _name_by_order(level_headings(text, _list_missing(text)))
    return _name_fields(level_fields(text, FIELD_NAMES))


def _list_missing(text: str) -> frozenset[str]:
    """Return the titles that a file has, and all spellings of the sections that it lacks.

    A field `Files:` in the progress is a heading only if the file has no section about files.
    """
    there = {fold_title(part.title) for part in split_sections(text)}
    lacking = [each for each in SPELLINGS.values() if not each & there]
    return frozenset().union(there & _TITLES.keys(), *lacking)


def _expand_front_matter(text: str) -> str:
    """Turn front matter into fields below the title."""
    found = _FRONT.match(text)
    if found is None:
        return text
    fields: list[str] = []
    for line in found[1].split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip() and not line.startswith((" ", "\t", "-")):
            fields.append(f"**{name.strip()}:** {value.strip().strip(_QUOTES)}".rstrip())
        elif line.strip() and fields:
            fields[-1] += f" {line.strip()}"
    first, _, rest = text[found.end() :].partition("\n")
    if not first.startswith("# "):
        return "\n".join([*fields, "", text[found.end() :]])
    return "\n".join([first, "", *fields, rest])


_QUOTES = "\"'"


def _expand_table(text: str) -> str:
    """Turn the rows of a table above the sections into fields, if it names one that we know."""
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if line.startswith("## ")), len(lines))
    rows = {at: split_row(lines[at]) for at in range(end) if lines[at].lstrip().startswith("|")}
    if not any(fold_title(cells[0]) in FIELD_NAMES for cells in rows.values()):
        return text
    made = []
    for at, line in enumerate(lines[:end]):
        cells = rows.get(at)
        is_head = is_ruler(line) or (at + 1 in rows and is_ruler(lines[at + 1]))
        if cells is None:
            made.append(line)
        elif len(cells) != _CELLS:
            made += [] if is_ruler(line) else [line]
        elif not is_head or fold_title(cells[0]) in FIELD_NAMES:
            made += [] if is_ruler(line) else [f"**{cells[0].strip('*_` :')}:** {cells[1]}"]
    return "\n".join([*made, *lines[end:]])


def _level_titles(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines in which a known heading has its title alone, and the rest of it below."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if mark[1] == fence else fence or mark[1]
        heading = _HEADING.match(line) if not fence else None
        if heading is None or fold_title(heading[1]) in _TITLES:
            yield line
            continue
        title, aside = find_title(heading[1], lambda each: _TITLES.get(fold_title(each)))
        yield line if title is None else f"## {title}"
        if title is not None and aside:
            yield f"### {aside}" if title == "Progress" else f"- {aside}"


def _name_by_order(text: str) -> str:
    """Name the sections by their order in the template, if no title is in a known language."""
    found = [part.title for part in split_sections(text)[1:]]
    if len(found) != len(ORDER) or any(fold_title(each) in _TITLES for each in found):
        return text
    names = iter(ORDER)
    below = split_sections(text)
    parts = ["\n".join(below[0].lines)]
    parts += ["\n".join([f"## {next(names)}", *part.lines]) for part in below[1:]]
    return "\n".join(parts)


def _name_fields(text: str) -> str:
    """Name the date and the task above the sections, if their names are in no known language."""
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if line.startswith("## ")), 0)
    fields = {at: found for at in range(end) if (found := _FIELD.match(lines[at]))}
    known = {FIELD_NAMES.get(fold_title(found[1])) for found in fields.values()}
    if known & {"Created", "Task"}:
        return text
    dated = [at for at, found in fields.items() if read_moment(found[2])[0] is not None]
    if not dated or len(fields) < _CELLS:
        return text
    task = next(at for at in fields if at != dated[0])
    for at, name in ((dated[0], "Created"), (task, "Task")):
        lines[at] = f"**{name}:** {fields[at][2]}"
    return "\n".join(lines)
