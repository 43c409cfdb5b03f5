"""Find the revision that a new save replaces or follows.

A save asks the index if one is available. The index may be out of date as long as the events it
lacks do not concern the name. If the index is missing or far behind, the save reads the files
instead: it never waits for a large index to be built.
"""

import contextlib
from datetime import datetime

from leftoff import store as store_room
from leftoff.checkpoint import Checkpoint
from leftoff.errors import StoreRefused
from leftoff.store import log
from leftoff.store.database import IndexAway
from leftoff.store.events import StoreEvent
from leftoff.store.fallback import Areas
from leftoff.store.index import CheckpointEntry, StoreIndex
from leftoff.store.layout import Area
from leftoff.store.rows import slot_of
from leftoff.store.unindexed import Lag

# About a thousand events: indexing a log of this size does not slow a save noticeably.
_SHORT_BYTES = 200_000

Standing = tuple[CheckpointEntry | None, str | None]


class Standings:
    """Finds the revision before a save, and caches what it learned between saves."""

    def __init__(self, areas: Areas) -> None:
        self._areas = areas
        self._index: StoreIndex | None = None
        self._lag: Lag | None = None
        self._has_counted = False

    def find_previous(self, draft: Checkpoint, now: datetime) -> Standing:
        """Return the previous revision, and the last id used under the same name."""
        # If nothing can be read, save anyway: a new checkpoint never overwrites a file.
        with contextlib.suppress(OSError, StoreRefused):
            found = self._ask_index_safely(draft)
            return found or self._ask_census(draft, now)
        return None, None

    def _ask_census(self, draft: Checkpoint, now: datetime) -> Standing:
        return store_room.census.find_previous(self._areas.in_use(), draft, now)

    def names_like(self, prefix: str) -> list[str] | None:
        """Return the names that start with the prefix; None if an index is available to ask."""
        if self._at_hand() is not None:
            return None
        return store_room.census.names_like(self._areas.in_use(), prefix)

    def is_far_behind(self) -> bool:
        """Return whether bringing the index up to date would take long."""
        with contextlib.suppress(IndexAway):
            index = self._at_hand()
            lag = self._grown_lag(index) if index is not None else None
            return lag.is_long if lag is not None else not self._is_log_short()
        return True

    def follow(self, area: Area, saved: StoreEvent, place: tuple[int, int]) -> None:
        """Add the event of a save that was just written to the log."""
        if self._lag is not None and area is self._areas.main:
            self._lag.follow(saved, place)

    def miss(self) -> None:
        """Note that a save could not write its log line, so files must be counted again."""
        self._has_counted = False

    def leave(self) -> None:
        """Close the index and drop everything cached."""
        if self._index is not None:
            self._index.close()
        self._index = None
        self._lag = None
        self._has_counted = False

    def _ask_index_safely(self, draft: Checkpoint) -> Standing | None:
        index = self._at_hand()
        if index is None:
            return None
        try:
            return self._ask_index(index, draft)
        except IndexAway:
            self.leave()
            return None

    def _ask_index(self, index: StoreIndex, draft: Checkpoint) -> Standing | None:
        """Ask the index; None if it is too far behind."""
        slot = slot_of(draft)
        lag = self._grown_lag(index)
        is_short = not lag.is_long if lag is not None else self._is_log_short()
        if not is_short:
            return None
        if lag is not None and self._is_counted(index, lag):
            if not lag.may_concern(draft.name, None) and index.is_empty(slot):
                return None, None
            standing = index.head(slot)
            if not lag.may_concern(draft.name, standing):
                return standing, index.last_id(slot)
        index.catch_up()
        self._lag = None
        return index.head(slot), index.last_id(slot)

    def _at_hand(self) -> StoreIndex | None:
        """Return the index if it is usable; create it if the log is short."""
        if self._index is not None and self._index.is_settled:
            return self._index
        areas = self._areas.in_use()
        path = self._areas.find_cache_path("index.sqlite")
        if self._index is None or self._index.place != (path, areas):
            self.leave()
            if len(areas) > 1 or path is None:
                return None
            self._index = StoreIndex.at_hand(path, areas)
            if self._index is None and self._is_log_short():
                StoreIndex(path, areas).close()
                self._index = StoreIndex.at_hand(path, areas)
        return self._index

    def _is_log_short(self) -> bool:
        return log.identify(self._areas.main.log)[1] <= _SHORT_BYTES

    def _is_counted(self, index: StoreIndex, lag: Lag) -> bool:
        """Return whether index and log tail know all files; a crash can leave one in neither.

        The check lists every changed folder, so it runs once. Later saves by this process that
        leave no log line report it through `miss`.
        """
        if not self._has_counted:
            found, known = index.stale_counts()
            self._has_counted = found == known + lag.saves
        return self._has_counted

    def _grown_lag(self, index: StoreIndex) -> Lag | None:
        """Return the events beyond the index's mark; None if the index must be synced instead."""
        if self._lag is None or not self._lag.grow():
            mark = index.mark()
            self._lag = Lag(self._areas.main.log, mark) if mark is not None else None
            if self._lag is not None and not self._lag.grow():
                self._lag = None
        return self._lag
