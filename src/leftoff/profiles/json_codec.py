"""Objects of native JSON files as tables: each key is listed once, for both ways.

A key says what it is called there, what its value must be, and how it is written. It may have more
than one spelling: the first that holds a value of the right kind counts. A value of the wrong kind
is as good as none.
"""

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
    """Read a moment; one without a zone is UTC."""
    if not isinstance(value, str):
        return None
    moment = times.parse(value)
    try:
        # No native file is older; a year of one digit is a slip.
        return moment if moment and moment.astimezone(UTC).year >= _FIRST_YEAR else None
    except OverflowError:
        return None


def iso(moment: datetime) -> str:
    """Write a moment in UTC, to the millisecond; finer ones whole."""
    utc = moment.astimezone(UTC)
    spec = "microseconds" if utc.microsecond % 1000 else "milliseconds"
    return utc.isoformat(timespec=spec).replace("+00:00", "Z")


def without(value: Mapping[str, Any], *keys: str) -> Plain:
    """Return an object without some keys."""
    return {key: each for key, each in value.items() if key not in keys}


# Kinds of values


class Kind(NamedTuple):
    """What a value must be: `read` returns None for one that is not understood."""

    read: Callable[[object], Any]
    write: Callable[[Any], Any] = lambda value: value


def is_number(value: object) -> bool:
    """Say whether a value is a whole number; to Python, true and false are numbers too."""
    return isinstance(value, int) and not isinstance(value, bool)


def choose(values: Collection[Any]) -> Kind:
    """Return the kind of one of some values."""
    return Kind(lambda value: value if isinstance(value, str) and value in values else None)


TEXT = Kind(lambda value: value if isinstance(value, str) else None)
SAID = Kind(lambda value: text_of(value) or None)
"""A text that says something."""
TEXTS = Kind(texts_of)
"""Texts, whatever else is among them."""
ALL_TEXTS = Kind(
    lambda value: value if isinstance(value, list) and texts_of(value) == value else None
)
"""A list of nothing but texts."""
NUMBER = Kind(lambda value: value if is_number(value) else None)
FLAG = Kind(lambda value: True if value is True else None)
OBJECT = Kind(lambda value: value if isinstance(value, dict) else None)
MOMENT = Kind(moment_of, lambda value: iso(value) if value is not None else None)


# Tables


class Key(msgspec.Struct, frozen=True):
    """A key of ours, what it is called there, and what its value must be."""

    ours: str
    theirs: str
    kind: Kind = TEXT
    spellings: tuple[str, ...] = ()
    """Other keys that mean the same."""

    def find(self, found: Mapping[str, Any]) -> tuple[str, Any]:
        """Return the spelling that holds a value, and the value; None where there is none."""
        for name in (self.theirs, *self.spellings):
            if (value := self.kind.read(found.get(name))) is not None:
                return name, value
        return self.theirs, None


class KeyTable:
    """The table of one kind of object, in the order in which its keys are written."""

    def __init__(self, *keys: Key) -> None:
        self.keys = keys
        self.names = [key.theirs for key in keys]

    def read(self, found: Mapping[str, Any]) -> Plain:
        """Return what an object says, in our keys."""
        values = ((key.ours, key.find(found)[1]) for key in self.keys)
        return {ours: value for ours, value in values if value is not None}

    def write(self, value: object) -> Plain:
        """Return values of ours, by their keys or in a struct, as such an object."""
        get = value.__getitem__ if isinstance(value, Mapping) else partial(getattr, value)
        return {key.theirs: key.kind.write(get(key.ours)) for key in self.keys}

    def rest(self, found: Mapping[str, Any]) -> Plain:
        """Return what an object holds beside the keys of the table."""
        return without(found, *self.names)
