"""Choose where to write a project's checkpoints: its store, or the fallback if that fails.

Files in the fallback are adopted by the next command that can write to the store.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from leftoff import store as store_room
from leftoff.errors import StoreRefused
from leftoff.projects.identities import forget, write_mark
from leftoff.projects.project import Project
from leftoff.projects.store_places import folder_marks, plain_store
from leftoff.store import disk
from leftoff.store.adoption import adopt, is_waiting
from leftoff.store.layout import Area

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
                self._problems.append(str(error))
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
            f"The store cannot be written ({self._problems[0]}). The checkpoint was saved under "
            f"{area.root}; the next leftoff command that can will move it to the store."
        )

    def adopt_waiting(self) -> None:
        """Adopt waiting files unless others are writing; a temp folder may be gone tomorrow."""
        self._claim()
        if self._earlier() or any(map(is_waiting, self.fallbacks())):
            self._adopt_waiting()
        if self._project.is_moved or self._project.earlier:
            self._mark()

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
        if any(map(is_waiting, strays)):
            _refuse_unsafe(self.fallback)
            self.fallback.prepare()
            with disk.lock(self.fallback.lock, seconds=0) as is_held:
                for stray in strays if is_held else []:
                    adopt(stray, self.fallback)

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
        # Otherwise the next write of this process tries again.
        if is_held and is_clean:
            self._ready.append(area)

    # Cached, because it hashes the project's path, which took 5 % of a save's own time.
    @functools.cached_property
    def _is_in_state(self) -> bool:
        """Whether the store is in the state folder, as for a project without git."""
        return self._project.store == plain_store(self._project.environment, self._project.root)

    def _claim(self) -> None:
        """Rename the project's store from an earlier place to this one, if nothing is here yet."""
        self._copy()
        if found := self._earlier():
            for earlier in found:
                store_room.move_in.claim(earlier, self.main)

    def _copy(self) -> None:
        """Copy a store that another folder also uses, once."""
        for folder in self._project.shared:
            if folder not in self._copies and disk.is_own_folder(folder):
                with contextlib.suppress(OSError, StoreRefused):
                    if copied := store_room.move_in.copy(Area(folder)):
                        self._copies[folder] = copied

    def _earlier(self) -> list[Area]:
        own = [Area(each) for each in self._project.earlier if each not in self._project.shared]
        return [each for each in (*own, *self._copies.values()) if disk.is_own_folder(each.root)]

    def _mark(self) -> None:
        """Record whose store this is, once nothing is left to find through the earlier record."""
        is_all_copied = all(each in self._copies for each in self._project.shared)
        if is_all_copied and not self._earlier() and disk.is_own_folder(self.main.root):
            _mark(self._project)

    def _adopt(self, *, is_held: bool) -> bool:
        """Move waiting files in; return whether all of them could be moved."""
        adopted = [adopt(fallback, self.main) for fallback in self.fallbacks()]
        if found := self._earlier():
            # A merge removes files of the earlier store, which needs both locks.
            if not is_held:
                return False
            adopted += [store_room.move_in.merge(earlier, self.main) for earlier in found]
        return all(adopted)

    def fallbacks(self) -> Iterator[Area]:
        """Yield the folders with waiting files; those of earlier versions come last."""
        yield from filter(_is_used, (self.fallback,))
        yield from filter(_is_left, self._strays)


def _mark(project: Project) -> None:
    """Record which folder a store belongs to, for stores named after their folder's path."""
    is_plain = project.store == plain_store(project.environment, project.root)
    if not (is_plain or project.is_moved or project.earlier):
        return
    with contextlib.suppress(OSError):
        (write_mark if is_plain else forget)(folder_marks(project.environment), project.root)


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
            raise _changeable(folder)
    state = fallback.root.parent.parent
    if not disk.holds_private_folders(state):
        raise _changeable(state)


def _changeable(folder: Path) -> StoreRefused:
    return StoreRefused(
        f"{folder} can be changed by other users, so leftoff does not write there",
        hint=f"Make it writable only by you: chmod go-w {folder}",
    )
