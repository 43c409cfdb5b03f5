"""Read Markdown whose headings are in another frame: a fence, front matter, a table, underlines.

Language models put a whole file in a code fence, or its short sections in YAML or in a table. Each
function returns the text with headings instead. It looks only for titles that the file lacks, so
files that leftoff wrote are never changed.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from leftoff.profiles.loose_headings import find_sections, fold_title, level_headings
from leftoff.profiles.loose_markdown import unfence
from leftoff.text.markdown_tables import is_ruler, split_row

_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([^\s:#-][^:\n]{0,40}):(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r"(?:-{3,}|={3,})[ \t]*$")
_VALUE_CELLS = 2


def reframe(text: str, sections: Mapping[str, Collection[str]]) -> str:
    """Return a text with a heading of the second level for each section that it has.

    `sections` has the folded spellings of each title.
    """
    text = unfence(text.replace("\r\n", "\n"))
    missing = _list_missing(text, sections)
    if missing:
        text = _lift_table(_lift_front_matter(_level_underlined(text, missing), missing), missing)
        there = {*find_sections(text)}.intersection(chain.from_iterable(sections.values()))
        # If its title is there already, a line such as `Status: …` does not begin a section.
        text = level_headings(text, _list_missing(text, sections) | there)
    return text


def _list_missing(text: str, sections: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the spellings of the sections that a text lacks in every spelling."""
    there = {*find_sections(text)}
    return frozenset(
        spelling
        for spellings in sections.values()
        if there.isdisjoint(spellings)
        for spelling in spellings
    )


def _level_underlined(text: str, missing: Collection[str]) -> str:
    lines = text.split("\n")
    made: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if made and made[-1].startswith("## ") and _UNDERLINE.match(line):
            is_ours = fold_title(made[-1]) in missing and made[-1] not in lines
            made += [] if is_ours else [line]
        elif _UNDERLINE.match(below) and fold_title(line) in missing:
            made.append(f"## {line.strip()}")
        else:
            made.append(line)
    return "\n".join(made)


def _lift_front_matter(text: str, missing: Collection[str]) -> str:
    """Turn the front matter's fields with known titles into sections; the others stay."""
    found = _FRONT.match(text)
    if found is None:
        return text
    groups: list[list[str]] = []
    for line in found[1].split("\n"):
        if _FIELD.match(line) or not groups:
            groups.append([line])
        else:
            groups[-1].append(line)
    heads = [_FIELD.match(group[0]) for group in groups]
    is_section = [head is not None and fold_title(head[1]) in missing for head in heads]
    if not any(is_section):
        return text
    rest = [line for group, is_one in zip(groups, is_section, strict=True) if not is_one
            for line in group]  # fmt: skip
    front = ["---", *rest, "---", ""] if any(line.strip() for line in rest) else []
    made = [
        line
        for group, head, is_one in zip(groups, heads, is_section, strict=True)
        if is_one and head is not None
        for line in _as_section(head[1], [_unquote(head[2] or ""), *_dedent(group[1:])])
    ]
    return "\n".join([*front, *made, text[found.end() :]])


def _lift_table(text: str, missing: Collection[str]) -> str:
    """Turn the rows with known titles into sections, in a table above all sections."""
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if line.startswith("## ")), len(lines))
    kept: list[str] = []
    made: list[str] = []
    for line in lines[:end]:
        cells = split_row(line) if line.lstrip().startswith("|") else []
        is_field = len(cells) == _VALUE_CELLS and fold_title(cells[0]) in missing
        if is_field:
            made += _as_section(cells[0].strip("*_` "), [cells[1]])
        else:
            kept.append(line)
    if not made:
        return text
    return "\n".join([*_drop_empty_table(kept), *made, *lines[end:]])


def _drop_empty_table(lines: Sequence[str]) -> Iterator[str]:
    """Drop the head of a table whose rows are all gone."""
    rows = [at for at, line in enumerate(lines) if line.lstrip().startswith("|")]
    is_empty = all(is_ruler(lines[at]) for at in rows[1:])
    return (line for at, line in enumerate(lines) if not (is_empty and at in rows))


def _as_section(title: str, body: Sequence[str]) -> list[str]:
    return [f"## {title.strip()}", *(line for line in body if line.strip()), ""]


def _dedent(lines: Sequence[str]) -> list[str]:
    return [re.sub(r"^[ \t]{1,2}", "", line) for line in lines]


def _unquote(value: str) -> str:
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value
