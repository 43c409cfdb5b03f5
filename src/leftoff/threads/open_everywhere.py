"""Collect the newest open threads of all projects on this machine."""

import heapq
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.context import Environment
from leftoff.errors import LeftoffError, NotAProject
from leftoff.projects.known_projects import list_known
from leftoff.projects.project import Project, find_project
from leftoff.session.running_work import date_by_activity
from leftoff.store import LISTED, CheckpointEntry, Store

_LATEST = datetime.max.replace(tzinfo=UTC)

OnProject = Callable[[int], None]
"""Called with the number of projects that were read."""


class ThreadElsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """An open thread, and the project that it belongs to."""

    root: Path
    entry: CheckpointEntry


class Everywhere(msgspec.Struct, frozen=True, kw_only=True):
    """The newest open threads of all projects, and the projects that could not be read."""

    threads: list[ThreadElsewhere]
    """The one with the last activity first."""
    is_cut: bool = False
    """Whether there are more."""
    gone: list[Path] = []
    """Folders that were deleted or moved, or whose disk is not mounted."""
    problems: dict[Path, str] = {}


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """The projects that are still there, and those that are not."""

    projects: dict[Path, Project]
    """By store: a folder may have become part of another project, and worktrees share one."""
    gone: list[Path]
    problems: dict[Path, str]


def read_newest(
    environment: Environment, *, limit: int, on_project: OnProject | None = None
) -> Everywhere:
    """Read the newest open threads; a project that cannot be read does not hide the others.

    Nothing in a store is newer than its log. So the stores are read in the order of their logs,
    and only until the rest cannot contain anything newer.
    """
    found = _find_projects(environment)
    problems, threads = dict(found.problems), list[ThreadElsewhere]()
    dated = sorted(((_read_date(each), each) for each in found.projects.values()), key=_date_of)
    is_cut = False
    for number, (touched_at, project) in enumerate(reversed(dated)):
        if len(threads) > limit and touched_at < threads[limit].entry.as_of:
            is_cut = True
            break
        try:
            threads += _read_project(project, limit + 1)
        except (LeftoffError, OSError) as error:
            problems[project.root] = str(error)
        threads = heapq.nlargest(limit + 1, threads, key=_by_activity)
        if on_project is not None:
            on_project(number + 1)
    return Everywhere(
        threads=threads[:limit],
        is_cut=is_cut or len(threads) > limit,
        gone=found.gone,
        problems=problems,
    )


def _date_of(dated: tuple[datetime, Project]) -> datetime:
    return dated[0]


def _by_activity(thread: ThreadElsewhere) -> tuple[datetime, str]:
    return thread.entry.as_of, thread.entry.id


def _find_projects(environment: Environment) -> _Found:
    found = _Found(projects={}, gone=[], problems={})
    for root in list_known(environment):
        if not root.is_dir():
            found.gone.append(root)
            continue
        try:
            project = find_project(environment, root)
        except (NotAProject, OSError) as error:
            found.problems[root] = str(error)
        else:
            found.projects.setdefault(project.store, project)
    return found


def _read_date(project: Project) -> datetime:
    """Return when a store was last written, or the latest time if it is in several places."""
    if project.earlier or project.strays or project.fallback.is_dir():
        return _LATEST
    try:
        touched = (project.store / "events.jsonl").stat().st_mtime
    except OSError:
        return _LATEST
    return datetime.fromtimestamp(touched, UTC)


def _read_project(project: Project, limit: int) -> list[ThreadElsewhere]:
    store = Store(project)
    try:
        entries = date_by_activity(store, store.index().heads([*LISTED], limit))
        return [ThreadElsewhere(root=project.root, entry=entry) for entry in entries]
    finally:
        store.close()
