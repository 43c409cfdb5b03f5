"""The log of the memory: what was said and what was done about it, one JSON line each.

The memory is the fold of its lines. A line that is told twice, or in two processes at once, says
nothing new; one that cannot be read, or does what only a newer version knows, is passed over.
"""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from leftoff.checkpoint import from_plain, to_plain
from leftoff.memory.entry import Change, Entry, changed, id_of, said_again

LOG = "memory"
_ACTION = "action"
_RECORDS: dict[str, type[Entry] | type[Change]] = {"said": Entry, "changed": Change}

MemoryRecord = Entry | Change


class Shelf(Protocol):
    """Where entries are kept while lines are folded."""

    def get(self, entry_id: str) -> Entry | None:
        """Return the entry with this id, or the one that was edited to say the same."""

    def put(self, entry: Entry) -> None:
        """Keep an entry in place of the one with its id."""

    def also(self, other_id: str, entry_id: str) -> None:
        """Let a second id lead to an entry."""


def line_of(record: Entry | Change) -> bytes:
    """Write a line, without its end."""
    action = "said" if isinstance(record, Entry) else "changed"
    return msgspec.json.encode({_ACTION: action, **to_plain(record)})


def decode_line(line: bytes) -> MemoryRecord | None:
    """Read a line; None if it does what only a newer version knows."""
    values = msgspec.json.decode(line, type=dict)
    kind = _RECORDS.get(str(values.pop(_ACTION, "")))
    return None if kind is None else from_plain(values, kind)


def fold(records: Iterable[Entry | Change], shelf: Shelf) -> None:
    """Bring a shelf up to date."""
    for record in records:
        known = shelf.get(record.id)
        if isinstance(record, Entry):
            new = record if known is None else said_again(known, record)
        elif known is not None:
            new = changed(known, record)
            _know_words(new, shelf)
        else:
            continue
        if new != known:
            shelf.put(new)


def _know_words(entry: Entry, shelf: Shelf) -> None:
    """Let an entry's new words lead to it, too, unless another one says them."""
    words_id = id_of(entry.kind, entry.text)
    if shelf.get(words_id) is None:
        shelf.also(words_id, entry.id)
