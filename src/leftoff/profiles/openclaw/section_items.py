"""Split openclaw's sections into bullets, headings and prose, and escape look-alikes."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from leftoff.profiles import markdown_codec

Kind = Literal["bullet", "heading", "prose"]

_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_BULLET = re.compile(r"[-*+](?:[ \t]+(.*))?$")
# In the lists of a section, numbers and other marks begin an item, too.
_MARK = r"\d{1,3}[.)][ \t]|\d{1,3}\u3001|[\u2022\u2023\u25aa\u25cf\u25e6][ \t]"
_MARKED = re.compile(rf"(?:{_MARK})[ \t]*(.*)$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
# The remarks of the template; somebody's own comment is content.
_COMMENT = re.compile(
    r"[ \t]*<!--\s*(?:What was completed|Exact next step|Concrete obstacles|Reasoning that led|"
    r"Files, paths, preferences)",
    re.IGNORECASE,
)
_AGE = "**Age:**"
EDGES = " \t\r\n"
INFERRED = "(inferred from the session)"
"""The line below a next action that nobody stated."""


class SectionItem(msgspec.Struct, frozen=True):
    """A bullet, heading or block of prose in its written form, still escaped."""

    kind: Kind
    text: str


def split_items(lines: Sequence[str], *, is_list: bool = False) -> list[SectionItem]:
    """Split the lines of a section into items, without the template's remarks.

    `is_list` says that numbered lines are items, too.
    """
    found: list[tuple[Kind, list[str]]] = []
    fence, gap = "", 0
    for line in _without_remarks(lines):
        if not line.strip(EDGES):
            gap += 1
            continue
        kind = _begins(line, is_list=is_list)
        # Inside a fence nothing begins a new item.
        if found and (fence or _goes_on(found[-1][0], line, kind, gap)):
            found[-1][1].extend([*[""] * gap, _cut_indent(line, found[-1][0])])
        else:
            found.append((kind, [_strip_mark(line, kind)]))
        fence, gap = _follow_fence(line, fence), 0
    return [SectionItem(kind, "\n".join(texts).strip(EDGES)) for kind, texts in found]


def _begins(line: str, *, is_list: bool) -> Kind:
    if _HEADING.match(line):
        return "heading"
    is_item = _BULLET.match(line) or (is_list and _MARKED.match(line))
    return "bullet" if is_item else "prose"


def _goes_on(above: Kind, line: str, kind: Kind, gap: int) -> bool:
    """Return whether a line continues the item above it."""
    if above == "bullet":
        return line.startswith(("  ", "\t")) or (gap == 0 and kind == "prose")
    return above == "prose" and kind == "prose"


def _cut_indent(line: str, above: Kind) -> str:
    if above != "bullet":
        return line
    return line[2:] if line.startswith("  ") else line.removeprefix("\t")


def _strip_mark(line: str, kind: Kind) -> str:
    found = _BULLET.match(line) or _MARKED.match(line) if kind == "bullet" else None
    return (found[1] or "") if found else line


def _follow_fence(line: str, fence: str) -> str:
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    return mark[1] if not fence else "" if mark[1] == fence else fence


def fold_headings(lines: Sequence[str]) -> list[str]:
    """Return lines in which a heading is a bullet, with what is below it as its details."""
    result: list[str] = []
    is_below = False
    for line in lines:
        heading = re.match(r"#{3,6}[ \t]+(.*?)[ \t#]*$", line)
        if heading:
            is_below = True
            result.append(f"- {heading[1]}")
        else:
            result.append(f"  {line}" if is_below and line.strip(EDGES) else line)
    return result


def join_lines(lines: Sequence[str]) -> str:
    """Return the lines of a section as one text, still escaped."""
    return "\n".join(_without_remarks(lines)).strip(EDGES)


def _without_remarks(lines: Sequence[str]) -> Iterable[str]:
    """Drop the template's comments, and the line that explains how age is shown."""
    at = 0
    while at < len(lines):
        end = _end_of_comment(lines, at) if _COMMENT.match(lines[at]) else None
        if end is not None:
            at = end + 1
            continue
        if not lines[at].startswith(_AGE):
            yield lines[at]
        at += 1


def _end_of_comment(lines: Sequence[str], at: int) -> int | None:
    for number in range(at, len(lines)):
        before, mark, after = lines[number].partition("-->")
        del before
        if mark:
            # Text after the comment on the same line is content, so the line stays.
            return number if not after.strip(EDGES) else None
    return None


# Text that would mean something else at the start of a line.
_MARKUP = (
    r"#{1,6}(?:[ \t]|$)|```|~~~|[-*+](?:[ \t]|$)|<!--|\*\*[^*\n]+:\*\*|\||"
    rf"{re.escape(INFERRED)}$"
)
_ESCAPES = markdown_codec.Escapes(_MARKUP, indent=r"[ \t]*")
unescape = _ESCAPES.unescape
_ITEM_ESCAPES = markdown_codec.Escapes(_MARK, indent="")
escape_marks, unescape_marks = _ITEM_ESCAPES.escape, _ITEM_ESCAPES.unescape


def escape(text: str) -> str:
    """Protect the lines of a text from being read as markup."""
    return _ESCAPES.escape(tidy(text))


def tidy(text: str) -> str:
    """Normalize line ends, strip the text, and empty its blank lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip(EDGES).split("\n")
    return "\n".join(line if line.strip(EDGES) else "" for line in lines)


def write_bullet(text: str) -> str:
    """Write a bullet, with further lines indented."""
    first, *rest = text.split("\n")
    indented = (f"  {line}" if line else "" for line in rest)
    return "\n".join([f"- {first}" if first else "-", *indented])
