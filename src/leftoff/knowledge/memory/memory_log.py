"""The log of the memory: what was said and what was done about it, one JSON line each.

The memory is the fold of its lines. A line that is told twice, or in two processes at once, says
nothing new; one that cannot be read, or does what only a newer version knows, is passed over.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from leftoff.checkpoint import from_plain, to_plain
from leftoff.knowledge.memory.entry import (
    EntryChange,
    MemoryEntry,
    apply_change,
    id_of,
    merge_repeat,
)
from leftoff.store import log

LOG = "memory"
_CHANGED = b'"action":"changed"'
_ID = re.compile(rb'"id":"([^"]*)"')
_ACTION = "action"
_RECORDS: dict[str, type[MemoryEntry] | type[EntryChange]] = {
    "said": MemoryEntry,
    "changed": EntryChange,
}

MemoryRecord = MemoryEntry | EntryChange


def line_of(record: MemoryRecord) -> bytes:
    """Write a line, without its end."""
    action = "said" if isinstance(record, MemoryEntry) else "changed"
    return msgspec.json.encode({_ACTION: action, **to_plain(record)})


def decode_line(line: bytes) -> MemoryRecord | None:
    """Read a line; None if it does what only a newer version knows."""
    values = msgspec.json.decode(line, type=dict)
    kind = _RECORDS.get(str(values.pop(_ACTION, "")))
    return None if kind is None else from_plain(values, kind)


class Overlay:
    """Entries that changed, in memory, over those that lie elsewhere."""

    def __init__(self, below: Callable[[str], MemoryEntry | None]) -> None:
        self._below = below
        self.entries: dict[str, MemoryEntry] = {}
        self.others: dict[str, str] = {}

    def get(self, entry_id: str) -> MemoryEntry | None:
        """Return the entry with this id, or the one that was edited to say the same."""
        known = self.entries.get(self.others.get(entry_id, entry_id))
        if known is not None:
            return known
        found = self._below(self.others.get(entry_id, entry_id))
        # Under its own id it may have changed since.
        return self.entries.get(found.id, found) if found is not None else None

    def put(self, entry: MemoryEntry) -> None:
        """Keep an entry in place of the one with its id."""
        self.entries[entry.id] = entry

    def apply(self, lines: Iterable[bytes]) -> None:
        """Fold new lines in."""
        decoded: Iterator[tuple[bytes, MemoryRecord]] = log.decode_lines(lines, decode_line)
        self.fold(record for _, record in decoded)

    def fold(self, records: Iterable[MemoryRecord]) -> None:
        """Bring the entries up to date with new records."""
        for record in records:
            known = self.get(record.id)
            if isinstance(record, MemoryEntry):
                new = record if known is None else merge_repeat(known, record)
            elif known is not None:
                new = apply_change(known, record)
                self._link_words(new)
            else:
                continue
            if new != known:
                self.put(new)

    def _link_words(self, entry: MemoryEntry) -> None:
        """Let an entry's new words lead to it, too, unless another one says them."""
        words_id = id_of(entry.kind, entry.text)
        if self.get(words_id) is None:
            self.others[words_id] = entry.id


def about(logs: Sequence[Path], ids: Iterable[str]) -> Overlay:
    """Fold only the lines that tell of some entries; reading through a log needs no index.

    An entry may have been edited to say what another id stands for, so edited ones belong to it.
    """
    overlay = Overlay(lambda _: None)
    wanted = {each.encode() for each in ids}
    for is_search in (True, False):
        for path in logs:
            for lines, _ in log.read_lines(path, 0, log.identify(path)[1]):
                if is_search:
                    wanted.update(_id_of(line) for line in lines if _CHANGED in line)
                else:
                    overlay.apply(line for line in lines if _id_of(line) in wanted)
    return overlay


def _id_of(line: bytes) -> bytes:
    found = _ID.search(line)
    return found[1] if found else b""
