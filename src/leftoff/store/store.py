"""The project's checkpoints as one view: the store's folder, and the fallback while it is full."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint, decode, new_id, storable
from leftoff.errors import StoreRefused
from leftoff.paths import Project
from leftoff.store import disk, events, refusals
from leftoff.store.area import Area
from leftoff.store.areas import Areas
from leftoff.store.events import LISTED, Action, Event
from leftoff.store.index import Entry, Hit, Index, Query
from leftoff.store.intake import slot_of
from leftoff.store.lag import Lag


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that is on disk; `notice` tells when it had to go to the fallback."""

    checkpoint: Checkpoint
    path: Path
    replaced: str | None = None
    notice: str | None = None


def utc_now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


def _as_it_is(project: Project) -> Project:
    """Return a project with the store it still has, where the next command would move it."""
    if project.store.is_dir() or not project.earlier:
        return project
    return msgspec.structs.replace(project, store=project.earlier[0], earlier=())


class Store:
    """All reading and writing of one project's checkpoints."""

    def __init__(
        self,
        project: Project,
        *,
        now: Callable[[], datetime] = utc_now,
        leaves_no_trace: bool = False,
    ) -> None:
        """Open a project's store; one that leaves no trace is for reading only."""
        self.project = project
        self.now = now
        self._leaves_no_trace = leaves_no_trace
        self._areas = Areas(_as_it_is(project) if leaves_no_trace else project)
        self._index: Index | None = None
        self._lag: Lag | None = None

    def close(self) -> None:
        """Let go of the index."""
        if self._index is not None:
            self._index.close()
            self._index = None
            self._lag = None

    # Writing

    def save(self, draft: Checkpoint, *, overwrite: bool = False) -> Saved:
        """Store a checkpoint under a new id; a name in use must be overwritten on purpose."""
        draft = storable(draft)

        def act(area: Area) -> Saved:
            standing, last_id = self._standing_if_readable(draft)
            if not (draft.name and standing and standing.state in LISTED):
                return self._store_revision(area, draft, None, last_id)
            if not overwrite:
                raise refusals.name_taken(standing)
            return self._store_revision(area, draft, standing.id, last_id)

        return self._areas.write(act)

    def add(self, checkpoint: Checkpoint) -> Saved | None:
        """Store a checkpoint that has its id and time already; None if it is here."""
        checkpoint = storable(checkpoint)

        def act(area: Area) -> Saved | None:
            event = Event(
                id=checkpoint.id,
                at=self.now(),
                action="saved",
                ids=[checkpoint.id],
                name=checkpoint.name,
            )
            try:
                path = area.write(checkpoint)
            except FileExistsError:
                return None
            with contextlib.suppress(OSError, StoreRefused):
                area.append(event, durable=False)
            return Saved(checkpoint=checkpoint, path=path, notice=self._areas.notice(area))

        return self._areas.write(act)

    def _store_revision(
        self, area: Area, draft: Checkpoint, replaced: str | None, last_id: str | None
    ) -> Saved:
        now = self.now()
        new = new_id(now, after=last_id)
        checkpoint = msgspec.structs.replace(draft, id=new, saved_at=now)
        path = area.write(checkpoint)
        # The checkpoint's file is the record, already on disk; the line only orders it among the
        # events. So it is not synced, and a log that cannot be written does not fail the save.
        with contextlib.suppress(OSError, StoreRefused):
            saved = Event(
                id=new, at=now, action="saved", ids=[new], name=draft.name, replaced=replaced
            )
            place = area.append(saved, durable=False)
            if self._lag is not None and area is self._areas.main:
                self._lag.follow(saved, place)
        return Saved(
            checkpoint=checkpoint, path=path, replaced=replaced, notice=self._areas.notice(area)
        )

    def record(
        self, action: Action, ids: Sequence[str], *, session: tuple[str, str] | None = None
    ) -> Event:
        """Note durably what happened to checkpoints, and in which agent's session, if in one."""
        agent, session_id = session or (None, None)
        event = self._event(action, list(ids), agent=agent, session_id=session_id)
        self._areas.write(lambda area: area.append(event))
        return event

    def undo(self) -> Event | None:
        """Revert the last event that took something away; return it."""

        def act(area: Area) -> Event | None:
            last = self.index().last_undoable()
            if last is not None:
                area.append(self._event("undone", [], of=last.id))
            return last

        return self._areas.write(act)

    def purge(self, entries: Sequence[Entry]) -> None:
        """Destroy checkpoints for good."""

        def act(area: Area) -> None:
            for entry in entries:
                path = self._area(entry).path_of(entry.id)
                path.unlink(missing_ok=True)
            for folder in {self._area(entry).path_of(entry.id).parent for entry in entries}:
                disk.sync_folder(folder)
            area.append(self._event("purged", [entry.id for entry in entries]))

        self._areas.write(act)

    def _event(self, action: Action, ids: list[str], **told: str | None) -> Event:
        now = self.now()
        return Event(id=new_id(now), at=now, action=action, ids=ids, **told)

    def _standing_if_readable(self, draft: Checkpoint) -> tuple[Entry | None, str | None]:
        # Where nothing can be read, it is still better to save: no file replaces another.
        with contextlib.suppress(OSError, StoreRefused):
            return self._standing(draft)
        return None, None

    def _standing(self, draft: Checkpoint) -> tuple[Entry | None, str | None]:
        """Return the revision before this one, and the last id given under the same name.

        The index need not be up to date for it, as long as its lag does not touch the name.
        """
        index = self._index if self._index and self._index.is_settled else self.opened_index()
        slot = slot_of(draft)
        lag = self._grown_lag(index)
        if lag is not None and not lag.may_concern(draft.name, None) and index.is_empty(slot):
            return None, None
        standing = index.head(slot)
        if lag is None or lag.may_concern(draft.name, standing):
            index.sync()
            self._lag = None
            standing = index.head(slot)
        return standing, index.last_id(slot)

    def _grown_lag(self, index: Index) -> Lag | None:
        """Return what the log tells beyond the index, or None if the index must tell."""
        if len(index.areas) > 1:
            return None
        if self._lag is None or not self._lag.grow():
            mark = index.mark()
            self._lag = Lag(self._areas.main.log, mark) if mark is not None else None
            if self._lag is not None and not self._lag.grow():
                self._lag = None
        return self._lag

    # Sessions

    def read_session(self, agent: str, session_id: str) -> bytes | None:
        """Return what is kept of a session, as it was given."""
        for area in reversed(self._areas.in_use()):
            with contextlib.suppress(OSError, StoreRefused):
                return disk.read(area.session_file(agent, session_id))[0]
        return None

    def keep_session(self, agent: str, session_id: str, data: bytes) -> None:
        """Keep what is known of a session, in place of what was kept before."""

        def act(area: Area) -> None:
            path = area.session_file(agent, session_id)
            disk.ensure_folder(path.parent)
            disk.replace(path, data, temps=area.temps)

        self._areas.write(act)

    # Logs

    def events_since(self, mark: tuple[int, int] | None) -> tuple[list[Event], tuple[int, int]]:
        """Return the events beyond a mark, and the mark after them; another log begins anew."""
        try:
            inode = self._areas.main.log.stat().st_ino
        except OSError:
            return [], mark or (0, 0)
        offset = mark[1] if mark is not None and mark[0] == inode else 0
        told, end = events.read(self._areas.main.log, offset)
        return told, (inode, end)

    def has_events_since(self, mark: tuple[int, int]) -> bool:
        """Say whether the log has grown beyond a mark, or is another one."""
        try:
            found = self._areas.main.log.stat()
        except OSError:
            return False
        return (found.st_ino, found.st_size) != mark

    def append_line(self, log: str, line: bytes) -> None:
        """Add a line to one of the project's logs, durably."""
        self._areas.write(lambda area: disk.append(area.root / f"{log}.jsonl", line))

    def lines(self, log: str) -> list[bytes]:
        """Return all whole lines of a log."""
        found: list[bytes] = []
        for path in self.log_paths(log):
            data = disk.read_from(path, 0)
            found += data[: data.rfind(b"\n") + 1].splitlines()
        return found

    def log_paths(self, log: str) -> list[Path]:
        """Tell where a log lies: in the store, and in the fallback while that is in use."""
        return [area.root / f"{log}.jsonl" for area in self._areas.in_use()]

    def derived_path(self, name: str) -> Path | None:
        """Tell where a file may lie that can be made anew at any moment; None if nowhere."""
        return self._areas.derived_path(name)

    # Reading

    def index(self) -> Index:
        """Return the index, up to date with the files."""
        if not self._leaves_no_trace:
            self._areas.take_in()
        index = self.opened_index()
        index.sync()
        return index

    def opened_index(self) -> Index:
        """Return the index as it is: it may not know yet what was just written."""
        place = (self.derived_path("index.sqlite"), self._areas.in_use())
        if self._leaves_no_trace:
            self._index = self._index or Index(None, place[1], like=place[0])
            return self._index
        # The store or the fallback may have come into being since.
        if self._index is None or self._index.place != place:
            self.close()
            self._index = Index(*place)
        return self._index

    def _area(self, entry: Entry) -> Area:
        return (self._areas.main, self._areas.fallback)[entry.area]

    def path_of(self, entry: Entry) -> Path:
        """Tell where a checkpoint's file is."""
        return self._area(entry).path_of(entry.id)

    def read_raw(self, entry: Entry) -> bytes:
        """Return a checkpoint's file as it is."""
        return self._area(entry).read(entry.id)[0]

    def load(self, entry: Entry) -> Checkpoint:
        """Return a checkpoint, whole and checked."""
        return decode(self.read_raw(entry), source=str(self.path_of(entry)))

    def find(self, key: str) -> Entry:
        """Return the checkpoint with this name or id, or say which ones there are."""
        index = self.index()
        found = index.head(key) or index.get(key)
        if found is not None:
            return found
        matches = index.with_prefix(key) if len(key) >= 4 else []
        if len(matches) == 1:
            return matches[0]
        raise refusals.not_found(key, matches, index.names_like(key[:1]))

    def search(self, query: Query) -> list[Hit]:
        """Find checkpoints by words, newest first."""
        return self.index().search(query)
