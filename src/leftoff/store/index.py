"""Query checkpoints through a SQLite index instead of reading every file.

The index is derived from the files. It may be deleted, truncated or of another version at any
moment; leftoff then rebuilds it silently.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import AUTOMATIC, is_automatic
from leftoff.store import fold_events, layout
from leftoff.store.database import LogIndex
from leftoff.store.index_sync import EVENTS_OF, TABLES, UNSEEN, CheckpointRows, WatchReading
from leftoff.store.layout import Area
from leftoff.store.search_text import join_cjk, match_expression, snippet


class CheckpointEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint as the index describes it."""

    id: str
    area: int
    slot: str
    name: str | None
    saved_at: datetime
    as_of: datetime
    trigger: str | None
    agent: str | None
    session_id: str | None
    branch: str | None
    worktree: str | None
    task: str | None
    next_action: str | None
    left_off: str | None
    state: layout.State
    is_head: bool
    problem: str | None

    @property
    def is_autosave(self) -> bool:
        """Whether leftoff saved it without being asked."""
        return is_automatic(self.trigger, self.name)

    @property
    def is_open(self) -> bool:
        """Whether its thread can be continued: it is readable and has not ended."""
        return self.state in layout.LISTED and self.problem is None


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A search: words and filters."""

    words: str
    branch: str | None = None
    agent: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    with_trashed: bool = False
    limit: int = 20


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A thread as it is now, with the text around the match."""

    entry: CheckpointEntry
    snippet: str
    is_earlier: bool = False
    """Whether only an earlier revision matches."""


# How long a save waits while another process brings the index up to date.
_PATIENCE_SECONDS = 1.0
_AFTER_UNSEEN = chr(ord(UNSEEN) + 1)
_ID_PART = re.compile(r"[0-9a-fTZ-]{1,40}")
_COLUMNS = ", ".join(f"checkpoints.{name}" for name in CheckpointEntry.__struct_fields__)
_LISTED = ", ".join(repr(state) for state in sorted(layout.LISTED))
_TRASHED = ", ".join(repr(state) for state in sorted(layout.TRASHED))
# An older revision stays as it was when its thread ends.
_OPEN = (
    f"AND state NOT IN ({_TRASHED}) AND NOT EXISTS (SELECT 1 FROM checkpoints AS ended WHERE "  # noqa: S608 - literals
    f"ended.slot = checkpoints.slot AND ended.is_head AND ended.state IN ({_TRASHED}))"
)
_AUTOMATIC = ", ".join(repr(trigger) for trigger in sorted(AUTOMATIC))


class StoreIndex(LogIndex):
    """An open index over a project's areas."""

    tables = TABLES

    def __init__(
        self,
        path: Path | None,
        areas: Sequence[Area],
        *,
        like: Path | None = None,
        is_only_asked: bool = False,
        is_scratch: bool = False,
    ) -> None:
        """Open the index at a path, or one in memory that starts as a copy of another path's."""
        self.place = (path, areas)
        self.areas = areas
        self.watch: WatchReading | None = None
        """Shows how far a rebuild is."""
        self._is_confirmed = False
        logs = [area.log for area in areas]
        super().__init__(path, logs, like=like, is_only_asked=is_only_asked, is_scratch=is_scratch)

    @property
    def is_settled(self) -> bool:
        """Whether it is in the store and no fallback is in use, so its place will not change."""
        return self.place[0] is not None and len(self.areas) == 1

    def _make_rows(self) -> CheckpointRows:
        return CheckpointRows(self._db, self.areas, self.watch)

    def _make_scratch(self) -> "StoreIndex":
        return StoreIndex(None, self.areas, is_scratch=True)

    def catch_up(self) -> None:
        """Read what is new, unless another process is already doing so."""
        self._ask(lambda: self._sync(_PATIENCE_SECONDS))

    def confirm(self) -> bool:
        """Compare the number of files with the index, and return whether anything was missing.

        An empty result is always confirmed this way, once for each open index.
        """
        if self._is_confirmed:
            return False
        self._is_confirmed = True
        is_odd = self._ask(self._mark_miscounted)
        if is_odd:
            self.sync()
        return is_odd

    def _mark_miscounted(self) -> bool:
        with self._database.turn():
            return self._make_rows().mark_miscounted()

    def list_unlogged(self) -> list[CheckpointEntry]:
        """Return the checkpoints that have no line in the log."""
        # Not one query: SQLite would not start with the short list, and read every checkpoint.
        found = [self.get(row[0]) for row in self._rows("SELECT id FROM unlogged")]
        return [entry for entry in found if entry is not None and entry.problem is None]

    def list_unseen(self) -> list[tuple[list[str], str]]:
        """Return the threads that were saved while the store could not be read.

        Each as its checkpoints and the thread that they belong to: the open one that already had
        that name, or one of their own.
        """
        found = self._many("WHERE slot >= ? AND slot < ? AND is_head", (UNSEEN, _AFTER_UNSEEN))
        return [
            ([each.id for each in self.revisions(head.slot)], thread)
            for head in found
            if (thread := self._find_meant(head)) is not None
        ]

    def _find_meant(self, unseen: CheckpointEntry) -> str | None:
        """Return the thread that a save should have continued; None while that is not certain."""
        own = unseen.slot.removeprefix(UNSEEN)
        where = f"WHERE name = ? AND is_head AND state IN ({_LISTED}) ORDER BY as_of DESC, id DESC"
        for head in self._many(where, (unseen.name,)) if unseen.state in layout.LISTED else []:
            # A thread that was opened later cannot have been meant.
            if head.slot != unseen.slot and self.revisions(head.slot)[-1].id < own:
                return head.slot
        return None if self.unreadable() else own

    def stale_counts(self) -> tuple[int, int]:
        """Count the files in changed folders, and how many of them the index knows."""
        return self._ask(lambda: self._make_rows().stale_counts())

    def events_of(self, checkpoint_id: str) -> list[layout.StoreEvent]:
        """Return the events of a checkpoint, oldest first."""
        rows = self._rows(EVENTS_OF, (checkpoint_id,))
        return [layout.decode_event(row[0]) for row in rows]

    def event(self, event_id: str) -> layout.StoreEvent | None:
        """Return an event by its id."""
        rows = self._rows("SELECT body FROM events WHERE id = ?", (event_id,))
        return layout.decode_event(rows[0][0]) if rows else None

    def find_undoable(self) -> layout.StoreEvent | None:
        """Return the newest act that can still be undone, with everything that it saved."""
        return self._ask(lambda: next(filter(self._can_undo, self._undoable()), None))

    def find_redoable(self) -> tuple[layout.StoreEvent, layout.StoreEvent] | None:
        """Return the newest undo that can be redone, and the act that it reverted."""
        return self._ask(lambda: next(self._redoable(), None))

    def _undoable(self) -> Iterator[layout.StoreEvent]:
        return map(self._complete_act, fold_events.list_undoable(self._steps()))

    def _redoable(self) -> Iterator[tuple[layout.StoreEvent, layout.StoreEvent]]:
        for undone in fold_events.list_redoable(self._steps()):
            act = self.find_act(undone.of or "")
            if act is not None and (act.snapshots or self._has_any(act.ids)):
                yield undone, act

    def find_act(self, act_id: str) -> layout.StoreEvent | None:
        """Return what an undo names, as one event."""
        found = self.event(act_id) or next(iter(self.events_of(act_id)), None)
        return self._complete_act(found) if found is not None else None

    def list_touched(self, event: layout.StoreEvent) -> list[str]:
        """Return the checkpoints that an event changed; for an undo or redo, also indirectly."""
        own = [*event.ids, *event.hides]
        of = self.find_act(event.of) if event.of is not None else None
        if of is None:
            return own
        return [*own, *self.list_touched(of), *([of.replaced] if of.replaced else [])]

    def _complete_act(self, event: layout.StoreEvent) -> layout.StoreEvent:
        """Return the act that an event belongs to, as one event."""
        if event.act is None:
            return event
        together = self.events_of(event.act)
        ids = [*dict.fromkeys(checkpoint_id for each in together for checkpoint_id in each.ids)]
        return msgspec.structs.replace(together[0], ids=ids)

    def _steps(self) -> Iterator[layout.StoreEvent]:
        query = "SELECT body FROM events WHERE is_step ORDER BY seq DESC"
        return (layout.decode_event(row[0]) for row in self._db.execute(query))

    def _can_undo(self, act: layout.StoreEvent) -> bool:
        # What was purged cannot come back, and an overwrite without its old revision stays.
        if act.snapshots:
            return True
        return self._has_any(act.ids) and (not act.replaced or self._has_any([act.replaced]))

    def _has_any(self, ids: Iterable[str]) -> bool:
        return any(self.get(checkpoint_id) for checkpoint_id in ids)

    def find_end(self, checkpoint_id: str) -> datetime | None:
        """Return when a checkpoint's thread ended, by being done, dropped or cleared."""
        ends = [each for each in self.events_of(checkpoint_id) if each.action in layout.ENDS]
        return ends[-1].at if ends else None

    def newest_events(self, limit: int) -> list[layout.StoreEvent]:
        """Return the newest events, newest first."""
        rows = self._rows("SELECT body FROM events ORDER BY seq DESC LIMIT ?", (limit,))
        return [layout.decode_event(row[0]) for row in rows]

    def head(self, slot: str) -> CheckpointEntry | None:
        """Return the newest revision in a slot."""
        return self._one("WHERE slot = ? AND is_head", (slot,))

    def find_named(self, name: str) -> CheckpointEntry | None:
        """Return the head of the thread with this name: an open one first, then the newest."""
        order = f"ORDER BY state IN ({_LISTED}) DESC, as_of DESC, id DESC LIMIT 1"
        return self._one(f"WHERE name = ? AND is_head {order}", (name,))

    def find_renamed(self, name: str) -> CheckpointEntry | None:
        """Return the head of the thread that last had this name, if it has another one now."""
        former = self._one("WHERE name = ? ORDER BY id DESC LIMIT 1", (name,))
        return self.head(former.slot) if former is not None else None

    def find_purposeful(self, slot: str) -> CheckpointEntry | None:
        """Return the newest revision in a slot that somebody saved on purpose."""
        where = (
            f"WHERE slot = ? AND state != 'undone' AND problem IS NULL AND name IS NOT NULL "
            f"AND trigger NOT IN ({_AUTOMATIC}) ORDER BY id DESC LIMIT 1"
        )
        return self._one(where, (slot,))

    def is_shipped(self, slot: str) -> bool:
        """Return whether nobody saved a thread on purpose since it was last shipped."""
        where = (
            f"WHERE slot = ? AND state != 'undone' AND problem IS NULL "
            f"AND (trigger = 'ship' OR trigger NOT IN ({_AUTOMATIC})) ORDER BY id DESC LIMIT 1"
        )
        found = self._one(where, (slot,))
        return found is not None and found.trigger == "ship"

    def find_joined(self, session_id: str) -> layout.StoreEvent | None:
        """Return the event with which a session last resumed a thread, unless that was undone."""
        query = (
            "SELECT body FROM joins JOIN events USING (seq) WHERE session_id = ? ORDER BY seq DESC"
        )
        for row in self._rows(query, (session_id,)):
            event = layout.decode_event(row[0])
            history = [each for checkpoint in event.ids for each in self.events_of(checkpoint)]
            reverted = fold_events.list_reverted(history)
            if event.id not in reverted and not any(
                each.id not in reverted and _leaves(each, event, session_id) for each in history
            ):
                return event
        return None

    def find_thread(self, session_id: str | None) -> CheckpointEntry | None:
        """Return the head of the thread that a session works on, open or ended; None without one.

        A session joins a thread by resuming it or by saving into it, whichever came last. Both are
        in the event log, so undoing a resume takes the session out again.
        """
        if not session_id:
            return None
        saved, joined = self.newest_of_session(session_id), self.find_joined(session_id)
        slot = saved.slot if saved is not None else None
        # The ids of checkpoints and events both begin with their time, so they can be compared.
        if joined is not None and (saved is None or joined.id > saved.id):
            entries = [self.get(each) for each in joined.ids]
            slot = next((entry.slot for entry in entries if entry is not None), slot)
        return self.head(slot) if slot is not None else None

    def find_open_thread(self, session_id: str | None) -> CheckpointEntry | None:
        """Return the head of the thread that a session works on, if it is still open."""
        found = self.find_thread(session_id)
        return found if found is not None and found.is_open else None

    def last_id(self, slot: str) -> str | None:
        """Return the greatest id in a slot, whatever state that revision is in."""
        rows = self._rows("SELECT max(id) FROM checkpoints WHERE slot = ?", (slot,))
        return rows[0][0] if rows else None

    def has_revision(
        self, ids: Iterable[str], slots: Collection[str | None], name: str | None
    ) -> bool:
        """Return whether one of these checkpoints is in one of these slots or has this name."""
        found = [self.get(each) for each in ids]
        return any(each and (each.slot in slots or each.name == name) for each in found)

    def autosave(self) -> CheckpointEntry | None:
        """Return the newest head that leftoff saved on its own and that is not in the trash."""
        where = f"WHERE is_autosave AND is_head AND state IN ({_LISTED}) AND problem IS NULL"
        return self._one(f"{where} ORDER BY as_of DESC, id DESC LIMIT 1", ())

    def get(self, checkpoint_id: str) -> CheckpointEntry | None:
        """Return the checkpoint with this id."""
        return self._one("WHERE id = ?", (checkpoint_id,))

    def with_prefix(self, prefix: str) -> list[CheckpointEntry]:
        """Return the checkpoints whose id starts or ends with this text."""
        if not _ID_PART.fullmatch(prefix):
            return []
        where = "WHERE (id >= ? AND id < ?) OR id LIKE ? ORDER BY id DESC LIMIT 20"
        return self._many(where, (prefix, prefix + "~", f"%-{prefix}%"))

    def heads(self, states: Iterable[layout.State], limit: int) -> list[CheckpointEntry]:
        """Return the newest revision of each slot; the one with the last activity comes first."""
        wanted = [*states]
        # One query per state can stop at the limit by using the index; `state IN` would sort all
        # rows.
        each = (
            "SELECT rowid FROM (SELECT rowid FROM checkpoints WHERE is_head AND state = ? "
            "ORDER BY as_of DESC, id DESC LIMIT ?)"
        )
        union = " UNION ALL ".join([each] * len(wanted))
        values = [value for state in wanted for value in (state, limit)]
        where = f"WHERE rowid IN ({union}) ORDER BY as_of DESC, id DESC LIMIT ?"
        found = self._many(where, (*values, limit))
        if not found and self.confirm():
            found = self._many(where, (*values, limit))
        return found

    def count_heads(self, states: Iterable[layout.State]) -> int:
        """Count the slots whose newest revision is in one of these states."""
        marks = ", ".join(repr(state) for state in states)
        query = f"SELECT count(*) FROM checkpoints WHERE is_head AND state IN ({marks})"  # noqa: S608 - literals
        return int(self._rows(query, ())[0][0])

    def newest(self, limit: int) -> list[CheckpointEntry]:
        """Return the newest checkpoints of any kind, newest first."""
        return self._many("ORDER BY id DESC LIMIT ?", (limit,))

    def newest_of_session(self, session_id: str) -> CheckpointEntry | None:
        """Return the newest checkpoint of a session, under any name, unless that was undone."""
        where = "WHERE session_id = ? AND state != 'undone' ORDER BY id DESC LIMIT 1"
        return self._one(where, (session_id,))

    def of_session(self, session_id: str, limit: int) -> list[CheckpointEntry]:
        """Return the checkpoints of a session, under any name, newest first."""
        return self._many("WHERE session_id = ? ORDER BY id DESC LIMIT ?", (session_id, limit))

    def newest_autosaves(self, limit: int) -> list[CheckpointEntry]:
        """Return the last autosave of each session in open threads, among the newest autosaves."""
        where = "WHERE is_autosave AND state != 'undone' AND problem IS NULL"
        found: dict[tuple[str, str | None], CheckpointEntry] = {}
        for entry in self._many(f"{where} ORDER BY id DESC LIMIT ?", (limit,)):
            found.setdefault((entry.slot, entry.session_id), entry)
        heads = {slot: self.head(slot) for slot, _ in found}
        return [
            entry
            for entry in found.values()
            if (head := heads[entry.slot]) is not None and head.state in layout.LISTED
        ]

    def revisions(self, slot: str) -> list[CheckpointEntry]:
        """Return all revisions in a slot, newest first."""
        return self._many("WHERE slot = ? ORDER BY id DESC", (slot,))

    def list_trashed(self, limit: int) -> list[CheckpointEntry]:
        """Return what was finished, dropped, cleared or undone, newest first."""
        return self._many(f"WHERE state IN ({_TRASHED}) ORDER BY id DESC LIMIT ?", (limit,))

    def before(self, moment: datetime, *, with_heads: bool) -> list[CheckpointEntry]:
        """Return what was saved before a moment: hidden revisions, or all with `with_heads`."""
        kept = "" if with_heads else f"AND NOT (is_head AND state IN ({_LISTED}))"
        where = f"WHERE id < ? AND problem IS NULL {kept} ORDER BY id"
        return self._many(where, (f"{moment.astimezone(UTC):%Y%m%dT%H%M%S}000Z",))

    def unreadable(self) -> list[CheckpointEntry]:
        """Return the files that cannot be read as checkpoints, newest first."""
        return self._many("WHERE problem IS NOT NULL ORDER BY id DESC LIMIT 100", ())

    def names_like(self, prefix: str, *, only_open: bool = False) -> list[str]:
        """Return the names in use that start with the prefix; those of ended threads, too."""
        where = f"is_head AND name >= ? AND name < ? {'AND ' * only_open}"
        where += f"state IN ({_LISTED})" if only_open else ""
        rows = self._rows(
            f"SELECT DISTINCT name FROM checkpoints WHERE {where}",  # noqa: S608 - literals
            (prefix, prefix + "\U0010ffff"),
        )
        return [row[0] for row in rows if row[0]]

    def search(self, query: Query) -> list[Hit]:
        """Find threads by words: the one with the newest revision that matches comes first.

        They are not ranked. Ranking visits every match, and a word that occurs in all of 100,000
        checkpoints would take a quarter of a second.
        """
        match = match_expression(query.words, branch=query.branch, agent=query.agent)
        # Row numbers begin with the time, so a time range is a range of rows.
        high = int(query.until.timestamp() * 1000) << 20 if query.until else (1 << 63) - 1
        found: dict[str, Hit] = {}
        # A thread may have any number of revisions that match, so each page is longer.
        page = 2 * query.limit
        while match and len(found) < query.limit:
            rows = self._search_page(query, match, high, page)
            for row in rows:
                entry = _build_entry(row[1:-1])
                if entry.slot not in found:
                    text = snippet(join_cjk(row[-1]), query.words)
                    found[entry.slot] = self._build_hit(entry, text)
            if len(rows) < page:
                break
            high, page = rows[-1][0] - 1, 4 * page
        return [*found.values()][: query.limit]

    def _build_hit(self, found: CheckpointEntry, text: str) -> Hit:
        """Return the thread as it is now: what an earlier revision said was next may be done."""
        head = None if found.is_head else self.head(found.slot)
        if head is None or head.problem is not None:
            return Hit(entry=found, snippet=text)
        return Hit(entry=head, snippet=text, is_earlier=True)

    def _search_page(
        self, query: Query, match: str, high: int, limit: int
    ) -> list[tuple[Any, ...]]:
        """Return matching rows up to a row number: that number, the entry and its text."""
        low = int(query.since.timestamp() * 1000) << 20 if query.since else 0
        filters = (query.branch, query.branch is None, query.agent, query.agent is None)
        return self._rows(
            f"SELECT words.rowid, {_COLUMNS}, words.text FROM words JOIN checkpoints "  # noqa: S608 - column names are ours
            "ON words.rowid = checkpoints.rowid "
            "WHERE words MATCH ? AND words.rowid BETWEEN ? AND ? "
            f"{'' if query.with_trashed else _OPEN} "
            "AND ifnull(checkpoints.branch = ?, ?) AND ifnull(checkpoints.agent = ?, ?) "
            "ORDER BY words.rowid DESC LIMIT ?",
            (match, low, high, *filters, limit),
        )

    def recheck(self, entries: Sequence[CheckpointEntry]) -> bool:
        """Reread files that were edited in place, and return whether there were any."""
        changed = [entry.id for entry in entries if self._differs(entry)]
        if changed:
            self._ask(lambda: self._reread(changed))
        return bool(changed)

    def _reread(self, ids: Sequence[str]) -> None:
        with self._database.turn():
            self._make_rows().reread(ids)

    def _differs(self, entry: CheckpointEntry) -> bool:
        rows = self._rows("SELECT size, mtime FROM checkpoints WHERE id = ?", (entry.id,))
        try:
            found = self.areas[entry.area].path_of(entry.id).lstat()
        except OSError:
            return entry.problem is None
        return (found.st_size, found.st_mtime_ns) not in rows

    def _many(self, where: str, values: Sequence[object]) -> list[CheckpointEntry]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM checkpoints {where}", values)  # noqa: S608 - column names are ours
        return [_build_entry(row) for row in rows]

    def _one(self, where: str, values: Sequence[object]) -> CheckpointEntry | None:
        return next(iter(self._many(where, values)), None)


def _leaves(event: layout.StoreEvent, joined: layout.StoreEvent, session_id: str) -> bool:
    """Return whether an event takes a session out of the thread that it had joined.

    What somebody declines in a terminal says nothing about the sessions of others.
    """
    is_later = event.action == "declined" and event.id > joined.id
    return is_later and event.session_id == session_id


def _build_entry(row: Sequence[Any]) -> CheckpointEntry:
    values = dict(zip(CheckpointEntry.__struct_fields__, row, strict=True))
    values["saved_at"] = datetime.fromtimestamp(values["saved_at"], UTC)
    values["as_of"] = datetime.fromtimestamp(values["as_of"], UTC)
    values["is_head"] = bool(values["is_head"])
    return CheckpointEntry(**values)
