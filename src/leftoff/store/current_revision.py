"""Find the revision that a new save replaces or follows.

A save asks the index if one is available. The index may be out of date as long as the events it
lacks do not concern the name. If the index is missing or far behind, the save reads the files
instead: it never waits for a large index to be built.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from leftoff.checkpoint import Checkpoint, is_id, new_id
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.store import fold_events, layout, log
from leftoff.store.database import IndexAway
from leftoff.store.index import CheckpointEntry, StoreIndex
from leftoff.store.index_sync import build_columns, decode_for_index, slot_of
from leftoff.store.layout import LISTED, Area, Areas, StoreEvent

# --- events that are in the log but not in the index yet ---
#
# A save must know whether its name is in use, without bringing the whole index up to date. The
# events are kept in memory between saves, and each save reads only the new ones.


# A save brings the index up to date once it lacks this many events. That is rare enough not to
# affect the 99th percentile of saves, and a new process reads this many in 3 ms.
_MOST = 500
# A save indexes at most this many events. More come from an import, and readers index those.
_MOST_TAKEN = 2000
_SIMPLE = frozenset({"saved", "resumed", "declined", "consumed", "cleared", "dropped"})


class Lag:
    """The names, threads and ids in the events beyond a mark."""

    def __init__(self, path: Path, mark: log.LogMark) -> None:
        self._log = path
        self._inode = mark.inode
        self._offset = mark.offset
        self._count = 0
        self.saves = 0
        self._names: set[str | None] = set()
        self._threads: set[str | None] = set()
        self._ids: set[str] = set()
        self.acted_on: set[str] = set()
        """The checkpoints of events other than saves."""
        self._is_simple = True

    def grow(self) -> bool:
        """Read new events; return False if the log was replaced."""
        inode, size = log.identify(self._log)
        if inode != self._inode or size < self._offset:
            return False
        if size > self._offset:
            new, self._offset = log.read(self._log, layout.decode_event, self._offset)
            for event in new:
                self._add(event)
        return True

    def follow(self, event: layout.StoreEvent, place: tuple[int, int]) -> None:
        """Add our own event if it was written exactly where the last read ended."""
        if place[0] == self._offset:
            self._offset = place[1]
            self._add(event)

    @property
    def is_long(self) -> bool:
        """Whether there are more events than a save should wait for."""
        return self._count > _MOST_TAKEN

    def may_concern(self, draft: Checkpoint, standing: CheckpointEntry | None) -> bool:
        """Return whether the events may concern the draft's name, thread or last revision."""
        is_named = draft.name in self._names
        slots = {draft.thread, standing.slot if standing is not None else None} - {None}
        is_threaded = not slots.isdisjoint(self._threads)
        is_touched = standing is not None and standing.id in self._ids
        is_concerned = is_named or is_threaded or is_touched
        return is_concerned or not self._is_simple or self._count > _MOST

    def _add(self, event: layout.StoreEvent) -> None:
        self._count += 1
        self._ids.update(event.ids)
        if event.action == "saved":
            self.saves += 1
            self._names.add(event.name)
            self._threads.add(event.thread)
        else:
            self.acted_on.update(event.ids)
        # Undone, redone and restored events change the meaning of earlier ones.
        self._is_simple = self._is_simple and event.action in _SIMPLE


# --- the revision before a save ---


# About a thousand events: indexing a log of this size does not slow a save noticeably.
_SHORT_BYTES = 200_000

Standing = tuple[CheckpointEntry | None, str | None]


class Previous(NamedTuple):
    """The revision that a save follows, and the last id used in its thread."""

    head: CheckpointEntry | None = None
    last_id: str | None = None
    is_known: bool = True
    """Whether the store could be read; if not, there may be such a revision."""


class Standings:
    """Finds the revision before a save, and caches what it learned between saves."""

    def __init__(self, areas: Areas) -> None:
        self._areas = areas
        self._index: StoreIndex | None = None
        self._lag: Lag | None = None
        self._has_counted = False

    def find_previous(self, draft: Checkpoint, now: datetime) -> Previous:
        """Return the revision that a save follows, and the last id used in its thread.

        That is the head of the draft's thread. If the draft has no thread, or gives its thread the
        name of another open one, it is the head of the thread with that name.
        """
        with contextlib.suppress(OSError, StoreRefused):
            if (found := self._ask_index_safely(draft)) is not None:
                return Previous(*found)
        # If nothing can be read, save anyway: a new checkpoint never overwrites a file.
        with contextlib.suppress(OSError, StoreRefused):
            head, last_id = self._ask_census(draft, now)
            is_known = head is not None or all(map(_can_list, self._areas.in_use()))
            return Previous(head, last_id, is_known)
        return Previous(is_known=False)

    def _ask_census(self, draft: Checkpoint, now: datetime) -> Standing:
        return find_previous(self._areas.in_use(), draft, now)

    def names_like(self, prefix: str) -> list[str] | None:
        """Return the names that start with the prefix; None if an index is available to ask."""
        if self._at_hand() is not None:
            return None
        return names_like(self._areas.in_use(), prefix)

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
        lag = self._grown_lag(index)
        is_short = not lag.is_long if lag is not None else self._is_log_short()
        if not is_short:
            return None
        if lag is not None and self._is_counted(index, lag):
            standing = _find_standing(index, draft)
            # An event may make an older revision the head again.
            slots = {draft.thread, standing.slot if standing is not None else None}
            is_moved = index.has_revision(lag.acted_on, slots, draft.name)
            if not (is_moved or lag.may_concern(draft, standing)):
                return standing, _find_last_id(index, draft, standing)
        index.catch_up()
        self._lag = None
        standing = _find_standing(index, draft)
        return standing, _find_last_id(index, draft, standing)

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


def _can_list(area: Area) -> bool:
    """Return whether the checkpoints of an area can be listed, or there are none."""
    try:
        os.scandir(area.checkpoints).close()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return True


def _find_standing(index: StoreIndex, draft: Checkpoint) -> CheckpointEntry | None:
    own = index.head(draft.thread) if draft.thread is not None else None
    if draft.name is None or (own is not None and own.name == draft.name):
        return own
    named = index.find_named(draft.name)
    if draft.thread is None:
        return named
    return named if named is not None and named.state in LISTED else own


def _find_last_id(
    index: StoreIndex, draft: Checkpoint, standing: CheckpointEntry | None
) -> str | None:
    slot = standing.slot if standing is not None else draft.thread
    return index.last_id(slot) if slot is not None else None


# --- reading files when no index is available ---
#
# A save never builds the index of a large store. Reading the log of 200,000 checkpoints takes a
# fraction of a second. A crash can leave a checkpoint without its line in the log; such checkpoints
# are read from their own files.


_SAVED = b'"action":"saved"'
# Matches complete lines in the form that leftoff writes; a torn line does not match.
_LOGGED = re.compile(rb'"action":"saved","ids":\["([^"]+)"\][^\n]*\}$', re.MULTILINE)


class _LogContents(msgspec.Struct):
    """The events that matter for some threads, and all checkpoints that have a log line."""

    events: list[layout.StoreEvent]
    logged: set[bytes]

    def list_joined(self) -> dict[str, str]:
        """Return the thread of each checkpoint that joined one after it was saved."""
        joined = [event for event in self.events if event.action == "joined" and event.thread]
        return {each: event.thread or "" for event in joined for each in event.ids}


def find_previous(
    areas: Sequence[Area], draft: Checkpoint, now: datetime
) -> tuple[CheckpointEntry | None, str | None]:
    """Return the revision that a draft follows, and the last id used in its thread."""
    own, last_id = None, None
    if draft.thread is not None:
        own, last_id = _find_head(areas, draft.thread)
        last_id = last_id or next(_list_later_ids(areas, draft, now), None)
    if draft.name is None or (own is not None and own.name == draft.name):
        return own, last_id
    named, last_named = _find_named(areas, draft.name)
    if draft.thread is None or (named is not None and named.state in layout.LISTED):
        return named, last_named
    return own, last_id


def _find_named(areas: Sequence[Area], name: str) -> tuple[CheckpointEntry | None, str | None]:
    """Return the head of the thread with this name, and the last id used in that thread."""
    from_log = _read(areas, [b'"name":' + msgspec.json.encode(name)])
    ids = {each for event in from_log.events if event.name == name for each in event.ids}
    ids.update(_find_unlogged(areas, from_log.logged))
    joined = from_log.list_joined()
    entries = [
        found for each in ids if (found := _read_entry(areas, each, "open", joined)) is not None
    ]
    slots = {entry.slot for entry in entries if entry.name == name}
    heads = [_find_head(areas, slot) for slot in slots]
    named = [(head, last) for head, last in heads if head is not None and head.name == name]
    if not named:
        return None, None
    return max(named, key=lambda each: (each[0].state in layout.LISTED, each[0].as_of, each[0].id))


def _find_head(areas: Sequence[Area], slot: str) -> tuple[CheckpointEntry | None, str | None]:
    """Return the head of a thread, and the last id used in it."""
    encoded = msgspec.json.encode(slot)
    # Version 0.1 logged no threads: there a name is the thread.
    from_log = _read(areas, [b'"thread":' + encoded, b'"name":' + encoded])
    states = fold_events.fold_events(from_log.events)
    ids = {
        each
        for event in from_log.events
        if slot in (event.thread, event.name)
        for each in event.ids
    }
    ids.update(_find_unlogged(areas, from_log.logged))
    joined = from_log.list_joined()
    last_id = None
    for checkpoint_id in sorted(ids, reverse=True):
        found = _read_entry(areas, checkpoint_id, states.get(checkpoint_id, "open"), joined)
        # A name may belong to another thread, and an unlogged file to any.
        if found is None or found.slot != slot:
            continue
        last_id = last_id or checkpoint_id
        if found.state != "undone":
            return found, last_id
    return None, last_id


def names_like(areas: Iterable[Area], prefix: str) -> list[str]:
    """Return all names ever used that start with the prefix."""
    begin = msgspec.json.encode(prefix)[:-1]
    pattern = re.compile(b'"name":(' + re.escape(begin) + b'[^"\\\\]*")')
    found = {
        name for lines in _read_lines(areas) for line in lines for name in pattern.findall(line)
    }
    return sorted(msgspec.json.decode(name) for name in found)


def _read_lines(areas: Iterable[Area]) -> Iterator[list[bytes]]:
    for area in areas:
        _, size = log.identify(area.log)
        yield from (lines for lines, _ in log.read_lines(area.log, 0, size))


def _read(areas: Iterable[Area], needles: Sequence[bytes]) -> _LogContents:
    """Read all events except saves without these words, which are the bulk of a log."""
    from_log = _LogContents([], set())
    for lines in _read_lines(areas):
        from_log.logged.update(_LOGGED.findall(b"\n".join(lines)))
        matter = [
            line
            for line in lines
            if _SAVED not in line or any(needle in line for needle in needles)
        ]
        from_log.events.extend(event for _, event in log.decode_lines(matter, layout.decode_event))
    return from_log


def _find_unlogged(areas: Iterable[Area], logged: set[bytes]) -> Iterator[str]:
    for area in areas:
        for shard in area.shards():
            names = os.listdir(os.fsencode(shard.path))  # noqa: PTH208 - quicker than Path
            stems = {name[:-5] for name in names if name.endswith(b".json")} - logged
            yield from filter(is_id, map(os.fsdecode, stems))


def _list_later_ids(areas: Iterable[Area], draft: Checkpoint, now: datetime) -> Iterator[str]:
    """Yield the slot's ids that are later than now, latest first; the clock was set back."""
    first = new_id(now)[:18]
    month = f"{first[:4]}-{first[4:6]}"
    later = {
        each
        for area in areas
        for shard in area.shards()
        if shard.name >= month
        for each in area.ids_in(shard.name)
        if each > first
    }
    for checkpoint_id in sorted(later, reverse=True):
        found = _read_entry(list(areas), checkpoint_id, "open", {})
        if found is not None and found.slot == slot_of(draft):
            yield checkpoint_id


def _read_entry(
    areas: Sequence[Area], checkpoint_id: str, state: layout.State, joined: Mapping[str, str]
) -> CheckpointEntry | None:
    """Read a checkpoint as the index would show it; None if no area has a readable copy."""
    for number, area in enumerate(areas):
        try:
            row = build_columns(decode_for_index(area.read(checkpoint_id)[0]))
        except (OSError, LeftoffError, ValueError, OverflowError):
            continue
        del row["is_autosave"]
        row["slot"] = joined.get(checkpoint_id, row["slot"])
        for key in ("saved_at", "as_of"):
            row[key] = datetime.fromtimestamp(row[key], UTC)
        return CheckpointEntry(
            id=checkpoint_id, area=number, state=state, is_head=True, problem=None, **row
        )
    return None
