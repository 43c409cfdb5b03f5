"""Read and write the memory log: one JSON line for each entry and for each change to one.

The memory is the fold of these lines. A repeated line, even from two processes at once, changes
nothing. A line that is unreadable, or that needs a newer version, is skipped.
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
    """Encode a line, without its newline."""
    action = "said" if isinstance(record, MemoryEntry) else "changed"
    return msgspec.json.encode({_ACTION: action, **to_plain(record)})


def decode_line(line: bytes) -> MemoryRecord | None:
    """Decode a line; None if it needs a newer version."""
    values = msgspec.json.decode(line, type=dict)
    kind = _RECORDS.get(str(values.pop(_ACTION, "")))
    return None if kind is None else from_plain(values, kind)


class Overlay:
    """Changed entries in memory, on top of those stored elsewhere."""

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
        # The entry may have changed under its own id since.
        return self.entries.get(found.id, found) if found is not None else None

    def put(self, entry: MemoryEntry) -> None:
        """Store an entry, replacing the one with its id."""
        self.entries[entry.id] = entry

    def apply(self, lines: Iterable[bytes]) -> None:
        """Apply new log lines."""
        decoded: Iterator[tuple[bytes, MemoryRecord]] = log.decode_lines(lines, decode_line)
        self.fold(record for _, record in decoded)

    def fold(self, records: Iterable[MemoryRecord]) -> None:
        """Apply new records to the entries."""
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
        """Let an entry's new words lead to it as well, unless another entry has them."""
        words_id = id_of(entry.kind, entry.text)
        if self.get(words_id) is None:
            self.others[words_id] = entry.id


def about(logs: Sequence[Path], ids: Iterable[str]) -> Overlay:
    """Apply only the lines about some entries; scanning a log needs no index.

    An entry may have been edited to the words that another id stands for, so edited ones count too.
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


def read_said(logs: Sequence[Path], ids: Iterable[str]) -> dict[str, list[MemoryEntry]]:
    """Return for each entry the lines that said it, with their own times and sources."""
    said: dict[str, list[MemoryEntry]] = {each: [] for each in ids}
    wanted = {each.encode() for each in said}
    for path in logs:
        for lines, _ in log.read_lines(path, 0, log.identify(path)[1]):
            about_them = [line for line in lines if _id_of(line) in wanted]
            for _, record in log.decode_lines(about_them, decode_line):
                if isinstance(record, MemoryEntry):
                    said[record.id].append(record)
    return said


def _id_of(line: bytes) -> bytes:
    found = _ID.search(line)
    return found[1] if found else b""
