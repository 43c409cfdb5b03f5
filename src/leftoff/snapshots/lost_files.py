"""Find out which files of a snapshot are gone: not in the worktree, and not in git either.

What is said of them must be right. A file that has newer edits is not gone, nor is one that was
committed or stashed since. In doubt, nothing is said.
"""

import itertools
import os
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError
from leftoff.git.object_store import TreeEntry, compute_blob_id
from leftoff.git.repository import find_repository_at
from leftoff.git.uncommitted import list_committed, list_uncommitted
from leftoff.projects.project import Project, list_folders
from leftoff.snapshots.restore import compare_worktree
from leftoff.snapshots.shelf import StoredSnapshot, find_newest_of, find_snapshot, list_shelves
from leftoff.snapshots.take import MAX_FILE_BYTES

_SECONDS = 5.0
# These only mark a running process and disappear with it; they hold no work.
_OF_PROCESSES = (".pid", ".pidfile.lock")
# A snapshot that is so far back says little about the present.
_LOOKED_AT = 200
# Looking at each runs git several times.
_MOST_DESTROYED = 3


class LostFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a snapshot that are not in the worktree any more."""

    snapshot: str
    """The snapshot's short id."""
    paths: list[str]
    worktree: str | None = None
    """The worktree that they were in, if it no longer exists."""

    @property
    def command(self) -> str:
        """The command that brings them back."""
        here = "" if self.worktree else " --here"
        return f"leftoff snapshot restore {self.snapshot}{here}"


def find_lost_of(
    project: Project, thread: str, sessions: Collection[str | None] = ()
) -> LostFiles | None:
    """Return what is gone of a thread's code; None if nothing is, or if in doubt.

    That is what its commands have destroyed, or what its last snapshot has.
    """
    newest = find_newest_of(project, thread, sessions, among=_LOOKED_AT)
    if newest is None:
        return None
    return _find_destroyed(project, thread, sessions) or find_lost(project, newest.id)


def _find_destroyed(
    project: Project, thread: str, sessions: Collection[str | None]
) -> LostFiles | None:
    """Return what a command destroyed and nothing has brought back, however long ago."""
    known = (
        (shelf, each)
        for shelf in list_shelves(project)
        for each in shelf.list_destroyed()
        if (record := shelf.read(each)) is not None and record.is_of(thread, sessions)
    )
    for shelf, each in itertools.islice(known, _MOST_DESTROYED):
        if (lost := find_lost(project, each)) is None:
            continue
        named = {*shelf.read_destroyed(each)}
        if paths := [path for path in lost.paths if path in named]:
            return msgspec.structs.replace(lost, paths=paths)
    return None


def find_destroyed_since(project: Project, snapshot_id: str) -> LostFiles | None:
    """Return what a command destroyed right after a snapshot, and note it; None if in doubt.

    What a later snapshot has was still there then, so something else removed it.
    """
    try:
        stored = find_snapshot(project, snapshot_id)
        lost = _find_lost(project, stored) if stored is not None else None
        if stored is None or lost is None:
            return None
        later = set(_list_later(stored))
        if paths := [each for each in lost.paths if each not in later]:
            stored.shelf.note_destroyed(stored.record.id, paths)
    except (OSError, LeftoffError):
        return None
    return msgspec.structs.replace(lost, paths=paths) if paths else None


def _list_later(stored: StoredSnapshot) -> Iterator[str]:
    """Yield the files that later snapshots of the same worktree have."""
    for each in stored.shelf.newest(_LOOKED_AT):
        if each.id <= stored.record.id:
            return
        if each.worktree == stored.record.worktree:
            yield from (entry.path for entry in stored.shelf.content(each).work)


def find_lost(project: Project, snapshot_id: str) -> LostFiles | None:
    """Return what is gone of a snapshot; None if nothing is, or if in doubt."""
    try:
        stored = find_snapshot(project, snapshot_id)
        return _find_lost(project, stored) if stored is not None else None
    except (OSError, LeftoffError):
        return None


def _find_lost(project: Project, stored: StoredSnapshot) -> LostFiles | None:
    record, here = stored.record, project.worktree
    is_gone = not os.path.lexists(record.worktree)
    if not is_gone and Path(record.worktree) != here:
        return None
    entries = stored.content.work if is_gone else _list_differing(here, stored)
    repository = find_repository_at(here, is_named=True)
    if not entries or repository is None:
        return None
    since = int(record.at.timestamp())
    committed = list_committed(repository, record.head, since=since, seconds=_SECONDS)
    if committed is None:
        return None
    # A worktree that is gone was on another branch, so HEAD says nothing about it.
    named = committed.recent if is_gone else committed.recent | committed.here
    lost = [
        each.path
        for each in entries
        if each.path not in named
        and each.blob not in committed.blobs
        and not each.path.endswith(_OF_PROCESSES)
    ]
    if is_gone and lost:
        # Git can move a worktree; its files are then in another one.
        lost = _drop_moved(project, stored, lost)
    if not lost:
        return None
    return LostFiles(
        snapshot=record.short_id, paths=lost, worktree=record.worktree if is_gone else None
    )


def _list_differing(worktree: Path, stored: StoredSnapshot) -> list[TreeEntry]:
    """List the files that are missing, empty, or again as they are committed."""
    states = {each.path: each.state for each in compare_worktree(worktree, stored.content)}
    differing = [each for each in stored.content.work if states[each.path] != "same"]
    repository = find_repository_at(worktree, is_named=True)
    if not differing or repository is None:
        return []
    now = list_uncommitted(repository, seconds=_SECONDS)
    if now.trouble is not None:
        return []
    edited = [each.path for each in now.paths]
    moved = {_read_blob(worktree / each) for each in edited[:_LOOKED_AT] if each not in states}
    return [
        each
        for each in differing
        if each.blob not in moved
        and (
            states[each.path] == "missing"
            or each.path not in edited
            or _measure(worktree / each.path) == 0
        )
    ]


def _drop_moved(project: Project, stored: StoredSnapshot, paths: list[str]) -> list[str]:
    """Return the files that no worktree has with the same content."""
    blobs = {each.path: each.blob for each in stored.content.work}
    folders = [each for each in list_folders(project) if each.is_dir()]
    return [
        path
        for path in paths
        if not any(_read_blob(folder / path) == blobs[path] for folder in folders)
    ]


def _read_blob(place: Path) -> str:
    try:
        is_read = place.is_file() and 0 < _measure(place) <= MAX_FILE_BYTES
        return compute_blob_id(place.read_bytes()) if is_read else ""
    except OSError:
        return ""


def _measure(place: Path) -> int:
    try:
        return place.lstat().st_size
    except OSError:
        return -1
