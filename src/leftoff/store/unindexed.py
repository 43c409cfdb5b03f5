"""The lag: what the event log tells that the index has not taken in yet.

A save must know whether its name is in use, and need not bring the whole index up to date for it.
The lag is kept in mind between saves and read on from where it ends.
"""

from pathlib import Path

from leftoff.store import events, log
from leftoff.store.index import CheckpointEntry

# So many events the index may lag behind before a save brings it up to date. Rare enough to be no
# part of what one save in a hundred costs; few enough for a new process to read in 3 ms.
_MOST = 500
# So many a save takes in at most. More came from an import or the like, and is left to readers.
_MOST_TAKEN = 2000
_SIMPLE = frozenset({"saved", "resumed", "declined", "consumed", "cleared"})


class Lag:
    """The names and ids that events beyond a mark speak of."""

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
        """Read on; say whether it is still the log it was."""
        inode, size = log.identify(self._log)
        if inode != self._inode or size < self._offset:
            return False
        if size > self._offset:
            told, self._offset = log.read(self._log, events.decode, self._offset)
            for event in told:
                self._add(event)
        return True

    def follow(self, event: events.StoreEvent, place: tuple[int, int]) -> None:
        """Take in a line of our own that was written right where the lag ends."""
        if place[0] == self._offset:
            self._offset = place[1]
            self._add(event)

    @property
    def is_long(self) -> bool:
        """Whether there is more than a save should wait for."""
        return self._count > _MOST_TAKEN

    def may_concern(self, name: str | None, standing: CheckpointEntry | None) -> bool:
        """Say whether the events may tell of this name or its newest revision."""
        is_named = name in self._names or (standing is not None and standing.id in self._ids)
        return is_named or not self._is_simple or self._count > _MOST

    def _add(self, event: events.StoreEvent) -> None:
        self._count += 1
        self._ids.update(event.ids)
        if event.action == "saved":
            self.saves += 1
            self._names.add(event.name)
        # Undone and restored events change what others mean.
        self._is_simple = self._is_simple and event.action in _SIMPLE
