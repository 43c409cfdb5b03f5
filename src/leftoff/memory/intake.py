"""Entries as the lines of the log say they are now, without waiting for the index to be built."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from leftoff.memory.entry import Entry
from leftoff.memory.log import MemoryRecord, decode_line, fold
from leftoff.store import log

_CHANGED = b'"action":"changed"'
_ID = re.compile(rb'"id":"([^"]*)"')


class Overlay:
    """Entries that changed, in memory, over those that lie elsewhere."""

    def __init__(self, below: Callable[[str], Entry | None]) -> None:
        self._below = below
        self.entries: dict[str, Entry] = {}
        self.others: dict[str, str] = {}

    def get(self, entry_id: str) -> Entry | None:
        """Return the entry with this id, or the one that was edited to say the same."""
        known = self.entries.get(self.others.get(entry_id, entry_id))
        if known is not None:
            return known
        found = self._below(self.others.get(entry_id, entry_id))
        # Under its own id it may have changed since.
        return self.entries.get(found.id, found) if found is not None else None

    def put(self, entry: Entry) -> None:
        """Keep an entry in place of the one with its id."""
        self.entries[entry.id] = entry

    def also(self, other_id: str, entry_id: str) -> None:
        """Let a second id lead to an entry."""
        self.others[other_id] = entry_id

    def apply(self, lines: Iterable[bytes]) -> None:
        """Fold new lines in."""
        decoded: Iterator[tuple[bytes, MemoryRecord]] = log.decode_lines(lines, decode_line)
        fold((record for _, record in decoded), self)


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
