"""Name, read and write the files of a store, in the project's place or in its fallback.

A project has two such folders (areas): its store and its fallback. Files in the fallback are
adopted by the next command that can write to the store.
"""

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from leftoff import store as store_room
from leftoff.checkpoint import MANUAL, Checkpoint, encode, is_id, new_id
from leftoff.digests import sha256
from leftoff.errors import StoreRefused
from leftoff.projects import known_projects
from leftoff.projects.project import Project
from leftoff.projects.store_places import (
    find_marks_folder,
    find_plain_store,
    forget_mark,
    write_mark,
)
from leftoff.store import disk, log

# --- events ---


Action = Literal[
    "saved", "resumed", "declined", "consumed", "cleared", "dropped", "restored", "undone",
    "redone", "purged", "joined", "code-restored",
]  # fmt: skip
State = Literal["open", "resumed", "declined", "consumed", "cleared", "dropped", "undone"]

# The state that each action puts its checkpoints in.
STATE_AFTER: dict[Action, State] = {
    "saved": "open",
    "resumed": "resumed",
    "declined": "declined",
    "consumed": "consumed",
    "cleared": "cleared",
    "dropped": "dropped",
    "restored": "open",
}
LISTED: frozenset[State] = frozenset({"open", "resumed", "declined"})
TRASHED: frozenset[State] = frozenset({"consumed", "cleared", "dropped", "undone"})
# In these states the work has ended. A cleared checkpoint may still be worked on.
FINISHED: frozenset[State] = frozenset({"consumed", "dropped"})
ENDS: frozenset[Action] = frozenset({"consumed", "cleared", "dropped"})
# The actions that a person or agent takes on purpose, besides saving.
_ACTS: frozenset[Action] = frozenset(
    {"resumed", "declined", "consumed", "cleared", "dropped", "restored", "code-restored"}
)


BY_PROMPT = "prompt"
"""The trigger of a resume that a prompt such as "continue" asked for."""
BY_HAND_OVER = "hand-over"
"""The trigger of a resume in the session that `leftoff resume --in` started."""
BY_REMOVAL = "removal"
"""The trigger of a clear that the removal of a native file caused."""


class StoreEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log.

    `of` is the event or act that an undo reverts, or the undo that a redo reverts.
    `act` is shared by all events of one act that takes several, such as recovering sessions.
    `thread` is the thread that a save belongs to, or that checkpoints have joined.
    `replaced` is the revision that a save replaced.
    `hides` are the revisions that undoing a save hides: its own, and later autosaves of the work.
    `trigger` is why a checkpoint was saved or resumed; None means by a command.
    `snapshots` are the snapshot whose code was restored, and the one taken before.
    `paths` are the files that were named for that; none means all.
    """

    id: str
    at: datetime
    action: Action
    ids: list[str] = []
    name: str | None = None
    thread: str | None = None
    replaced: str | None = None
    of: str | None = None
    act: str | None = None
    hides: list[str] = []
    trigger: str | None = None
    agent: str | None = None
    session_id: str | None = None
    snapshots: tuple[str, str] | None = None
    paths: list[str] = []

    @property
    def is_act(self) -> bool:
        """Whether somebody did this on purpose, so that `undo` can revert it.

        Autosaves are not acts: `undo` must revert what you did last, not what a hook did since.
        """
        if self.action != "saved":
            return self.action in _ACTS
        if self.act is not None:
            return True
        if self.trigger == "import":
            # An edit of a native file; leftoff imports others without being asked.
            return self.replaced is not None
        return self.trigger == "ship" or (self.trigger is None and self.name is not None)

    @property
    def act_id(self) -> str:
        """What an undo of this event names: the whole act, if the event is part of one."""
        return self.act or self.id

    @property
    def is_step(self) -> bool:
        """Whether it is an act, or the undo or redo of one."""
        return self.is_act or self.action in {"undone", "redone"}


def build_event(now: datetime, action: Action, ids: list[str], **fields: Any) -> StoreEvent:
    """Build an event that happens now."""
    return StoreEvent(id=new_id(now), at=now, action=action, ids=ids, **fields)


def name_trigger(trigger: str | None) -> str | None:
    """Return the trigger to record with a save; None if somebody saved on purpose."""
    return None if trigger == MANUAL else trigger


def find_joined_thread(checkpoint_id: str, events: Iterable[StoreEvent]) -> str | None:
    """Return the thread that a checkpoint has joined since it was saved; None if it has not."""
    joined = [each for each in events if each.action == "joined" and checkpoint_id in each.ids]
    return joined[-1].thread if joined else None


decode_event = msgspec.json.Decoder(StoreEvent).decode


# --- the files of one store folder ---


# Letters, digits, dots and dashes, short enough for every file system.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SHARD = re.compile(r"\d{4}-\d{2}")


class Area(msgspec.Struct, frozen=True, dict=True):
    """Checkpoint files in monthly folders, with the event log beside them."""

    root: Path

    @cached_property
    def log(self) -> Path:
        """The event log."""
        return self.root / "events.jsonl"

    @cached_property
    def lock(self) -> Path:
        """The file whose lock orders writers."""
        return self.root / "lock"

    @cached_property
    def temps(self) -> Path:
        """The folder where files are written before they get their final name."""
        return self.root / "tmp"

    @cached_property
    def checkpoints(self) -> Path:
        """The folder that holds the monthly folders."""
        return self.root / "checkpoints"

    def session_file(self, agent: str, session_id: str) -> Path:
        """Return the path of a session's file."""
        return self.root / "sessions" / f"{agent}-{plain_name(session_id)}.json"

    def path_of(self, checkpoint_id: str) -> Path:
        """Return the path of a checkpoint's file, whether it exists or not."""
        return self._shard_of(checkpoint_id) / f"{checkpoint_id}.json"

    def _shard_of(self, checkpoint_id: str) -> Path:
        # Ids begin with the date, so the month needs no lookup.
        shard = f"{checkpoint_id[:4]}-{checkpoint_id[4:6]}"
        folder = self._shards.get(shard)
        if folder is None:
            folder = self._shards[shard] = self.checkpoints / shard
        return folder

    @cached_property
    def _shards(self) -> dict[str, Path]:
        # Cached: a save builds a dozen paths, and each one costs as much as a system call.
        return {}

    @cached_property
    def _open_folders(self) -> dict[Path, disk.Folder]:
        return {}

    def prepare(self) -> None:
        """Create the folders, or refuse if something else has their name."""
        for folder in (self.root, self.temps, self.checkpoints):
            disk.ensure_folder(folder)

    def write(self, checkpoint: Checkpoint) -> Path:
        """Store a checkpoint durably under its id."""
        return self.write_raw(checkpoint.id, encode(checkpoint))

    def write_raw(self, checkpoint_id: str, data: bytes) -> Path:
        """Store a checkpoint's bytes unchanged."""
        name = f"{checkpoint_id}.json"
        shard = self._shard_of(checkpoint_id)
        self._open(shard).write_new(name, data, temps=self.temps)
        return shard / name

    def _open(self, shard: Path) -> disk.Folder:
        """Return the open monthly folder; reopen it if another folder replaced it."""
        found = disk.ensure_folder(shard)
        held = self._open_folders.get(shard)
        if held is None or not held.is_still(found):
            # Only one stays open: importing years of checkpoints would keep one open for each
            # month.
            self._open_folders.clear()
            held = self._open_folders[shard] = disk.Folder(shard)
        return held

    def read(self, checkpoint_id: str) -> tuple[bytes, os.stat_result]:
        """Return a checkpoint's bytes and the file's stat result."""
        return disk.read(self.path_of(checkpoint_id), temps=self.temps)

    def reader(self, shard: str) -> Callable[[str], tuple[bytes, os.stat_result]]:
        """Return a function that reads checkpoints of one month without resolving each path."""
        folder = disk.Folder(self.checkpoints / shard)
        return lambda checkpoint_id: folder.read(f"{checkpoint_id}.json", temps=self.temps)

    def shards(self) -> Iterator[os.DirEntry[str]]:
        """Yield the monthly folders."""
        if not (disk.is_own_folder(self.root) and disk.is_own_folder(self.checkpoints)):
            return
        try:
            entries = list(os.scandir(self.checkpoints))
        except OSError as error:
            raise StoreRefused(
                f"{self.checkpoints} cannot be read: {error.strerror}",
                hint="Make the folder readable again; nothing in it has changed.",
            ) from error
        for entry in entries:
            if _SHARD.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry

    def ids_in(self, shard: str) -> list[str]:
        """List the checkpoint ids in a monthly folder and ignore all other files."""
        begin, end = shard.replace("-", ""), ".json"
        names = os.listdir(self.checkpoints / shard)  # noqa: PTH208 - 100,000 names: no Paths
        stems = (name[:-5] for name in names if name.startswith(begin) and name.endswith(end))
        return sorted(stem for stem in stems if is_id(stem))

    def append(self, event: StoreEvent, *, durable: bool = True) -> tuple[int, int]:
        """Append an event to the log; return where its line begins and ends."""
        return log.append(self.log, event, durable=durable)

    def has_anything(self) -> bool:
        """Return whether anything was ever written here."""
        return self.checkpoints.is_dir() or any(self.root.glob("*.jsonl"))


def is_off(project: Project) -> bool:
    """Return whether the user switched leftoff off for this project."""
    return disk.is_regular(project.store / "off")


def plain_name(text: str) -> str:
    """Turn an agent's id into a file name: the id itself if it is plain, otherwise its hash."""
    if _PLAIN.fullmatch(text):
        return text
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


# --- where to write: the store, or the fallback if that fails ---
#
# Files in the fallback are adopted by the next command that can write to the store.


_READ = 0o055

Result = TypeVar("Result")


class Areas:
    """The folders that hold a project's checkpoints, and the choice where the next one goes."""

    def __init__(self, project: Project) -> None:
        self.main = Area(project.store)
        self.fallback = Area(project.fallback)
        self._project = project
        self._strays = [Area(stray) for stray in project.strays]
        self._problems: list[str] = []
        self._ready: list[Area] = []
        self._copies: dict[Path, Area] = {}

    def in_use(self) -> list[Area]:
        """Return the store, and the fallback if it holds anything."""
        return [self.main, self.fallback] if _is_used(self.fallback) else [self.main]

    def write(self, act: Callable[[Area], Result]) -> Result:
        """Run an action on the store, or on the fallback if the store cannot be written."""
        self._problems = []
        for area in (self.main, self.fallback):
            try:
                if area is self.fallback or self._is_in_state:
                    _refuse_unsafe(area)
                return self._act(area, act)
            except (OSError, StoreRefused) as error:
                # An OSError's own text names a temporary file, and its number.
                self._problems.append(getattr(error, "strerror", None) or str(error))
                self._ready = []
        raise StoreRefused(
            f"Nothing could be written: {self._problems[0]}; "
            f"the fallback failed too: {self._problems[1]}",
            hint=f"Free disk space, or make {self.main.root} or {self.fallback.root} writable, "
            "then try again; nothing was saved.",
        )

    def notice(self, area: Area) -> str | None:
        """Return a message for the user if the checkpoint did not go to the store."""
        if area is self.main:
            return None
        return (
            f"The store is not writable ({self._problems[0]}). The checkpoint was saved under "
            f"{area.root}; the next command that can write to the store moves it there."
        )

    def adopt_waiting(self) -> None:
        """Adopt waiting files unless others are writing; a temp folder may be gone tomorrow."""
        self._claim()
        if self._earlier() or any(map(store_room.adoption.is_waiting, self.fallbacks())):
            self._adopt_waiting()
        if self._project.is_moved or self._project.earlier:
            self._mark()
        self._remember()

    def _adopt_waiting(self) -> None:
        try:
            self.main.prepare()
            with disk.lock(self.main.lock, seconds=0) as is_held:
                if is_held:
                    # A killed writer may have left a temporary file with the name that adoption
                    # needs.
                    disk.sweep(self.main.temps)
                    self._adopt(is_held=True)
        except (OSError, StoreRefused):
            with contextlib.suppress(OSError, StoreRefused):
                self._gather()

    def _gather(self) -> None:
        """Move files from temporary folders to the fallback, where readers look."""
        strays = [stray for stray in self._strays if _is_left(stray)]
        if any(map(store_room.adoption.is_waiting, strays)):
            _refuse_unsafe(self.fallback)
            self.fallback.prepare()
            with disk.lock(self.fallback.lock, seconds=0) as is_held:
                for stray in strays if is_held else []:
                    store_room.adoption.adopt(stray, self.fallback)

    def find_cache_path(self, name: str) -> Path | None:
        """Return a path for a file that can be rebuilt any time; None if no folder is writable."""
        if disk.is_own_folder(self.main.root) and os.access(self.main.root, os.W_OK):
            return self.main.root / name
        if _is_used(self.fallback) and os.access(self.fallback.root, os.W_OK):
            return self.fallback.root / name
        return None

    def _act(self, area: Area, act: Callable[[Area], Result]) -> Result:
        if area in self._ready:
            # If someone removed the folders since then, continue below and recreate them.
            with contextlib.suppress(FileNotFoundError), disk.lock(area.lock):
                return act(area)
        if area is self.main:
            self._claim()
        area.prepare()
        with disk.lock(area.lock) as is_held:
            self._make_ready(area, is_held=is_held)
            return act(area)

    def _make_ready(self, area: Area, *, is_held: bool) -> None:
        """Clean up once per process; leftovers from later crashes are left to the next process."""
        if is_held:
            disk.sweep(area.temps)
        is_clean = self._adopt(is_held=is_held) if area is self.main else True
        if area is self.main:
            self._mark()
            self._remember()
        # Otherwise the next write of this process tries again.
        if is_held and is_clean:
            self._ready.append(area)

    # Cached, because it hashes the project's path, which took 5 % of a save's own time.
    @functools.cached_property
    def _is_in_state(self) -> bool:
        """Whether the store is in the state folder, as for a project without git."""
        return self._project.store == find_plain_store(
            self._project.environment, self._project.root
        )

    def _claim(self) -> None:
        """Rename the project's store from an earlier place to this one, if nothing is here yet."""
        self._copy()
        if found := self._earlier():
            for earlier in found:
                store_room.adoption.claim_store(earlier, self.main)

    def _copy(self) -> None:
        """Copy a store that another folder also uses, once."""
        for folder in self._project.shared:
            if folder not in self._copies and disk.is_own_folder(folder):
                with contextlib.suppress(OSError, StoreRefused):
                    if copied := store_room.adoption.copy_store(Area(folder)):
                        self._copies[folder] = copied

    def _earlier(self) -> list[Area]:
        own = [Area(each) for each in self._project.earlier if each not in self._project.shared]
        return [each for each in (*own, *self._copies.values()) if disk.is_own_folder(each.root)]

    def _mark(self) -> None:
        """Record whose store this is, once nothing is left to find through the earlier record."""
        is_all_copied = all(each in self._copies for each in self._project.shared)
        if is_all_copied and not self._earlier() and disk.is_own_folder(self.main.root):
            _mark(self._project)

    def _remember(self) -> None:
        """List the project among all projects of this machine, once it has a store."""
        if self._project.known_mark.exists() or not disk.is_own_folder(self.main.root):
            return
        # Only `list --everywhere` needs it.
        with contextlib.suppress(OSError):
            known_projects.remember(self._project)

    def _adopt(self, *, is_held: bool) -> bool:
        """Move waiting files in; return whether all of them could be moved."""
        adopted = [store_room.adoption.adopt(fallback, self.main) for fallback in self.fallbacks()]
        if found := self._earlier():
            # A merge removes files of the earlier store, which needs both locks.
            if not is_held:
                return False
            adopted += [store_room.adoption.merge_store(earlier, self.main) for earlier in found]
        return all(adopted)

    def fallbacks(self) -> Iterator[Area]:
        """Yield the folders with waiting files; those of earlier versions come last."""
        yield from filter(_is_used, (self.fallback,))
        yield from filter(_is_left, self._strays)


def _mark(project: Project) -> None:
    """Record which folder a store belongs to, for stores named after their folder's path."""
    is_plain = project.store == find_plain_store(project.environment, project.root)
    if not (is_plain or project.is_moved or project.earlier):
        return
    with contextlib.suppress(OSError):
        (write_mark if is_plain else forget_mark)(
            find_marks_folder(project.environment), project.root
        )


def _is_used(fallback: Area) -> bool:
    """Return whether this is a private fallback with anything in it."""
    folders = (fallback.root, fallback.root.parent)
    is_safe = all(disk.is_private_folder(each, others_may=_READ) for each in folders)
    return is_safe and fallback.has_anything()


def _is_left(stray: Area) -> bool:
    """Return whether an earlier version left files in a temporary folder; anyone may plant some."""
    folders = (stray.root, stray.root.parent)
    return all(map(disk.is_private_folder, folders)) and stray.has_anything()


def _refuse_unsafe(fallback: Area) -> None:
    """Refuse a fallback that other users can change: they could delete what is saved there."""
    for folder in (fallback.root.parent, fallback.root):
        disk.ensure_folder(folder)
        if not disk.is_private_folder(folder, others_may=_READ):
            raise _refuse_changeable(folder)
    state = fallback.root.parent.parent
    if not disk.holds_private_folders(state):
        raise _refuse_changeable(state)


def _refuse_changeable(folder: Path) -> StoreRefused:
    return StoreRefused(
        f"{folder} can be changed by other users, so leftoff does not write there",
        hint=f"Make it writable only by you: chmod go-w {folder}",
    )
