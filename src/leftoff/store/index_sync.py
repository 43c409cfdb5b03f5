"""Update the index of checkpoints from new files and events, reading only what changed.

A monthly folder is listed again only when its modification time changed. Files and events can be
indexed twice without harm, so a large update is committed in parts.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, decode, id_time
from leftoff.errors import LeftoffError
from leftoff.store import fold_events, layout
from leftoff.store.database import Connection, Rows, Tables
from leftoff.store.layout import Area
from leftoff.store.log import decode_lines
from leftoff.store.search_text import searchable, split_cjk

# --- tables ---


VERSION = 9

_SCHEMA = """
CREATE TABLE shards (area INTEGER, name TEXT, mtime INTEGER, PRIMARY KEY (area, name));
CREATE TABLE tally (checkpoints INTEGER, events INTEGER);
INSERT INTO tally VALUES (0, 0);
CREATE TABLE unlogged (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE checkpoints (
  rowid INTEGER PRIMARY KEY, id TEXT UNIQUE, area INTEGER, slot TEXT, name TEXT, saved_at REAL,
  as_of REAL, trigger TEXT, agent TEXT, session_id TEXT, branch TEXT, worktree TEXT, task TEXT,
  next_action TEXT, left_off TEXT, state TEXT DEFAULT 'open', is_head INTEGER DEFAULT 0,
  problem TEXT, size INTEGER, mtime INTEGER, is_autosave INTEGER
);
CREATE INDEX by_slot ON checkpoints (slot, id);
CREATE INDEX by_session ON checkpoints (session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX by_head ON checkpoints (state, as_of, id) WHERE is_head;
CREATE INDEX by_name ON checkpoints (name, id) WHERE name IS NOT NULL;
CREATE INDEX by_autosave ON checkpoints (id) WHERE is_autosave;
CREATE INDEX by_problem ON checkpoints (id) WHERE problem IS NOT NULL;
CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, is_step INTEGER, body BLOB);
CREATE INDEX by_step ON events (seq) WHERE is_step;
CREATE TABLE targets (checkpoint TEXT, seq INTEGER, PRIMARY KEY (checkpoint, seq)) WITHOUT ROWID;
CREATE TABLE joins (session_id TEXT, seq INTEGER, PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, branch, agent, tokenize='unicode61');
"""

_CHECK = """
SELECT checkpoints = (SELECT count(*) FROM checkpoints)
  AND events = (SELECT ifnull(max(seq), 0) FROM events) FROM tally
"""

# Row numbers are omitted because they depend on the order in which files were read.
_CONTENTS = (
    """SELECT id, area, slot, name, saved_at, as_of, trigger, agent, session_id, branch, worktree,
    task, next_action, left_off, state, is_head, problem, size, mtime, is_autosave
    FROM checkpoints ORDER BY id""",
    """SELECT id, text, words.branch, words.agent FROM words
    JOIN checkpoints ON words.rowid = checkpoints.rowid ORDER BY id""",
    "SELECT id, is_step, body FROM events ORDER BY id",
    "SELECT checkpoint, events.id FROM targets JOIN events USING (seq) ORDER BY 1, 2",
    "SELECT session_id, events.id FROM joins JOIN events USING (seq) ORDER BY 1, 2",
)

TABLES = Tables(schema=_SCHEMA, version=VERSION, check=_CHECK, contents=_CONTENTS)

EVENTS_OF = "SELECT body FROM targets JOIN events USING (seq) WHERE checkpoint = ? ORDER BY seq"


# --- rows ---


# A day in 2248; a later time would exceed SQLite's largest row number.
_LAST_MILLISECOND = (1 << 43) - 2

_checkpoint_decoder = msgspec.json.Decoder(Checkpoint)

COLUMNS = (
    "rowid", "id", "area", "slot", "name", "saved_at", "as_of", "trigger", "agent", "session_id",
    "branch", "worktree", "task", "next_action", "left_off", "state", "problem", "size", "mtime",
    "is_autosave",
)  # fmt: skip


def find_row(
    number: int, checkpoint_id: str, read: Callable[[str], tuple[bytes, os.stat_result]]
) -> tuple[dict[str, Any], str]:
    """Return the index row of a file, and its searchable text."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"id": checkpoint_id, "area": number, "slot": f"!{checkpoint_id}"}
    row["saved_at"] = row["as_of"] = id_time(checkpoint_id).timestamp()
    text = ""
    try:
        data, found = read(checkpoint_id)
        row |= {"size": found.st_size, "mtime": found.st_mtime_ns}
        checkpoint = decode_for_index(data)
        row |= build_columns(checkpoint)
        text = searchable(checkpoint)
    except (OSError, LeftoffError, ValueError, OverflowError) as error:
        row["problem"] = str(error) or type(error).__name__
    return row, text


def rowid_of(checkpoint_id: str) -> int:
    """Return a row number that sorts by time, so that newest first needs no sorting."""
    milliseconds = min(round(id_time(checkpoint_id).timestamp() * 1000), _LAST_MILLISECOND)
    return (milliseconds << 20) | (int(checkpoint_id[-8:], 16) >> 12)


def slot_of(checkpoint: Checkpoint) -> str:
    """Return the slot that groups a checkpoint's revisions: its thread.

    Version 0.1 had no threads; it grouped revisions by name, session or worktree.
    """
    if checkpoint.thread is not None:
        return checkpoint.thread
    if checkpoint.name is not None:
        return checkpoint.name
    if checkpoint.session_id is not None:
        return f"~{checkpoint.agent or ''}:{checkpoint.session_id}"
    return f"~{checkpoint.worktree or ''}"


UNSEEN = "?"
"""Begins the key of a thread whose first save could not see whether it continues another one."""


def decode_for_index(data: bytes) -> Checkpoint:
    """Decode a checkpoint for indexing."""
    try:
        # Fast, because unknown keys are skipped. `__extra__` must not be one of them.
        return _checkpoint_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return decode(data)


def build_columns(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the index columns of a checkpoint."""
    action = checkpoint.next_action
    return {
        "slot": slot_of(checkpoint),
        "name": checkpoint.name,
        # Converted to UTC first: a time at the edge of the calendar may not exist in UTC.
        "saved_at": checkpoint.saved_at.astimezone(UTC).timestamp(),
        "as_of": checkpoint.described_at.astimezone(UTC).timestamp(),
        "trigger": checkpoint.trigger,
        "agent": checkpoint.agent,
        "session_id": checkpoint.session_id,
        "branch": checkpoint.branch,
        "worktree": checkpoint.worktree,
        "task": checkpoint.task,
        "next_action": action.text if action else None,
        "left_off": checkpoint.left_off,
        "is_autosave": checkpoint.is_autosave,
    }


# --- bringing the index up to date ---


# A folder that changed this recently may change again with the same modification time, which has a
# resolution of two seconds on some file systems. Such a folder is listed again next time.
_SETTLED_SECONDS = 2.5
# Number of files inserted with one statement.
_ROWS = 500
# A store that is in use has one changed folder, or two at the turn of a month.
_FEW_SHARDS = 3

WatchReading = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""Shows how far the reading of many files is: gets their number, and is called as they are read."""


class CheckpointRows(Rows):
    """Reads new files and events into an open index."""

    def __init__(
        self, db: Connection, areas: Sequence[Area], watch: WatchReading | None = None
    ) -> None:
        super().__init__(db)
        self._areas = areas
        self._watch = watch
        self._added = 0
        self._slots: set[str] = set()

    def has_news(self) -> bool:
        """Return whether a folder changed, or an unreadable file may have become readable."""
        # Unreadable files are retried on each sync: a change in place does not change the folder's
        # time.
        return any(True for _ in self._stale_shards()) or bool(self._list_broken())

    def apply_rest(self) -> None:
        """Read the changed folders, and try the unreadable files again."""
        stale = list(self._stale_shards())
        with self._watch_reading(len(stale), _FEW_SHARDS) as advance:
            for number, each in enumerate(stale, 1):
                self._take_shard(*each)
                advance(number)
        self._reread(self._list_broken())

    def reread(self, ids: Sequence[str]) -> None:
        """Read files again that were edited in place."""
        with self.transaction():
            self._reread(ids)

    def mark_miscounted(self) -> bool:
        """Mark folders with an unexpected number of files for listing; return whether any is."""
        counts = {
            (number, shard.name): len(area.ids_in(shard.name))
            for number, area in enumerate(self._areas)
            for shard in area.shards()
        }
        odd = [place for place, count in counts.items() if self._count_in(*place) != count]
        self._db.executemany("UPDATE shards SET mtime = -1 WHERE area = ? AND name = ?", odd)
        return bool(odd)

    def stale_counts(self) -> tuple[int, int]:
        """Count the files in changed folders, and how many of them the index knows."""
        stale = [(number, name) for number, name, mtime in self._stale_shards() if mtime]
        found = sum(len(self._areas[number].ids_in(name)) for number, name in stale)
        return found, sum(self._count_in(*place) for place in stale)

    def update_counts(self) -> None:
        """Update the counts, and find the newest revision of each slot that changed."""
        self._db.executemany(_POINT_HEAD, [{"slot": slot} for slot in self._slots])
        self._db.execute(_UPDATE_TALLY, (self._added,))
        self._slots.clear()
        self._added = 0

    # Files

    def _list_broken(self) -> list[str]:
        rows = self._db.execute("SELECT id FROM checkpoints WHERE problem IS NOT NULL")
        return [row[0] for row in rows]

    def _stale_shards(self) -> Iterator[tuple[int, str, int]]:
        known = {(row[0], row[1]): row[2] for row in self._db.execute("SELECT * FROM shards")}
        for number, area in enumerate(self._areas):
            for shard in area.shards():
                mtime = shard.stat(follow_symlinks=False).st_mtime_ns
                if known.pop((number, shard.name), None) != mtime:
                    yield number, shard.name, mtime
        # Folders that are in the index but no longer on disk.
        for number, name in known:
            yield number, name, 0

    def _take_shard(self, number: int, shard: str, mtime: int) -> None:
        settled = time.time() - mtime / 1e9 > _SETTLED_SECONDS
        try:
            self._compare_shard(number, shard, exists=mtime != 0)
        except OSError:
            # The folder cannot be read at the moment. What the index knows about it is still valid.
            settled = False
        self._db.execute("DELETE FROM shards WHERE area = ? AND name = ?", (number, shard))
        if mtime:
            self._db.execute(
                "INSERT INTO shards VALUES (?, ?, ?)", (number, shard, mtime if settled else -1)
            )

    def _compare_shard(self, number: int, shard: str, *, exists: bool) -> None:
        on_disk = set(self._areas[number].ids_in(shard)) if exists else set()
        rows = self._db.execute(_IDS_IN, (number, *_find_bounds(shard)))
        known = {row[0] for row in rows}
        for checkpoint_id in known - on_disk:
            self._forget(checkpoint_id)
            self._count(1)
        new = sorted(on_disk - known)
        if new:
            read = self._areas[number].reader(shard)
            with self._watch_reading(len(new), _ROWS) as advance:
                for begin in range(0, len(new), _ROWS):
                    self._add(number, new[begin : begin + _ROWS], read)
                    advance(begin + _ROWS)

    @contextmanager
    def _watch_reading(self, count: int, few: int) -> Iterator[Callable[[int], None]]:
        """Show how far it is if there is much to read; within another, show nothing."""
        watch = self._watch if count > few else None
        if watch is None:
            yield lambda _done: None
            return
        self._watch = None
        try:
            with watch(count) as advance:
                yield advance
        finally:
            self._watch = watch

    def _count_in(self, number: int, shard: str) -> int:
        row = self._db.execute(_COUNT_IN, (number, *_find_bounds(shard))).fetchone()
        return int(row[0])

    def _reread(self, ids: Iterable[str]) -> None:
        for checkpoint_id in ids:
            known = self._find_row(checkpoint_id)
            if known is not None:
                self._forget(checkpoint_id)
                self._add(known[0], [checkpoint_id], self._areas[known[0]].read)

    def _add(
        self, number: int, ids: Iterable[str], read: Callable[[str], tuple[bytes, os.stat_result]]
    ) -> None:
        rows, texts, unlogged = [], [], []
        taken: set[int] = set()
        for checkpoint_id in ids:
            if not self._should_read(number, checkpoint_id):
                continue
            row, text = find_row(number, checkpoint_id, read)
            logged = self._load_events(checkpoint_id)
            is_logged = any(event.action == "saved" for event in logged)
            if row["size"] == 0 and not is_logged:
                # An empty file claims the name for a writer that has not moved its content there
                # yet.
                continue
            if number == 0 and not is_logged:
                unlogged.append((checkpoint_id,))
            row["slot"] = layout.find_joined_thread(checkpoint_id, logged) or row["slot"]
            row["rowid"] = self._free_rowid(checkpoint_id, taken)
            row["state"] = _fold_state(checkpoint_id, logged)
            rows.append(row)
            texts.append((row["rowid"], split_cjk(text), row["branch"], row["agent"]))
        self._db.executemany(_INSERT, rows)
        self._db.executemany(_INSERT_WORDS, texts)
        self._db.executemany("INSERT OR IGNORE INTO unlogged VALUES (?)", unlogged)
        self._slots.update(row["slot"] for row in rows)
        self._added += len(rows)
        self._count(len(rows))

    def _should_read(self, number: int, checkpoint_id: str) -> bool:
        """Return whether to read a file: not if the store already has the same checkpoint."""
        known = self._find_row(checkpoint_id) if len(self._areas) > 1 else None
        if known is not None:
            # It is in both areas: the process that adopted it was killed before removing the
            # original.
            if known[0] <= number:
                return False
            self._forget(checkpoint_id)
        return True

    def _find_row(self, checkpoint_id: str) -> tuple[int, str] | None:
        query = "SELECT area, slot FROM checkpoints WHERE id = ?"
        found: tuple[int, str] | None = self._db.execute(query, (checkpoint_id,)).fetchone()
        return found

    def _free_rowid(self, checkpoint_id: str, taken: set[int]) -> int:
        rowid = rowid_of(checkpoint_id)
        query = "SELECT 1 FROM checkpoints WHERE rowid = ?"
        # Row numbers are derived from the time of the save, so two saves can have the same one.
        while rowid in taken or self._db.execute(query, (rowid,)).fetchone():
            rowid += 1
        taken.add(rowid)
        return rowid

    def _forget(self, checkpoint_id: str) -> None:
        rowid, slot = self._db.execute(
            "SELECT rowid, slot FROM checkpoints WHERE id = ?", (checkpoint_id,)
        ).fetchone()
        self._db.execute("DELETE FROM checkpoints WHERE rowid = ?", (rowid,))
        self._db.execute("DELETE FROM words WHERE rowid = ?", (rowid,))
        self._db.execute("DELETE FROM unlogged WHERE id = ?", (checkpoint_id,))
        self._added -= 1
        self._slots.add(str(slot))

    # Events

    def apply(self, lines: Sequence[bytes]) -> None:
        """Store the events of a log, and update the states of the checkpoints they name."""
        touched: set[str] = set()
        count = 0
        for line, event in decode_lines(lines, layout.decode_event):
            touched |= self._take_event(event, line)
            count += 1
        for checkpoint_id in touched:
            row = self._db.execute(
                "UPDATE checkpoints SET state = ? WHERE id = ? RETURNING slot",
                (_fold_state(checkpoint_id, self._load_events(checkpoint_id)), checkpoint_id),
            ).fetchone()
            if row:
                self._slots.add(str(row[0]))
        self._count(count)

    def _take_event(self, event: layout.StoreEvent, line: bytes) -> set[str]:
        """Store an event, and return the checkpoints whose state it may change."""
        done = self._db.execute(
            "INSERT OR IGNORE INTO events (id, is_step, body) VALUES (?, ?, ?)",
            (event.id, event.is_step, line),
        )
        # The event is already known: a line was repeated, or a commit was interrupted.
        if not done.rowcount:
            return set()
        seq = done.lastrowid
        ids = {*event.ids, *event.hides}
        if event.of is not None:
            ids |= self._ids_of(event.of)
        # A checkpoint that was just saved is open, which is also the state without any event.
        is_first = event.action == "saved" and not any(map(self._has_events, ids))
        # An act with several events is a target of each, so that its events can be found.
        targets = {*ids, *([event.act] if event.act else [])}
        self._db.executemany(
            "INSERT OR IGNORE INTO targets VALUES (?, ?)", [(each, seq) for each in targets]
        )
        if event.action in {"resumed", "consumed"} and event.session_id is not None:
            self._db.execute("INSERT OR IGNORE INTO joins VALUES (?, ?)", (event.session_id, seq))
        if event.action == "saved":
            self._db.executemany("DELETE FROM unlogged WHERE id = ?", [(i,) for i in event.ids])
        if event.action == "joined":
            self._join(event)
        return set() if is_first else ids

    def _join(self, event: layout.StoreEvent) -> None:
        """Move checkpoints to the thread that they have joined."""
        for checkpoint_id in event.ids:
            known = self._find_row(checkpoint_id)
            if known is not None:
                self._slots |= {known[1], event.thread or known[1]}
                self._db.execute(
                    "UPDATE checkpoints SET slot = ? WHERE id = ?",
                    (event.thread or known[1], checkpoint_id),
                )

    def _has_events(self, checkpoint_id: str) -> bool:
        query = "SELECT 1 FROM targets WHERE checkpoint = ? LIMIT 1"
        return self._db.execute(query, (checkpoint_id,)).fetchone() is not None

    def _ids_of(self, event_id: str) -> set[str]:
        """Return the checkpoints of an event, or of all events of an act."""
        ids: set[str] = set()
        # What is redone is an undo, and that may be of an act with several events. A damaged log
        # may have events that are of each other.
        seen: set[str] = set()
        while event_id and event_id not in seen:
            seen.add(event_id)
            row = self._db.execute("SELECT body FROM events WHERE id = ?", (event_id,)).fetchone()
            if row is None:
                return ids | {each for event in self._load_events(event_id) for each in event.ids}
            event = layout.decode_event(row[0])
            ids |= {*event.ids, *event.hides}
            event_id = event.of or ""
        return ids

    def _load_events(self, checkpoint_id: str) -> list[layout.StoreEvent]:
        rows = self._db.execute(EVENTS_OF, (checkpoint_id,)).fetchall()
        return [layout.decode_event(row[0]) for row in rows]


_POINT_HEAD = """
UPDATE checkpoints SET is_head = NOT is_head WHERE slot = :slot AND is_head IS NOT (id IS (
  SELECT id FROM checkpoints WHERE slot = :slot AND state != 'undone' ORDER BY id DESC LIMIT 1
))
"""
_IDS_IN = "SELECT id FROM checkpoints WHERE area = ? AND id BETWEEN ? AND ?"
_COUNT_IN = "SELECT count(*) FROM checkpoints WHERE area = ? AND id BETWEEN ? AND ?"
_UPDATE_TALLY = """
UPDATE tally SET checkpoints = checkpoints + ?, events = (SELECT ifnull(max(seq), 0) FROM events)
"""
_INSERT = (
    f"INSERT INTO checkpoints ({', '.join(COLUMNS)}) "  # noqa: S608 - our own column names
    f"VALUES ({', '.join(f':{name}' for name in COLUMNS)})"
)
_INSERT_WORDS = "INSERT INTO words (rowid, text, branch, agent) VALUES (?, ?, ?, ?)"


def _fold_state(checkpoint_id: str, logged: Sequence[layout.StoreEvent]) -> layout.State:
    if len(logged) == 1 and logged[0].action == "saved":
        return "open"  # the usual case; folding would give the same
    return fold_events.fold_events(logged).get(checkpoint_id, "open")


def _find_bounds(shard: str) -> tuple[str, str]:
    prefix = shard.replace("-", "")
    return prefix, prefix + "Z"
