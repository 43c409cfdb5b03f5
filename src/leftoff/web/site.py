"""The projects that the web page shows, and how a request opens one of them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

import leftoff
from leftoff.context import Environment
from leftoff.digests import blake2b
from leftoff.errors import LeftoffError, NoSuchCheckpoint
from leftoff.projects.project import Project, find_own_folder, find_project

_KEY_BYTES = 6
_KEPT_SECONDS = 1.0


class SiteProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project on the page; the key names it in addresses."""

    key: str
    project: Project

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.project.root.name or str(self.project.root)


class Site:
    """What the page shows, and whether it may change anything."""

    def __init__(
        self,
        environment: Environment,
        list_folders: Callable[[], list[Path]],
        *,
        is_read_only: bool = False,
        is_everywhere: bool = False,
    ) -> None:
        self.environment = environment
        self._list_folders = list_folders
        self.is_read_only = is_read_only
        self.is_everywhere = is_everywhere
        self.used_at = time.monotonic()
        self.is_stopping: Callable[[], bool] = lambda: False
        self._known: dict[Path, SiteProject] = {}
        self._listed: tuple[float, list[SiteProject]] | None = None

    def touch(self) -> None:
        """Note that the page is in use, so that it does not end."""
        self.used_at = time.monotonic()

    def list_projects(self) -> list[SiteProject]:
        """List the projects, the one that was used last first; folders that are gone are not there.

        A page asks several times, and every open page twice a second, so the list is kept a while.
        """
        now = time.monotonic()
        if self._listed is None or now - self._listed[0] > _KEPT_SECONDS:
            self._listed = (now, self._read_projects())
        return self._listed[1]

    def _read_projects(self) -> list[SiteProject]:
        found: dict[str, SiteProject] = {}
        for folder in self._list_folders():
            entry = self._find(folder)
            # Two worktrees of a repository are one project.
            if entry is not None:
                found.setdefault(entry.key, entry)
        return sorted(found.values(), key=_read_date, reverse=True)

    def _find(self, folder: Path) -> SiteProject | None:
        known = self._known.get(folder)
        if known is not None and folder.is_dir():
            return known
        self._known.pop(folder, None)
        try:
            project = find_project(self.environment, folder) if folder.is_dir() else None
        except (LeftoffError, OSError):
            return None
        if project is None:
            return None
        digest = blake2b(os.fsencode(project.store), digest_size=_KEY_BYTES)
        self._known[folder] = SiteProject(key=digest.hexdigest(), project=project)
        return self._known[folder]

    def find_project(self, key: str | None) -> SiteProject:
        """Return the project with this key; without a key, the one that was used last."""
        every = self.list_projects()
        found = [each for each in every if each.key == key] if key else every
        if not found:
            raise NoSuchCheckpoint("This project no longer exists.")
        return found[0]

    def open(self, entry: SiteProject) -> leftoff.Workspace:
        """Open a project; close it again at the end of the request."""
        variables = self.environment.variables
        return leftoff.open_project(entry.project.worktree, variables=variables)

    def open_where(self, entry: SiteProject, worktree: str | None) -> leftoff.Workspace:
        """Open a project in the worktree where work was left off, if it still has that one."""
        there = find_own_folder(entry.project, worktree)
        return leftoff.open_project(there, variables=self.environment.variables)

    def choose(self, key: str | None, most: int) -> list[SiteProject]:
        """Return the project with this key; without a key, those that were used last."""
        return [self.find_project(key)] if key else self.list_projects()[:most]


def _read_date(entry: SiteProject) -> float:
    try:
        return (entry.project.store / "events.jsonl").stat().st_mtime
    except OSError:
        return 0.0
