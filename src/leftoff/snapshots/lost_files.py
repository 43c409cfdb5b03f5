"""Find out which files of a snapshot are gone: not in the worktree, and not in git either.

What is said of them must be right. A file that has newer edits is not gone, nor is one that was
committed or stashed since. In doubt, nothing is said.
"""

import os
from collections.abc import Collection
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError
from leftoff.git.object_store import TreeEntry, compute_blob_id
from leftoff.git.repository import find_repository_at
from leftoff.git.uncommitted import list_committed, list_uncommitted
from leftoff.projects.project import Project, list_folders
from leftoff.snapshots.restore import compare_worktree
from leftoff.snapshots.shelf import StoredSnapshot, find_newest_of, find_snapshot
from leftoff.snapshots.take import MAX_FILE_BYTES

_SECONDS = 5.0
# These only mark a running process and disappear with it; they hold no work.
_OF_PROCESSES = (".pid", ".pidfile.lock")
# A snapshot that is so far back says little about the present.
_LOOKED_AT = 200


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
    """Return what is gone of a thread's last snapshot; None if nothing is, or if in doubt."""
    newest = find_newest_of(project, thread, sessions, among=_LOOKED_AT)
    return find_lost(project, newest.id) if newest is not None else None


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
