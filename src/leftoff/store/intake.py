"""Intake: bring the index up to date with the files, at the cost of what is new.

A monthly folder is listed again only when its time stamp moved, and an event log is read from
where the last reading ended.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, decode, id_time
from leftoff.errors import LeftoffError
from leftoff.store import disk, events
from leftoff.store.area import Area
from leftoff.store.text import searchable, spaced

# A folder changed within this time may change again under the same time stamp: on the coarsest
# file systems a stamp lasts two seconds. Such a folder is listed again next time.
_SETTLED_SECONDS = 2.5
_TAIL_BYTES = 64
# Some day in 2248; beyond it a row number is more than the database holds.
_LAST_MILLISECOND = (1 << 43) - 2

_event_decoder = msgspec.json.Decoder(events.Event)
_checkpoint_decoder = msgspec.json.Decoder(Checkpoint)


class LogMark(msgspec.Struct, frozen=True):
    """How far a log was read, and what tells that it is still the same log."""

    inode: int
    offset: int
    tail: bytes
    """The last bytes read, up to the offset."""


class LogNews(msgspec.Struct, frozen=True):
    """What a log holds beyond the mark."""

    area: int
    events: list[events.Event]
    mark: LogMark


class Intake:
    """Reads new files and events into an open index."""

    def __init__(self, db: sqlite3.Connection, areas: Sequence[Area]) -> None:
        self._db = db
        self._areas = areas

    def has_news(self) -> bool:
        """Say whether there is anything on disk that the index does not know."""
        return bool(
            any(True for _ in self._stale_shards())
            or any(True for _ in self.news())
            or self._broken()
        )

    def take_news(self) -> None:
        """Take in everything that is new on disk."""
        with self._transaction():
            slots = self._take_shards(list(self._stale_shards()))
            slots |= self._take_again(self._broken())
            slots |= self._take_events(self.news())
            self._point_heads(slots)

    def take_again(self, ids: Sequence[str]) -> None:
        """Read files anew that were changed in place."""
        with self._transaction():
            self._point_heads(self._take_again(ids))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _broken(self) -> list[str]:
        rows = self._db.execute("SELECT id FROM checkpoints WHERE problem IS NOT NULL")
        return [row[0] for row in rows]

    def _stale_shards(self) -> Iterator[tuple[int, str, int]]:
        known = {(row[0], row[1]): row[2] for row in self._db.execute("SELECT * FROM shards")}
        for number, area in enumerate(self._areas):
            for shard in area.shards():
                mtime = shard.stat(follow_symlinks=False).st_mtime_ns
                if known.pop((number, shard.name), None) != mtime:
                    yield number, shard.name, mtime
        for number, name in known:
            yield number, name, 0

    def _take_shards(self, stale: Iterable[tuple[int, str, int]]) -> set[str]:
        slots: set[str] = set()
        for number, shard, mtime in stale:
            settled = time.time() - mtime / 1e9 > _SETTLED_SECONDS
            try:
                slots |= self._take_shard(number, shard, exists=mtime != 0)
            except OSError:
                # What is known of a folder that cannot be read just now still holds.
                settled = False
            self._db.execute("DELETE FROM shards WHERE area = ? AND name = ?", (number, shard))
            if mtime:
                self._db.execute(
                    "INSERT INTO shards VALUES (?, ?, ?)", (number, shard, mtime if settled else -1)
                )
        return slots

    def _take_shard(self, number: int, shard: str, *, exists: bool) -> set[str]:
        on_disk = set(self._areas[number].ids_in(shard)) if exists else set()
        prefix = shard.replace("-", "")
        known = {
            row[0]
            for row in self._db.execute(
                "SELECT id FROM checkpoints WHERE area = ? AND id BETWEEN ? AND ?",
                (number, prefix, prefix + "Z"),
            )
        }
        slots = {self._forget(checkpoint_id) for checkpoint_id in known - on_disk}
        return slots | {self._take(number, each) for each in sorted(on_disk - known)}

    def _take_again(self, ids: Iterable[str]) -> set[str]:
        slots = set()
        for checkpoint_id in ids:
            known = self._known(checkpoint_id)
            if known is not None:
                slots |= {self._forget(checkpoint_id), self._take(known[0], checkpoint_id)}
        return slots

    def _take(self, number: int, checkpoint_id: str) -> str:
        """Read one file into the index; return its slot."""
        known = self._known(checkpoint_id)
        if known is not None:
            # In both areas: the process that took it into the store was killed before the end.
            if known[0] <= number:
                return known[1]
            self._forget(checkpoint_id)
        row: dict[str, Any] = {"id": checkpoint_id, "area": number, "slot": f"!{checkpoint_id}"}
        row["saved_at"] = id_time(checkpoint_id).timestamp()
        text = ""
        try:
            data, found = self._areas[number].read(checkpoint_id)
            row |= {"size": found.st_size, "mtime": found.st_mtime_ns}
            checkpoint = _decoded(data)
            row |= _described(checkpoint)
            text = searchable(checkpoint)
        except (OSError, LeftoffError, ValueError, OverflowError) as error:
            row["problem"] = str(error) or type(error).__name__
        self._insert(row, text)
        return str(row["slot"])

    def _known(self, checkpoint_id: str) -> tuple[int, str] | None:
        query = "SELECT area, slot FROM checkpoints WHERE id = ?"
        found: tuple[int, str] | None = self._db.execute(query, (checkpoint_id,)).fetchone()
        return found

    def _insert(self, row: dict[str, Any], text: str) -> None:
        row["rowid"] = self._free_rowid(row["id"])
        row["state"] = self._state_of(row["id"])
        names = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        self._db.execute(f"INSERT INTO checkpoints ({names}) VALUES ({marks})", row)  # noqa: S608 - column names are ours
        self._db.execute(
            "INSERT INTO words (rowid, text, branch, agent) VALUES (?, ?, ?, ?)",
            (row["rowid"], spaced(text), row.get("branch"), row.get("agent")),
        )

    def _free_rowid(self, checkpoint_id: str) -> int:
        rowid = rowid_of(checkpoint_id)
        while self._db.execute("SELECT 1 FROM checkpoints WHERE rowid = ?", (rowid,)).fetchone():
            rowid += 1
        return rowid

    def _forget(self, checkpoint_id: str) -> str:
        rowid, slot = self._db.execute(
            "SELECT rowid, slot FROM checkpoints WHERE id = ?", (checkpoint_id,)
        ).fetchone()
        self._db.execute("DELETE FROM checkpoints WHERE rowid = ?", (rowid,))
        self._db.execute("DELETE FROM words WHERE rowid = ?", (rowid,))
        return str(slot)

    def news(self) -> Iterator[LogNews]:
        """Yield what each log holds that the index does not."""
        marks = self._marks()
        for number, area in enumerate(self._areas):
            news = _read_log(number, area.log, marks.get(number))
            if news is not None:
                yield news

    def mark(self) -> LogMark | None:
        """Return how far the store's own log was taken in, if it is still the same log."""
        mark = self._marks().get(0)
        if mark is None or _tail(self._areas[0].log, mark.offset) != mark.tail:
            return None
        return mark

    def _marks(self) -> dict[int, LogMark]:
        rows = self._db.execute("SELECT area, inode, offset, tail FROM logs")
        return {row[0]: LogMark(*row[1:]) for row in rows}

    def _take_events(self, news: Iterable[LogNews]) -> set[str]:
        touched: set[str] = set()
        for each in news:
            for event in each.events:
                touched |= self._take_event(event)
            values = (each.area, *msgspec.structs.astuple(each.mark))
            self._db.execute("INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?)", values)
        slots = set()
        for checkpoint_id in touched:
            row = self._db.execute(
                "UPDATE checkpoints SET state = ? WHERE id = ? RETURNING slot",
                (self._state_of(checkpoint_id), checkpoint_id),
            ).fetchone()
            if row:
                slots.add(str(row[0]))
        return slots

    def _take_event(self, event: events.Event) -> set[str]:
        body = msgspec.json.encode(event)
        done = self._db.execute(
            "INSERT OR IGNORE INTO events (id, can_be_undone, body) VALUES (?, ?, ?)",
            (event.id, event.can_be_undone, body),
        )
        if not done.rowcount:
            return set()
        seq = done.lastrowid
        ids = set(event.ids)
        if event.of is not None:
            ids |= self._revert(event.of)
        self._db.executemany("INSERT OR IGNORE INTO targets VALUES (?, ?)", [(i, seq) for i in ids])
        return ids

    def _revert(self, event_id: str) -> set[str]:
        row = self._db.execute(
            "UPDATE events SET can_be_undone = 0 WHERE id = ? RETURNING body", (event_id,)
        ).fetchone()
        return set(_event_decoder.decode(row[0]).ids) if row else set()

    def _state_of(self, checkpoint_id: str) -> events.State:
        rows = self._db.execute(EVENTS_OF, (checkpoint_id,))
        told = (_event_decoder.decode(row[0]) for row in rows)
        return events.fold(told).get(checkpoint_id, "open")

    def _point_heads(self, slots: set[str]) -> None:
        # Beyond a few slots one pass over all is cheaper than a question for each.
        if len(slots) > 500:
            self._db.execute("UPDATE checkpoints SET is_head = 0")
            self._db.execute(_POINT_ALL_HEADS)
            return
        for slot in slots:
            self._db.execute(_POINT_HEAD, {"slot": slot})


EVENTS_OF = "SELECT body FROM targets JOIN events USING (seq) WHERE checkpoint = ? ORDER BY seq"

_POINT_HEAD = """
UPDATE checkpoints SET is_head = (id IS (
  SELECT max(id) FROM checkpoints WHERE slot = :slot AND state != 'undone'
)) WHERE slot = :slot
"""
_POINT_ALL_HEADS = """
UPDATE checkpoints SET is_head = 1
FROM (SELECT slot, max(id) AS id FROM checkpoints WHERE state != 'undone' GROUP BY slot) AS heads
WHERE heads.slot = checkpoints.slot AND heads.id = checkpoints.id
"""


def rowid_of(checkpoint_id: str) -> int:
    """Make a row number that sorts by time, so that newest first needs no sorting."""
    milliseconds = min(round(id_time(checkpoint_id).timestamp() * 1000), _LAST_MILLISECOND)
    return (milliseconds << 20) | (int(checkpoint_id[-8:], 16) >> 12)


def slot_of(checkpoint: Checkpoint) -> str:
    """Tell whose revision a checkpoint is: its name's, or else its session's or worktree's."""
    if checkpoint.name is not None:
        return checkpoint.name
    if checkpoint.session_id is not None:
        return f"~{checkpoint.agent or ''}:{checkpoint.session_id}"
    return f"~{checkpoint.worktree or ''}"


def _read_log(number: int, log: Path, mark: LogMark | None) -> LogNews | None:
    inode, size = identity(log)
    mark = mark or LogMark(inode, 0, b"")
    if (inode, size) == (mark.inode, mark.offset):
        return None
    goes_on = inode == mark.inode and size >= mark.offset and _tail(log, mark.offset) == mark.tail
    # The fallback's log is gone once the store's log has taken it in; another log in place of the
    # store's own tells another story, for which nothing read so far can stand.
    if not goes_on and number == 0 and mark.offset:
        raise sqlite3.DatabaseError(f"{log} was replaced")
    read, end = events.read(log, mark.offset if goes_on else 0)
    if goes_on and end == mark.offset:
        return None
    return LogNews(number, read, LogMark(inode, end, _tail(log, end)))


def _tail(log: Path, offset: int) -> bytes:
    start = max(0, offset - _TAIL_BYTES)
    return disk.read_from(log, start, limit=offset - start)


def identity(log: Path) -> tuple[int, int]:
    """Return what tells a log apart and how long it is."""
    try:
        found = os.lstat(log)
    except OSError:
        return 0, 0
    # A log that must not be read, for what it is, holds nothing.
    if not disk.is_regular_file(found):
        return 0, 0
    return found.st_ino, found.st_size


def _decoded(data: bytes) -> Checkpoint:
    try:
        # Quick, for unknown keys are passed over; but `__extra__` must not be one of them.
        return _checkpoint_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return decode(data)


def _described(checkpoint: Checkpoint) -> dict[str, Any]:
    action = checkpoint.next_action
    return {
        "slot": slot_of(checkpoint),
        "name": checkpoint.name,
        # In UTC first: a moment at the edge of the calendar may not exist there.
        "saved_at": checkpoint.saved_at.astimezone(UTC).timestamp(),
        "trigger": checkpoint.trigger,
        "agent": checkpoint.agent,
        "session_id": checkpoint.session_id,
        "branch": checkpoint.branch,
        "worktree": checkpoint.worktree,
        "task": checkpoint.task,
        "next_action": action.text if action else None,
        "left_off": checkpoint.left_off,
    }
