"""Take a snapshot: read what changed in a worktree, and store it apart from the user's repository.

Only files that differ from HEAD are read, and of these only the ones that changed since the last
snapshot of the worktree. Nothing is written to the user's index, refs, objects or files.
"""

import os
import stat
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint, new_id
from leftoff.digests import sha256
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.git.object_store import TreeEntry, compute_blob_id
from leftoff.git.repository import Repository, find_head_sha, find_repository_at
from leftoff.git.uncommitted import Uncommitted, UncommittedPath, list_uncommitted, read_staged
from leftoff.projects.project import Project, open_file
from leftoff.redact.secret_files import why_by_name
from leftoff.snapshots.safe_paths import LinkFinder, is_inside_worktree
from leftoff.snapshots.shelf import (
    Shelf,
    Skipped,
    Snapshot,
    SnapshotContent,
    SnapshotTrigger,
    list_files,
    list_shelves,
)
from leftoff.store import disk

MAX_FILE_BYTES = 10_000_000
# What one snapshot may add. A folder of new data would otherwise fill the disk in one turn.
MAX_NEW_BYTES = 200_000_000
SECONDS = 60.0
# A save waits for its snapshot.
_SAVE_SECONDS = 10.0
# A file that changes within the resolution of its time may look unchanged.
_TICK_NS = 20_000_000
_TOO_LARGE = "it is too large"
_GITS_OWN = "its name is reserved for git"
_REGULAR, _EXECUTABLE, _LINK = "100644", "100755", "120000"


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a snapshot is taken, and for whose work."""

    trigger: SnapshotTrigger
    thread: str | None = None
    session: str | None = None
    command: str | None = None


class _Seen(msgspec.Struct, frozen=True, array_like=True):
    """A file as the last snapshot found it."""

    mode: str
    blob: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class _Cache(msgspec.Struct, frozen=True, array_like=True):
    """What is known about a worktree since its last snapshot."""

    snapshot: str = ""
    digest: bytes = b""
    """The hash of all that the snapshot holds and names; a name can be a secret."""
    files: dict[bytes, _Seen] = {}


def take_snapshot(
    project: Project,
    reason: Reason,
    *,
    worktree: Path | None = None,
    also: Iterable[str] = (),
    seconds: float = SECONDS,
) -> Snapshot | None:
    """Store the uncommitted state of a worktree; None if nothing is uncommitted.

    If nothing changed since the worktree's last snapshot, and it is of the same thread, that one is
    returned. `also` names clean paths to keep as they are now, whether they exist or not.
    """
    folder = worktree or project.worktree
    repository = find_repository_at(folder, is_named=True) if project.is_git else None
    if repository is None or repository.worktree is None:
        return None
    deadline = time.monotonic() + seconds
    found = list_uncommitted(repository, seconds=seconds)
    if found.trouble is not None:
        raise LeftoffError(f"git cannot list what is uncommitted: {found.trouble}")
    listed = {each.path for each in found.paths}
    extra = [UncommittedPath(path=each) for each in dict.fromkeys(also) if each not in listed]
    if not found.paths and not extra:
        return None
    whole = msgspec.structs.replace(found, paths=[*found.paths, *extra])
    return _take(project, repository, whole, reason, deadline)


def take_with_checkpoint(project: Project, checkpoint: Checkpoint) -> Snapshot | None:
    """Store the uncommitted code that belongs to a checkpoint."""
    reason = Reason(
        trigger="checkpoint", thread=checkpoint.thread, session=checkpoint.session_id or None
    )
    return take_snapshot(project, reason, seconds=_SAVE_SECONDS)


def _take(
    project: Project, repository: Repository, found: Uncommitted, reason: Reason, deadline: float
) -> Snapshot:
    trouble: Exception | None = None
    for shelf in list_shelves(project):
        try:
            shelf.prepare()
            return _Taking(shelf, repository, found, deadline).store(reason)
        except (OSError, StoreRefused) as error:
            trouble = trouble or error
    raise trouble or LeftoffError("No snapshot could be stored.")


class _Taking:
    """One snapshot in the making."""

    def __init__(
        self, shelf: Shelf, repository: Repository, found: Uncommitted, deadline: float
    ) -> None:
        self._shelf = shelf
        self._repository = repository
        self._worktree = repository.worktree or repository.git_dir
        self._found = found
        self._deadline = deadline
        self._links = LinkFinder(self._worktree)
        self._place = shelf.stat_cache(self._worktree)
        self._cache = _read_cache(self._place)
        self._files: dict[bytes, _Seen] = {}
        self._new: dict[str, bytes] = {}
        self._new_bytes = 0

    def store(self, reason: Reason) -> Snapshot:
        """Read what changed and store it, unless the last snapshot is the same."""
        started = time.time_ns()
        content = self._read()
        digest = self._hash(content)
        # Waits for a repack, which may be dropping objects that the cache calls stored.
        with self._shelf.lock(max(0.0, self._deadline - time.monotonic())) as is_held:
            if not is_held:
                raise StoreRefused("The snapshots are being packed.", hint="Try again in a minute.")
            is_same = digest == self._cache.digest
            last = self._shelf.read(self._cache.snapshot) if is_same else None
            # Each thread has its own: it may be the last that shows its work.
            is_known = last is not None and reason.thread in {None, last.thread}
            snapshot = last if last and is_known else self._add(content, reason)
        fresh = {
            path: seen
            for path, seen in self._files.items()
            if max(seen.mtime_ns, seen.ctime_ns) < started - _TICK_NS
        }
        self._shelf.write_cache(
            self._place, msgspec.msgpack.encode(_Cache(snapshot.id, digest, fresh))
        )
        return snapshot

    def _hash(self, content: SnapshotContent) -> bytes:
        whole = [self._found.head, self._found.branch, _as_bytes(content)]
        return sha256(msgspec.msgpack.encode(whole)).digest()

    def _add(self, content: SnapshotContent, reason: Reason) -> Snapshot:
        now = datetime.now(UTC)
        snapshot = Snapshot(
            id=new_id(now, after=self._cache.snapshot or None),
            at=now,
            worktree=os.fsencode(self._worktree).decode("utf-8", "replace"),
            head=self._found.head,
            branch=self._found.branch,
            files=len(content.work),
            absent=len(content.absent),
            skipped=len(content.skipped),
            bytes=self._new_bytes,
            **msgspec.structs.asdict(reason),
        )
        left = max(1.0, self._deadline - time.monotonic())
        try:
            self._shelf.add(snapshot, list_files(content, self._new), seconds=left)
        except StoreRefused:
            # A blob may be gone that the cache calls stored, with the snapshot that held it.
            if not self._read_again(content):
                raise
            self._shelf.add(snapshot, list_files(content, self._new), seconds=left)
        return snapshot

    # Reading

    def _read(self) -> SnapshotContent:
        work: list[TreeEntry] = []
        absent: list[str] = []
        submodules: dict[str, str] = {}
        skipped: list[Skipped] = []
        for each in self._found.paths:
            if each.is_submodule:
                submodules[each.path] = find_head_sha(self._worktree / each.path) or ""
                continue
            is_behind = self._links.is_behind_link(each.path)
            is_tracked = not each.is_untracked
            entry = None if is_behind else self._read_path(each.path, is_tracked=is_tracked)
            if isinstance(entry, Skipped):
                skipped.append(entry)
            elif entry is not None:
                work.append(entry)
            elif is_tracked:
                absent.append(each.path)
        return SnapshotContent(
            work=work,
            staged=self._read_staged(),
            absent=absent,
            submodules=submodules,
            skipped=skipped,
        )

    def _read_path(self, path: str, *, is_tracked: bool) -> TreeEntry | Skipped | None:
        """Return a file as it is now, why it is left out, or None if it does not exist."""
        place = self._worktree / path
        try:
            found = place.lstat()
            if stat.S_ISDIR(found.st_mode):
                # A folder in the place of a tracked file: git lists the files in it.
                return None if is_tracked else Skipped(path, "it is a repository of its own")
            if why := why_by_name(path) or (None if is_inside_worktree(path) else _GITS_OWN):
                return Skipped(path, why)
            if found.st_size > MAX_FILE_BYTES:
                return Skipped(path, _TOO_LARGE)
            return self._read_file(path, place, found)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return Skipped(path, f"it cannot be read: {error.strerror}")

    def _read_file(self, path: str, place: Path, found: os.stat_result) -> TreeEntry | Skipped:
        key = os.fsencode(path)
        mode = _find_mode(found)
        seen = self._cache.files.get(key)
        if seen is not None and _is_same(seen, mode, found):
            self._files[key] = seen
            return TreeEntry(mode, seen.blob, path)
        content, found = _read_content(place, found)
        if len(content) > MAX_FILE_BYTES:
            # It has grown since it was looked at.
            return Skipped(path, _TOO_LARGE)
        if self._new_bytes + len(content) > MAX_NEW_BYTES:
            return Skipped(path, "too much is new at once")
        blob = self._keep(content)
        self._files[key] = _Seen(
            mode, blob, len(content), found.st_mtime_ns, found.st_ctime_ns, found.st_ino
        )
        return TreeEntry(mode, blob, path)

    def _keep(self, content: bytes) -> str:
        blob = compute_blob_id(content)
        if blob not in self._new:
            self._new[blob] = content
            self._new_bytes += len(content)
        return blob

    def _read_staged(self) -> list[TreeEntry]:
        wanted = [
            each
            for each in self._found.paths
            if each.staged_blob and not each.is_submodule and not why_by_name(each.path)
        ]
        if not wanted:
            return []
        left = max(1.0, self._deadline - time.monotonic())
        blobs = [each.staged_blob or "" for each in wanted]
        contents = read_staged(self._repository, blobs, limit=MAX_FILE_BYTES, seconds=left)
        return [
            TreeEntry(each.staged_mode or _REGULAR, self._keep(content), each.path)
            for each, content in zip(wanted, contents, strict=False)
            if content is not None
        ]

    def _read_again(self, content: SnapshotContent) -> bool:
        """Read what the cache calls stored; return whether there was anything to read."""
        old = [each for each in content.work if each.blob not in self._new]
        for entry in old:
            place = self._worktree / entry.path
            self._keep(_read_content(place, place.lstat())[0])
        return bool(old)


def _find_mode(found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return _LINK
    return _EXECUTABLE if found.st_mode & stat.S_IXUSR else _REGULAR


def _is_same(seen: _Seen, mode: str, found: os.stat_result) -> bool:
    return (seen.mode, seen.size, seen.mtime_ns, seen.ctime_ns, seen.inode) == (
        mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino,
    )  # fmt: skip


def _read_content(place: Path, found: os.stat_result) -> tuple[bytes, os.stat_result]:
    if stat.S_ISLNK(found.st_mode):
        return os.fsencode(os.readlink(place)), found  # noqa: PTH115 - Path normalizes it
    with open(open_file(place), "rb") as file:  # noqa: PTH123 - a descriptor
        content = file.read(MAX_FILE_BYTES + 1)
        # Taken from the open file: what was read is what is remembered.
        return content, os.fstat(file.fileno())


def _read_cache(place: Path) -> _Cache:
    try:
        data, _ = disk.read(place)
        return msgspec.msgpack.decode(data, type=_Cache)
    except (OSError, StoreRefused, msgspec.DecodeError):
        return _Cache()


def _as_bytes(content: SnapshotContent) -> list[object]:
    """Return a snapshot's content as values that msgpack can hold, whatever the paths are."""
    return [
        [[each.mode, each.blob, os.fsencode(each.path)] for each in content.work],
        [[each.mode, each.blob, os.fsencode(each.path)] for each in content.staged],
        [os.fsencode(each) for each in content.absent],
        [[sha, os.fsencode(path)] for path, sha in content.submodules.items()],
        [[each.why, os.fsencode(each.path)] for each in content.skipped],
    ]
