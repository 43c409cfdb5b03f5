"""Compare a snapshot with the worktree, with HEAD or with another snapshot."""

import difflib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from leftoff.git.repository import find_repository_at
from leftoff.git.uncommitted import list_uncommitted, read_committed
from leftoff.projects.project import open_file
from leftoff.snapshots.shelf import StoredSnapshot
from leftoff.snapshots.take import MAX_FILE_BYTES, SECONDS

if TYPE_CHECKING:
    from leftoff.git.object_store import TreeEntry

# git, too, calls a file binary if its first 8000 bytes contain a NUL.
_HEAD_BYTES = 8000


class Side(Protocol):
    """One of the two states that are compared."""

    def paths(self) -> set[str]:
        """List the paths that may differ from HEAD."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content; None if it does not exist."""


class SnapshotSide:
    """The state of a worktree when a snapshot was taken."""

    def __init__(self, stored: StoredSnapshot, worktree: Path) -> None:
        self._stored = stored
        self._worktree = worktree
        self._entries: dict[str, TreeEntry] = {each.path: each for each in stored.content.work}
        self._absent = {*stored.content.absent}

    def paths(self) -> set[str]:
        """List the paths that were uncommitted."""
        return {*self._entries, *self._absent}

    def read(self, path: str) -> bytes | None:
        """Return a file as it was: its own content, or that of the commit below."""
        if (entry := self._entries.get(path)) is not None:
            return next(data for _, data in self._stored.read([entry]))
        head = self._stored.record.head
        if head is None or path in self._absent:
            return None
        return read_committed(self._worktree, head, path, limit=MAX_FILE_BYTES)


class WorktreeSide:
    """The files as they are now."""

    def __init__(self, worktree: Path) -> None:
        self._worktree = worktree

    def paths(self) -> set[str]:
        """List the paths that are uncommitted now."""
        repository = find_repository_at(self._worktree, is_named=True)
        if repository is None:
            return set()
        return {each.path for each in list_uncommitted(repository, seconds=SECONDS).paths}

    def read(self, path: str) -> bytes | None:
        """Return a file as it is."""
        place = self._worktree / path
        try:
            if stat.S_ISLNK(place.lstat().st_mode):
                return os.fsencode(os.readlink(place))  # noqa: PTH115 - Path normalizes it
            with open(open_file(place), "rb") as file:  # noqa: PTH123 - already open
                return file.read(MAX_FILE_BYTES)
        except OSError:
            return None


class HeadSide:
    """The current commit."""

    def __init__(self, worktree: Path) -> None:
        self._worktree = worktree

    def paths(self) -> set[str]:
        """List nothing: a commit does not differ from itself."""
        return set()

    def read(self, path: str) -> bytes | None:
        """Return a file as it is committed."""
        return read_committed(self._worktree, "HEAD", path, limit=MAX_FILE_BYTES)


class FileDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How one file differs."""

    path: str
    change: str
    """added, deleted or changed."""
    lines: list[str] = []
    """A unified diff; empty for a binary file."""


def list_differences(old: Side, new: Side) -> Iterator[FileDifference]:
    """Yield the files that differ between two states, in the order of their paths."""
    for path in sorted(old.paths() | new.paths()):
        before, after = old.read(path), new.read(path)
        if before != after:
            yield _compare(path, before, after)


def _compare(path: str, before: bytes | None, after: bytes | None) -> FileDifference:
    change = "added" if before is None else "deleted" if after is None else "changed"
    if b"\0" in (before or b"")[:_HEAD_BYTES] or b"\0" in (after or b"")[:_HEAD_BYTES]:
        return FileDifference(path=path, change=change)
    old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    names = (
        "/dev/null" if before is None else f"a/{path}",
        "/dev/null" if after is None else f"b/{path}",
    )
    lines = [*difflib.unified_diff(old, new, *names, lineterm="")]
    return FileDifference(path=path, change=change, lines=lines)
