"""Set and remove members in JSON text that may have comments, without touching the rest.

opencode, Gemini CLI and Cursor accept comments and trailing commas in their settings. Positions are
found in a copy of the text in which both are blanked out; the edit is made in the text itself.
"""

import re
from collections.abc import Sequence
from typing import Any

from leftoff.lazy_patterns import lazy
from leftoff.wiring import json_edit
from leftoff.wiring.json_edit import JsonStyle, Node

_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENTS = lazy(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMAS = lazy(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)


def read(text: str) -> Any:
    """Parse the text; raise NotJson if it is invalid even without its comments."""
    return json_edit.read(_blank_out(text))


def put(text: str, path: Sequence[str], value: object) -> str:
    """Set the member at a path of keys; create the objects that are missing on the way."""
    blank = _blank_out(text)
    root = node = json_edit.locate(blank)
    for depth, key in enumerate(path):
        place = node.find(key)
        if place is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _insert(text, root, node, key, value)
        node = node.parts[place].node
    style = JsonStyle.detect(blank, root)
    indent = None if style.is_flat else json_edit.indent_of_line(text, node.start)
    return text[: node.start] + style.render(value, indent=indent) + text[node.end :]


def append(text: str, path: Sequence[str], value: object) -> str:
    """Append an item to the array at a path of keys; create what is missing on the way."""
    if not has_comments(text):
        return json_edit.append(text, path, value)
    root = node = json_edit.locate(_blank_out(text))
    for depth, key in enumerate(path):
        place = node.find(key)
        if place is None:
            made: object = [value]
            for inner in reversed(path[depth + 1 :]):
                made = {inner: made}
            return _insert(text, root, node, key, made)
        node = node.parts[place].node
    return _insert(text, root, node, "", value)


def has_comments(text: str) -> bool:
    """Return whether a text has comments or trailing commas, which plain JSON has not."""
    return _blank_out(text) != text


def remove(text: str, path: Sequence[str | int]) -> str:
    """Remove the member or item at a path, with its comma and the whitespace before it."""
    node, place = json_edit.locate(_blank_out(text)), 0
    for depth, key in enumerate(path):
        found = node.find(key)
        if found is None:
            raise KeyError(str(key))
        place = found
        if depth < len(path) - 1:
            node = node.parts[place].node
    return _cut_part(text, node, place)


def _insert(text: str, root: Node, node: Node, key: str, value: object) -> str:
    """Append a member to an object, after the comment that ends the line of the last one."""
    blank = _blank_out(text)
    style = JsonStyle.detect(blank, root)
    gap = json_edit.find_gap(blank, node, style)
    # A comment before the last member is blank in the copy, so the gap may be too wide.
    gap = f"{style.newline}{gap.rpartition(chr(10))[2]}" if "\n" in gap else gap
    indent = gap.rpartition("\n")[2] if "\n" in gap else None
    written = style.render_member(key, value, indent=indent)
    if not node.parts:
        start = node.start + 1
        outer = json_edit.indent_of_line(text, node.start)
        has_end = "\n" in text[start : node.end - 1] or "\n" not in gap
        tail = "" if has_end else f"{style.newline}{outer}"
        return f"{text[:start]}{gap}{written}{tail}{text[start:]}"
    end = node.parts[-1].node.end
    comma = _find_comma(text, end)
    after = end if comma is None else comma + 1
    after += len(_find_rest_of_line(text, after)) if "\n" in gap else 0
    if comma is not None:
        return f"{text[:after]}{gap}{written},{text[after:]}"
    return f"{text[:end]},{text[end:after]}{gap}{written}{text[after:]}"


def _cut_part(text: str, node: Node, place: int) -> str:
    part = node.parts[place]
    comma = _find_comma(text, part.node.end)
    end = part.node.end if comma is None else comma + 1
    # What is before it, up to a comment, the member before or the bracket.
    start = len(text[: part.start].rstrip())
    is_last, is_only = place == len(node.parts) - 1, len(node.parts) == 1
    if is_only and not (text[node.start + 1 : start] + text[end : node.end - 1]).strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    if place == 0 and not is_only and not text[end : node.parts[1].start].strip():
        return text[: part.start] + text[node.parts[1].start :]
    if not is_last or comma is not None or is_only:
        return text[:start] + text[end:]
    before = _find_comma(text, node.parts[place - 1].node.end)
    assert before is not None  # noqa: S101 - a comma separates two members
    return text[:before] + text[before + 1 : start] + text[end:]


def _find_rest_of_line(text: str, start: int) -> str:
    """Return the comment that ends a line, with the blanks before it; empty if more follows."""
    line = re.compile(r"[^\r\n]*").match(_blank_comments(text), start)
    rest = line[0] if line else ""
    return text[start : start + len(rest)] if rest and not rest.strip() else ""


def _find_comma(text: str, start: int) -> int | None:
    """Return the position of the comma that follows a value."""
    blank = _blank_comments(text)
    found = re.compile(r"\s*,").match(blank, start)
    return found.end() - 1 if found else None


def _blank_out(text: str) -> str:
    """Replace comments and trailing commas by spaces, so that all positions stay the same."""
    return _TRAILING_COMMAS.sub(
        lambda found: " " if found[0] == "," else found[0], _blank_comments(text)
    )


def _blank_comments(text: str) -> str:
    return _COMMENTS.sub(
        lambda found: found[0] if found[0].startswith('"') else " " * len(found[0]), text
    )
