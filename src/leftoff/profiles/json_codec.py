"""Describe native JSON objects as tables that list each key once, for reading and writing.

A key has its name in the file, the kind of its value, and how to write it. It may have several
spellings: the first one with a value of the right kind counts. A value of the wrong kind counts as
missing.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec

from leftoff.text import times

Plain = dict[str, Any]
_FIRST_YEAR = 1970


# Values


def text_of(value: object) -> str:
    """Return a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def texts_of(value: object) -> list[str]:
    """Return the texts of a list; a text alone is a list of one."""
    if isinstance(value, str):
        return [value] if value else []
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def object_of(value: object) -> Plain:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[Plain]:
    """Return the objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def moment_of(value: object) -> datetime | None:
    """Parse a moment; one without a time zone is in UTC."""
    if not isinstance(value, str):
        return None
    moment = times.parse(value)
    try:
        # No native file is older; a one-digit year is a typing mistake.
        return moment if moment and moment.astimezone(UTC).year >= _FIRST_YEAR else None
    except OverflowError:
        return None


def iso(moment: datetime) -> str:
    """Format a moment in UTC, to the millisecond, or in full if it is finer."""
    utc = moment.astimezone(UTC)
    spec = "microseconds" if utc.microsecond % 1000 else "milliseconds"
    return utc.isoformat(timespec=spec).replace("+00:00", "Z")


def without(value: Mapping[str, Any], *keys: str) -> Plain:
    """Return an object without some keys."""
    return {key: each for key, each in value.items() if key not in keys}


# Kinds of values


class Kind(NamedTuple):
    """The type of a value: `read` returns None for a value that it does not understand."""

    read: Callable[[object], Any]
    write: Callable[[Any], Any] = lambda value: value


def is_number(value: object) -> bool:
    """Return whether a value is an integer; Python counts true and false as integers too."""
    return isinstance(value, int) and not isinstance(value, bool)


def choose(values: Collection[Any]) -> Kind:
    """Return the kind for one of a set of values."""
    return Kind(lambda value: value if isinstance(value, str) and value in values else None)


TEXT = Kind(lambda value: value if isinstance(value, str) else None)
SAID = Kind(lambda value: text_of(value) or None)
"""A non-empty text."""
ALL_TEXTS = Kind(
    lambda value: value if isinstance(value, list) and texts_of(value) == value else None
)
"""A list of texts only."""
FLAG = Kind(lambda value: True if value is True else None)
OBJECT = Kind(lambda value: value if isinstance(value, dict) else None)
MOMENT = Kind(moment_of, lambda value: iso(value) if value is not None else None)


# Tables


class Key(msgspec.Struct, frozen=True):
    """One of our keys, its name in the file, and the kind of its value."""

    ours: str
    theirs: str
    kind: Kind = TEXT
    spellings: tuple[str, ...] = ()
    """Other keys that mean the same."""

    def find(self, found: Mapping[str, Any]) -> tuple[str, Any]:
        """Return the spelling that has a value, and the value; None if there is none."""
        for name in (self.theirs, *self.spellings):
            if (value := self.kind.read(found.get(name))) is not None:
                return name, value
        return self.theirs, None


class KeyTable:
    """The table of one kind of object, with keys in the order in which they are written."""

    def __init__(self, *keys: Key) -> None:
        self.keys = keys
        self.names = [key.theirs for key in keys]

    def read(self, found: Mapping[str, Any]) -> Plain:
        """Translate an object to our keys."""
        values = ((key.ours, key.find(found)[1]) for key in self.keys)
        return {ours: value for ours, value in values if value is not None}

    def write(self, value: object) -> Plain:
        """Translate our values, given by key or in a struct, to such an object."""
        get = value.__getitem__ if isinstance(value, Mapping) else partial(getattr, value)
        return {key.theirs: key.kind.write(get(key.ours)) for key in self.keys}

    def rest(self, found: Mapping[str, Any]) -> Plain:
        """Return the members of an object that the table does not know."""
        return without(found, *self.names)


# --- members of a JSON object, set in its text ---


_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def with_members(text: str, members: Mapping[str, Any]) -> str:
    """Return an object's text with these members; raise ValueError if it is not an object."""
    for key, value in members.items():
        text = _with_member(text, key, value)
    return text


def _with_member(text: str, key: str, value: object) -> str:
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(bom)
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("It is not a JSON object.")  # noqa: TRY004 - bad data, not a bad call
    if key in found and _is_same(found[key], value):
        return text
    spans = _find_spans(body)
    written = json.dumps(value, ensure_ascii=False)
    if key in spans:
        start, end = spans[key]
        return f"{bom}{body[:start]}{written}{body[end:]}"
    member = f"{json.dumps(key, ensure_ascii=False)}: {written}"
    return bom + _add(body, member, is_first=not spans)


def _is_same(one: object, other: object) -> bool:
    # True equals 1 in Python, but not in a file.
    return one == other and type(one) is type(other)


def _add(body: str, member: str, *, is_first: bool) -> str:
    """Add a member at the end of the object, on its own line if the others have theirs."""
    close = body.rindex("}")
    before = body[:close].rstrip()
    tail = body[len(before) : close]
    indent = re.search(r"\{[ \t]*(\r?\n[ \t]*)\"", body)
    gap = indent[1] if indent else ("" if is_first else " ")
    return f"{before}{'' if is_first else ','}{gap}{member}{tail}{body[close:]}"


def _find_spans(body: str) -> dict[str, tuple[int, int]]:
    """Find the value of each member; if a key is repeated, the last one counts."""
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(body, _skip(body, 0) + 1)
    while body[at] != "}":
        key, at = _decoder.raw_decode(body, at)
        start = _skip(body, _skip(body, at) + 1)
        _, end = _decoder.raw_decode(body, start)
        spans[key] = (start, end)
        at = _skip(body, end)
        if body[at] == ",":
            at = _skip(body, at + 1)
    return spans


def _skip(body: str, at: int) -> int:
    found = _SPACE.match(body, at)
    return found.end() if found else at
