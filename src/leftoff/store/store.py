"""Save, list, find and undo a project's checkpoints, in the store and its fallback."""

import contextlib
import functools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff import store as store_room
from leftoff.checkpoint import Checkpoint, decode, new_id, storable
from leftoff.errors import StoreRefused
from leftoff.projects.project import Project
from leftoff.store import disk, layout, log
from leftoff.store.current_revision import Standings
from leftoff.store.index import CheckpointEntry, Hit, Query, StoreIndex
from leftoff.store.index_sync import UNSEEN, WatchReading, slot_of
from leftoff.store.layout import LISTED, Action, Area, Areas, StoreEvent


class SavedCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that is on disk; `notice` is set if it was written to the fallback."""

    checkpoint: Checkpoint
    path: Path
    replaced: str | None = None
    notice: str | None = None


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def _as_it_is(project: Project) -> Project:
    """Return a project with its store where it is now, before the next command moves it."""
    if project.store.is_dir() or not project.earlier:
        return project
    return msgspec.structs.replace(project, store=project.earlier[0], earlier=())


class Store:
    """Reads and writes the checkpoints of one project."""

    def __init__(
        self,
        project: Project,
        *,
        now: Callable[[], datetime] = utc_now,
        leaves_no_trace: bool = False,
        watch: WatchReading | None = None,
    ) -> None:
        """Open a project's store; with `leaves_no_trace`, for reading only.

        `watch` shows how far the reading of many checkpoints is.
        """
        self._watch = watch
        self.project = project
        self.now = now
        self._leaves_no_trace = leaves_no_trace
        self._areas = Areas(_as_it_is(project) if leaves_no_trace else project)
        self._index: StoreIndex | None = None
        self.shown_or_hidden: set[str] = set()
        """The checkpoints that this process has hidden or shown again."""

    @functools.cached_property
    def _standings(self) -> Standings:
        # Only a save needs it.
        return Standings(self._areas)

    def close(self) -> None:
        """Close the index."""
        # A cached property is in __dict__ only after its first use.
        if "_standings" in self.__dict__:
            self._standings.leave()
        if self._index is not None:
            self._index.close()
            self._index = None

    # Writing

    def save(self, draft: Checkpoint, *, overwrite: bool = False) -> SavedCheckpoint:
        """Store a checkpoint under a new id, as a revision of its thread.

        Without a thread, a name continues the open thread with that name, or opens a new one. The
        name of another open thread requires `overwrite`.
        """
        draft = storable(draft)
        if draft.name is None and draft.thread is None:
            draft = msgspec.structs.replace(draft, thread=slot_of(draft))

        def act(area: Area) -> SavedCheckpoint:
            standing, last_id, is_known = self._standings.find_previous(draft, self.now())
            if standing is None or (standing.state not in LISTED and draft.thread is None):
                is_unseen = overwrite and not is_known
                return self._store_revision(
                    area, draft, None, last_id if draft.thread else None, is_unseen=is_unseen
                )
            if standing.slot != draft.thread and not overwrite:
                raise store_room.name_errors.name_taken(standing)
            into = msgspec.structs.replace(draft, thread=standing.slot)
            is_seen = draft.name is not None and standing.state in LISTED
            # No one asked for an autosave, so there is nothing to undo.
            is_replaced = is_seen and not draft.is_autosave
            return self._store_revision(area, into, standing.id if is_replaced else None, last_id)

        return self._areas.write(act)

    def add(self, checkpoint: Checkpoint) -> SavedCheckpoint | None:
        """Store a checkpoint that already has an id and time; None if it is stored already."""
        given = storable(checkpoint)

        def act(area: Area) -> SavedCheckpoint | None:
            checkpoint = self._with_thread(given)
            event = StoreEvent(
                id=checkpoint.id,
                at=self.now(),
                action="saved",
                ids=[checkpoint.id],
                name=checkpoint.name,
                thread=checkpoint.thread,
                act=checkpoint.act,
                trigger="import",
            )
            try:
                path = area.write(checkpoint)
            # The same checkpoint was imported before.
            except FileExistsError:
                return None
            with contextlib.suppress(OSError, StoreRefused):
                area.append(event, durable=False)
            return SavedCheckpoint(
                checkpoint=checkpoint, path=path, notice=self._areas.notice(area)
            )

        return self._areas.write(act)

    def _with_thread(self, checkpoint: Checkpoint) -> Checkpoint:
        """Put a checkpoint without a thread into the one that has its name, open or not."""
        if checkpoint.thread is not None or checkpoint.name is None or self.is_far_behind():
            return checkpoint
        standing = self._standings.find_previous(checkpoint, self.now()).head
        # Without one, the name itself is the thread, as in version 0.1.
        slot = standing.slot if standing is not None else None
        return msgspec.structs.replace(checkpoint, thread=slot)

    def _store_revision(
        self,
        area: Area,
        draft: Checkpoint,
        replaced: str | None,
        last_id: str | None,
        *,
        is_unseen: bool = False,
    ) -> SavedCheckpoint:
        now = self.now()
        new = new_id(now, after=last_id)
        # A new thread is known by the id of its first checkpoint. If the store could not be read,
        # the next reader finds out which thread was to be continued.
        thread = draft.thread or (f"{UNSEEN}{new}" if is_unseen else new)
        checkpoint = msgspec.structs.replace(draft, id=new, saved_at=now, thread=thread)
        path = area.write(checkpoint)
        # The checkpoint's file is the record and already on disk. The log line only orders it among
        # the events, so it is not synced. A failure to write it does not fail the save; the next
        # reader adds the line.
        saved = StoreEvent(
            id=new,
            at=now,
            action="saved",
            ids=[new],
            name=draft.name,
            thread=thread,
            replaced=replaced,
            act=draft.act,
            trigger=layout.name_trigger(draft.trigger),
        )
        try:
            place = area.append(saved, durable=False)
        except (OSError, StoreRefused):
            self._standings.miss()
        else:
            self._standings.follow(area, saved, place)
        return SavedCheckpoint(
            checkpoint=checkpoint, path=path, replaced=replaced, notice=self._areas.notice(area)
        )

    def record(
        self,
        action: Action,
        ids: Sequence[str],
        *,
        session: tuple[str, str] | None = None,
        trigger: str | None = None,
        act: str | None = None,
    ) -> StoreEvent:
        """Record durably what happened to checkpoints, in which session and by which act."""
        agent, session_id = session or (None, None)
        source = {"agent": agent, "session_id": session_id, "trigger": trigger, "act": act}
        event = layout.build_event(self.now(), action, list(ids), **source)
        self._areas.write(lambda area: area.append(event))
        if action in {"cleared", "restored"}:
            self.shown_or_hidden.update(ids)
        return event

    def record_code(self, restored: str, before: str, paths: Sequence[str]) -> StoreEvent:
        """Record durably that the code of a snapshot was restored, so that it can be undone."""
        event = layout.build_event(
            self.now(), "code-restored", [], snapshots=(restored, before), paths=list(paths)
        )
        self._areas.write(lambda area: area.append(event))
        return event

    def undo(self) -> StoreEvent | None:
        """Revert the newest act, and return it."""
        return self._revert(store_room.revert_acts.plan_undo)

    def redo(self) -> StoreEvent | None:
        """Bring back the act that was undone last, and return it."""
        return self._revert(store_room.revert_acts.plan_redo)

    def _revert(
        self, plan: Callable[[StoreIndex, datetime], tuple[StoreEvent, StoreEvent] | None]
    ) -> StoreEvent | None:
        planned: list[tuple[StoreEvent, StoreEvent]] = []

        def act(area: Area) -> StoreEvent | None:
            # Planned only once: if the line was written but not synced, `act` runs again for the
            # fallback, and that must not revert a second event.
            if not planned and (found := plan(self.index(), self.now())):
                planned.append(found)
            for reverted, event in planned:
                area.append(event)
                self.shown_or_hidden.update([*reverted.ids, *event.ids, *event.hides])
                return reverted
            return None

        return self._areas.write(act)

    def purge(self, entries: Sequence[CheckpointEntry]) -> None:
        """Delete checkpoints permanently."""

        def act(area: Area) -> None:
            for entry in entries:
                path = self._area(entry).path_of(entry.id)
                path.unlink(missing_ok=True)
            # One sync per folder, not per file, makes all deletions durable.
            for folder in {self._area(entry).path_of(entry.id).parent for entry in entries}:
                disk.sync_folder(folder)
            ids = [entry.id for entry in entries]
            area.append(layout.build_event(self.now(), "purged", ids))

        self._areas.write(act)

    # Sessions

    def read_session(self, agent: str, session_id: str) -> bytes | None:
        """Return the stored bytes of a session."""
        for area in reversed(self._areas.in_use()):
            with contextlib.suppress(OSError, StoreRefused):
                return disk.read(area.session_file(agent, session_id))[0]
        return None

    def keep_session(self, agent: str, session_id: str, data: bytes) -> None:
        """Store the bytes of a session and replace the earlier ones."""

        def act(area: Area) -> None:
            path = area.session_file(agent, session_id)
            disk.ensure_folder(path.parent)
            disk.replace(path, data, temps=area.temps)

        self._areas.write(act)

    # Logs

    def events_since(
        self, mark: tuple[int, int] | None
    ) -> tuple[list[StoreEvent], tuple[int, int]]:
        """Return the events beyond a mark and the new mark; if the log was replaced, return all."""
        try:
            inode = self._areas.main.log.stat().st_ino
        except OSError:
            return [], mark or (0, 0)
        offset = mark[1] if mark is not None and mark[0] == inode else 0
        found, end = log.read(self._areas.main.log, layout.decode_event, offset)
        return found, (inode, end)

    def has_events_since(self, mark: tuple[int, int]) -> bool:
        """Return whether the log grew beyond a mark or was replaced."""
        try:
            found = self._areas.main.log.stat()
        except OSError:
            return False
        return (found.st_ino, found.st_size) != mark

    def append_line(self, name: str, line: bytes) -> None:
        """Append a line to one of the project's logs, durably."""
        self._areas.write(lambda area: disk.append(area.root / f"{name}.jsonl", line))

    def read_log(self, name: str, decode: log.Decode[log.LogRecord]) -> list[log.LogRecord]:
        """Return all records of a log."""
        return [each for path in self.log_paths(name) for each in log.read(path, decode)[0]]

    def log_paths(self, name: str) -> list[Path]:
        """Return the paths of a log: in the store, and in the fallback while that is in use."""
        return [area.root / f"{name}.jsonl" for area in self._areas.in_use()]

    def fallbacks(self) -> list[Path]:
        """Return the folders with files that could not be written to the store."""
        return [area.root for area in self._areas.fallbacks()]

    def find_cache_path(self, name: str) -> Path | None:
        """Return a path for a file that can be rebuilt any time; None if no folder is writable."""
        return self._areas.find_cache_path(name)

    # Reading

    def index(self) -> StoreIndex:
        """Return the index after bringing it up to date."""
        if not self._leaves_no_trace:
            self._areas.adopt_waiting()
        index = self.open_index()
        index.sync()
        if not self._leaves_no_trace and (index.list_unlogged() or index.list_unseen()):
            store_room.repair_log.repair_log(self._areas.main, index, self.now())
        return index

    def is_far_behind(self) -> bool:
        """Return whether the index is too far behind for a save to wait for it."""
        return self._index is None and self._standings.is_far_behind()

    def names_like(self, prefix: str) -> list[str]:
        """Return the names in use that start with the prefix, with or without an index."""
        found = self._standings.names_like(prefix) if self._index is None else None
        return self.index().names_like(prefix) if found is None else found

    def open_index(self) -> StoreIndex:
        """Return the index as it is, possibly without what was just written."""
        place = (self.find_cache_path("index.sqlite"), self._areas.in_use())
        if self._leaves_no_trace:
            self._index = self._index or StoreIndex(None, place[1], like=place[0])
            self._index.watch = self._watch
            return self._index
        # The store or the fallback may have been created since the index was opened.
        if self._index is None or self._index.place != place:
            self.close()
            self._index = StoreIndex(*place)
            self._index.watch = self._watch
        return self._index

    def _area(self, entry: CheckpointEntry) -> Area:
        return (self._areas.main, self._areas.fallback)[entry.area]

    def path_of(self, entry: CheckpointEntry) -> Path:
        """Return the path of a checkpoint's file."""
        return self._area(entry).path_of(entry.id)

    def read_raw(self, entry: CheckpointEntry) -> bytes:
        """Return the bytes of a checkpoint's file."""
        return self._area(entry).read(entry.id)[0]

    def load(self, entry: CheckpointEntry) -> Checkpoint:
        """Return a complete, validated checkpoint."""
        return decode(self.read_raw(entry), source=str(self.path_of(entry)))

    def find(self, key: str) -> CheckpointEntry:
        """Return the checkpoint with this name or id; the error for none names close matches."""
        index = self.index()
        found = index.find_named(key) or index.get(key) or index.find_renamed(key)
        if found is not None:
            return found
        if index.confirm():
            return self.find(key)
        matches = index.with_prefix(key) if len(key) >= 4 else []
        if len(matches) == 1:
            return matches[0]
        raise store_room.name_errors.explain_not_found(key, matches, index.names_like(""))

    def search(self, query: Query) -> list[Hit]:
        """Find checkpoints by words, newest first."""
        return self.index().search(query)
