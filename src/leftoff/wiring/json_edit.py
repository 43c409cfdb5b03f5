"""Add and remove values in JSON text without changing the layout of the rest."""

from collections.abc import Sequence
from typing import Any, NoReturn

import msgspec

from leftoff.load_on_use import module_on_use

# It takes 2 ms to load, and reading plain JSON does not need it.
_json = module_on_use("json")
_SPACE = " \t\r\n"


class NotJson(ValueError):
    """The text is not JSON; the message says what is wrong and where."""


class JsonPart(msgspec.Struct, frozen=True):
    """A member of an object or an item of an array; a member starts at its key."""

    start: int
    node: "Node"
    key: str = ""


class Node(msgspec.Struct, frozen=True):
    """The position of a value in the text; `parts` are its members or items."""

    start: int
    end: int
    parts: tuple[JsonPart, ...] = ()

    def find(self, step: str | int) -> int | None:
        """Return the index of a part by key or number; the last of duplicate keys wins."""
        if isinstance(step, int):
            return step if step < len(self.parts) else None
        places = [place for place, part in enumerate(self.parts) if part.key == step]
        return places[-1] if places else None


def read(text: str) -> Any:
    """Parse strict JSON: unlike `json.loads`, refuse NaN and Infinity."""
    try:
        return _json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error
    except _json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"{error.msg} at {where}") from error
    except ValueError as error:
        raise NotJson(str(error)) from error


def append(text: str, path: Sequence[str], value: object) -> str:
    """Append an item to the array at a path of keys; create what is missing on the way."""
    node = locate(text)
    style = JsonStyle.detect(text, node)
    for depth, key in enumerate(path):
        place = node.find(key)
        if place is None:
            made: object = [value]
            for inner in reversed(path[depth + 1 :]):
                made = {inner: made}
            return _insert_part(text, node, style, made, key=key)
        node = node.parts[place].node
    return _insert_part(text, node, style, value)


def remove(text: str, path: Sequence[str | int]) -> str:
    """Remove the member or item at a path, with its comma and whitespace."""
    node, place = locate(text), 0
    for depth, step in enumerate(path):
        found = node.find(step)
        if found is None:
            raise KeyError(step)
        place = found
        if depth < len(path) - 1:
            node = node.parts[place].node
    parts = node.parts
    # Leave `{}` or `[]`. The first part goes with the comma after it, others with the one before.
    if len(parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if place == 0:
        return text[: parts[0].start] + text[parts[1].start :]
    return text[: parts[place - 1].node.end] + text[parts[place].node.end :]


class JsonStyle(msgspec.Struct, frozen=True):
    """The layout of a text."""

    newline: str
    unit: str
    """One step of indentation."""
    is_compact: bool
    """Whether the text is one line without spaces."""
    is_flat: bool
    """Whether the text is one line."""

    @classmethod
    def detect(cls, text: str, root: Node) -> "JsonStyle":
        """Read the layout off the first member."""
        newline = "\r\n" if "\r\n" in text else "\n"
        if not root.parts:
            return cls(newline, "  ", is_compact=False, is_flat=False)
        first = root.parts[0]
        gap = text[root.start + 1 : first.start]
        colon = text[first.start : first.node.start]
        return cls(
            newline,
            _indent(gap).removeprefix(_indent(text[: root.start])) or "  ",
            is_compact=not gap and colon.endswith(":"),
            is_flat="\n" not in gap,
        )

    def render(self, value: object, *, indent: str | None) -> str:
        """Format a value; with an indent, on several lines."""
        if indent is not None:
            lines = _json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
            return f"{self.newline}{indent}".join(lines)
        separators = (",", ":") if self.is_compact else (", ", ": ")
        written: str = _json.dumps(value, ensure_ascii=False, separators=separators)
        return written

    def render_member(self, key: str, value: object, *, indent: str | None) -> str:
        """Format a member with its key; without a key, only the value."""
        written = self.render(value, indent=indent)
        colon = ":" if self.is_compact else ": "
        return f"{_json.dumps(key, ensure_ascii=False)}{colon}{written}" if key else written


def _insert_part(text: str, node: Node, style: JsonStyle, value: object, *, key: str = "") -> str:
    """Append a part to an object or array, in the layout of the parts before it."""
    start, end = node.start + 1, node.end - 1
    gap, tail = find_gap(text, node, style), ""
    if node.parts:
        start = end = node.parts[-1].node.end
    elif "\n" in gap:
        tail = f"{style.newline}{indent_of_line(text, node.start)}"
    indent = _indent(gap) if "\n" in gap else None
    written = style.render_member(key, value, indent=indent)
    comma = "," if node.parts else ""
    return f"{text[:start]}{comma}{gap}{written}{tail}{text[end:]}"


def find_gap(text: str, node: Node, style: JsonStyle) -> str:
    """Return the whitespace to put before a new part of this node."""
    if not node.parts:
        inner = f"{style.newline}{indent_of_line(text, node.start)}{style.unit}"
        return "" if style.is_flat else inner
    last = node.parts[-1].start
    gap = text[len(text[:last].rstrip(_SPACE)) : last]
    # The gap before an only part follows the bracket, so it does not show how commas are spaced.
    if "\n" in gap or len(node.parts) > 1:
        return gap
    return "" if style.is_compact else " "


def _indent(gap: str) -> str:
    return gap.rpartition("\n")[2]


def indent_of_line(text: str, place: int) -> str:
    """Return the whitespace at the start of the line that holds a position."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def locate(text: str) -> Node:
    """Return the position of every value in the text."""
    # The scanner relies on valid JSON.
    read(text)
    try:
        return _Scanner(text).node(_skip_space(text, 0))
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error


class _Scanner:
    """Finds the position of every value in valid JSON, which `json.loads` does not report."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = _json.JSONDecoder()

    def node(self, start: int) -> Node:
        if self._text[start] not in "{[":
            return Node(start, self._decoder.raw_decode(self._text, start)[1])
        parts: list[JsonPart] = []
        place = _skip_space(self._text, start + 1)
        while self._text[place] not in "}]":
            parts.append(self._part(place, has_key=self._text[start] == "{"))
            place = _skip_space(self._text, parts[-1].node.end)
            if self._text[place] == ",":
                place = _skip_space(self._text, place + 1)
        return Node(start, place + 1, tuple(parts))

    def _part(self, start: int, *, has_key: bool) -> JsonPart:
        if not has_key:
            return JsonPart(start, self.node(start))
        key, end = self._decoder.raw_decode(self._text, start)
        colon = _skip_space(self._text, end)
        return JsonPart(start, self.node(_skip_space(self._text, colon + 1)), key)


def _skip_space(text: str, place: int) -> int:
    while text[place] in _SPACE:
        place += 1
    return place


def _refuse(constant: str) -> NoReturn:
    raise NotJson(f"{constant} is not valid in JSON")
