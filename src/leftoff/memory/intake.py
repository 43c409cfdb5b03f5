"""Intake: what the log of the memory holds beyond what the index has read of it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from leftoff.memory.entry import Entry
from leftoff.memory.log import fold, read
from leftoff.store import disk, events
from leftoff.store.logmarks import LogMark, identity

_TAIL_BYTES = 64
_CHANGED = b'"action":"changed"'
_ID = re.compile(rb'"id":"([^"]*)"')


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What a log holds beyond its mark; if it is another log than before, all it holds."""

    area: int
    lines: list[bytes]
    mark: LogMark
    is_another: bool


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

    def take(self, news: Sequence[News]) -> None:
        """Fold new lines in."""
        for each in news:
            fold(read(each.lines), self)


def about(logs: Sequence[Path], ids: Iterable[str]) -> Overlay:
    """Fold only the lines that tell of some entries; reading through a log needs no index.

    An entry may have been edited to say what another id stands for, so edited ones belong to it.
    """
    overlay = Overlay(lambda _: None)
    wanted = {each.encode() for each in ids}
    for is_search in (True, False):
        for log in logs:
            for lines, _ in events.chunks(log, 0, identity(log)[1]):
                if is_search:
                    wanted.update(_id_of(line) for line in lines if _CHANGED in line)
                else:
                    fold(read(line for line in lines if _id_of(line) in wanted), overlay)
    return overlay


def _id_of(line: bytes) -> bytes:
    found = _ID.search(line)
    return found[1] if found else b""


def find_news(logs: Sequence[Path], marks: Mapping[int, LogMark]) -> Iterator[News]:
    """Yield what is new in each log: the store's own first, then the fallback's."""
    for area, log in enumerate(logs):
        news = _news(area, log, marks.get(area))
        if news is not None:
            yield news


def _news(area: int, log: Path, mark: LogMark | None) -> News | None:
    inode, size = identity(log)
    mark = mark or LogMark(inode, 0, b"")
    if (inode, size) == (mark.inode, mark.offset):
        return None
    goes_on = inode == mark.inode and size >= mark.offset and _tail(log, mark.offset) == mark.tail
    start = mark.offset if goes_on else 0
    # A torn last line waits for the next reading.
    lines, end = _whole_lines(log, start)
    if goes_on and end == start:
        return None
    new = LogMark(inode, end, _tail(log, end) if inode else b"")
    return News(area=area, lines=lines, mark=new, is_another=not goes_on)


def _whole_lines(log: Path, start: int) -> tuple[list[bytes], int]:
    """Return the lines of a log from an offset on, and where the last of them ends."""
    found: list[bytes] = []
    for lines, end in events.chunks(log, start):
        found += lines
        start = end
    return found, start


def _tail(log: Path, offset: int) -> bytes:
    start = max(0, offset - _TAIL_BYTES)
    return disk.read_from(log, start, limit=offset - start)
