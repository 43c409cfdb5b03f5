"""Track the events that are in the log but not in the index yet.

A save must know whether its name is in use, without bringing the whole index up to date. The events
are kept in memory between saves, and each save reads only the new ones.
"""

from pathlib import Path

from leftoff.store import events, log
from leftoff.store.index import CheckpointEntry

# A save brings the index up to date once it lacks this many events. That is rare enough not to
# affect the 99th percentile of saves, and a new process reads this many in 3 ms.
_MOST = 500
# A save indexes at most this many events. More come from an import, and readers index those.
_MOST_TAKEN = 2000
_SIMPLE = frozenset({"saved", "resumed", "declined", "consumed", "cleared", "dropped"})


class Lag:
    """The names and ids in the events beyond a mark."""

    def __init__(self, path: Path, mark: log.LogMark) -> None:
        self._log = path
        self._inode = mark.inode
        self._offset = mark.offset
        self._count = 0
        self.saves = 0
        self._names: set[str | None] = set()
        self._ids: set[str] = set()
        self._is_simple = True

    def grow(self) -> bool:
        """Read new events; return False if the log was replaced."""
        inode, size = log.identify(self._log)
        if inode != self._inode or size < self._offset:
            return False
        if size > self._offset:
            told, self._offset = log.read(self._log, events.decode, self._offset)
            for event in told:
                self._add(event)
        return True

    def follow(self, event: events.StoreEvent, place: tuple[int, int]) -> None:
        """Add our own event if it was written exactly where the last read ended."""
        if place[0] == self._offset:
            self._offset = place[1]
            self._add(event)

    @property
    def is_long(self) -> bool:
        """Whether there are more events than a save should wait for."""
        return self._count > _MOST_TAKEN

    def may_concern(self, name: str | None, standing: CheckpointEntry | None) -> bool:
        """Return whether the events may concern this name or its newest revision."""
        is_named = name in self._names or (standing is not None and standing.id in self._ids)
        return is_named or not self._is_simple or self._count > _MOST

    def _add(self, event: events.StoreEvent) -> None:
        self._count += 1
        self._ids.update(event.ids)
        if event.action == "saved":
            self.saves += 1
            self._names.add(event.name)
        # Undone, redone and restored events change the meaning of earlier ones.
        self._is_simple = self._is_simple and event.action in _SIMPLE
