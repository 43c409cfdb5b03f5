"""Where a project's snapshots are: a small record for each, and one object store for the files.

A record is written after its files, so what is listed can be restored. A snapshot is a commit in an
object store of leftoff's own, with these paths:

- `work/…`: the files as they were in the worktree, byte for byte;
- `staged/…`: what was staged, where it differs from HEAD and from the worktree;
- `absent`, `submodules`, `skipped`: lists of paths, each ended by a NUL byte.
"""

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.checkpoint import is_id
from leftoff.digests import sha256
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.git.object_store import NewFile, ObjectStore, TreeEntry
from leftoff.git.repository import is_full_sha
from leftoff.projects.project import Project
from leftoff.snapshots.safe_paths import is_inside_worktree
from leftoff.store import disk
from leftoff.text.fence import printable

SnapshotTrigger = Literal[
    "turn", "checkpoint", "precompact", "command", "manual", "restore", "import"
]

_WORK, _STAGED = "work/", "staged/"
_SHORT = 8
_LEAST = 4
# The clock of a file system may be a little behind.
_SLACK_NS = 2_000_000_000
# A file may have 10 MB.
_AT_ONCE = 20


class Skipped(msgspec.Struct, frozen=True):
    """A file that a snapshot does not hold, and why."""

    path: str
    why: str


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The record of one snapshot."""

    id: str
    at: datetime
    worktree: str
    trigger: SnapshotTrigger
    head: str | None = None
    branch: str | None = None
    thread: str | None = None
    session: str | None = None
    command: str | None = None
    """The command that was about to run, if that is why it was taken."""
    files: int = 0
    absent: int = 0
    skipped: int = 0
    bytes: int = 0

    @property
    def short_id(self) -> str:
        """The end of the id, which is enough to name it."""
        return self.id[-_SHORT:]

    def is_of(self, thread: str | None, sessions: Collection[str | None]) -> bool:
        """Return whether it shows the work of a thread, or of one of the thread's sessions.

        The first snapshots of a session are often older than its thread.
        """
        if self.thread is not None or self.session is None:
            return self.thread is not None and self.thread == thread
        return self.session in sessions


_WHY = {
    "turn": "after a turn",
    "checkpoint": "with a checkpoint",
    "precompact": "before a compaction",
    "manual": "by you",
    "restore": "before a restore",
    "import": "imported",
}


def describe_reason(snapshot: Snapshot) -> str:
    """Say when or why a snapshot was taken."""
    if snapshot.command:
        return f"before `{printable(snapshot.command)}`"
    return _WHY.get(snapshot.trigger, "before a command")


class SnapshotContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot holds."""

    work: list[TreeEntry] = []
    staged: list[TreeEntry] = []
    absent: list[str] = []
    """Tracked files that were deleted."""
    submodules: dict[str, str] = {}
    """The commit that each changed submodule was at."""
    skipped: list[Skipped] = []


class StoredSnapshot(msgspec.Struct, frozen=True):
    """A snapshot with its content, on the shelf that holds it."""

    shelf: "Shelf"
    record: Snapshot
    content: SnapshotContent
    is_whole: bool = True
    """Whether the content is all of it, and not some chosen paths."""

    def read(self, entries: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        """Yield files with their contents, a limited number at a time."""
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            contents = self.shelf.objects.read(each.blob for each in some)
            yield from ((entry, data) for entry, (_, data) in zip(some, contents, strict=True))


class Shelf:
    """The snapshots of one store folder."""

    def __init__(self, root: Path) -> None:
        self.root = root / "snapshots"
        self.objects = ObjectStore(self.root / "objects.git")
        self._records = self.root / "records"
        self._destroyed = self.root / "destroyed"
        self._temps = self.root / "tmp"

    def prepare(self) -> None:
        """Create the folders; the store's folder must exist."""
        for folder in (self.root.parent, self.root, self._records, self._temps):
            disk.ensure_folder(folder)
        self.objects.prepare()

    def lock(self, seconds: float) -> contextlib.AbstractContextManager[bool]:
        """Hold the lock that keeps dropping files apart from adding some."""
        return disk.lock(self.root / "lock", seconds=seconds)

    def lock_tidying(self) -> contextlib.AbstractContextManager[bool]:
        """Hold the lock of the one process that packs; the others need not wait for it."""
        return disk.lock(self.root / "tidy.lock", seconds=0.0)

    def add(self, snapshot: Snapshot, files: Iterable[NewFile], *, seconds: float) -> None:
        """Store a snapshot durably: its files first, then its record; the lock must be held."""
        at = int(snapshot.at.timestamp())
        since = time.time_ns() - _SLACK_NS
        try:
            self.objects.commit(snapshot.id, snapshot.id, files, at=at, seconds=seconds)
        except StoreRefused:
            # On a full disk, an unfinished pack would take the last free space.
            with contextlib.suppress(OSError), self.lock_tidying() as is_first:
                if is_first:
                    self.objects.remove_temps()
            raise
        # Git syncs the files that it writes, but not the folders that hold their names.
        for folder in self.objects.list_changed_folders(since):
            with contextlib.suppress(FileNotFoundError):
                disk.sync_folder(folder)
        record = msgspec.json.encode(snapshot)
        disk.write_new(self._records / f"{snapshot.id}.json", record, temps=self._temps)

    def ids(self) -> list[str]:
        """List the ids of all snapshots, oldest first."""
        try:
            names = os.listdir(self._records)  # noqa: PTH208 - only the names
        except OSError:
            return []
        stems = (name[:-5] for name in names if name.endswith(".json"))
        # They appear in commands, and are passed to git.
        return sorted(stem for stem in stems if is_id(stem))

    def read(self, snapshot_id: str) -> Snapshot | None:
        """Return the record of a snapshot; None if it is gone or damaged."""
        try:
            data, _ = disk.read(self._records / f"{snapshot_id}.json", temps=self._temps)
            found = msgspec.json.decode(data, type=Snapshot)
        except (OSError, LeftoffError, msgspec.DecodeError):
            return None
        # Both are passed to git, and anyone may have written the record.
        is_valid = found.id == snapshot_id and (found.head is None or is_full_sha(found.head))
        return found if is_valid else None

    def newest(self, limit: int | None = None) -> Iterator[Snapshot]:
        """Yield the records, newest first."""
        for each in self.ids()[::-1][:limit]:
            if (found := self.read(each)) is not None:
                yield found

    def content(self, snapshot: Snapshot) -> SnapshotContent:
        """List what a snapshot holds."""
        entries = self.objects.list_tree(snapshot.id)
        lists = {each.path: each.blob for each in entries if "/" not in each.path}
        texts = dict(self.objects.read(lists.values()))
        found = {name: _split(texts.get(blob, b"")) for name, blob in lists.items()}
        pairs = [each.partition("\n") for each in found.get("submodules", [])]
        why = [each.partition("\n") for each in found.get("skipped", [])]
        content = SnapshotContent(
            work=_list_below(entries, _WORK),
            staged=_list_below(entries, _STAGED),
            absent=found.get("absent", []),
            submodules={path: sha for sha, _, path in pairs},
            skipped=[Skipped(path, reason) for reason, _, path in why],
        )
        paths = [each.path for each in (*content.work, *content.staged)]
        if not all(map(is_inside_worktree, (*paths, *content.absent, *content.submodules))):
            raise StoreRefused(
                f"Snapshot {snapshot.short_id} is not used: it names files outside the worktree.",
                hint="leftoff does not take such snapshots. Find out where this one comes from.",
            )
        return content

    def note_destroyed(self, snapshot_id: str, paths: Iterable[str]) -> None:
        """Note which files of a snapshot a command has destroyed."""
        with contextlib.suppress(OSError, LeftoffError):
            disk.ensure_folder(self._destroyed)
            disk.replace(self._destroyed / snapshot_id, _join(paths), temps=self._temps)

    def list_destroyed(self) -> list[str]:
        """List the ids of the snapshots whose files a command has destroyed, newest first."""
        try:
            names = os.listdir(self._destroyed)  # noqa: PTH208 - only the names
        except OSError:
            return []
        return sorted(filter(is_id, names), reverse=True)

    def read_destroyed(self, snapshot_id: str) -> list[str]:
        """Return which files of a snapshot a command has destroyed."""
        try:
            return _split(disk.read(self._destroyed / snapshot_id, temps=self._temps)[0])
        except (OSError, LeftoffError):
            return []

    def remove(self, ids: Iterable[str]) -> None:
        """Remove snapshots; `drop_unnamed` then drops their files."""
        gone = [*ids]
        for each in gone:
            (self._records / f"{each}.json").unlink(missing_ok=True)
            (self._destroyed / each).unlink(missing_ok=True)
        self.objects.remove(gone)

    def size(self) -> int:
        """Return how many bytes all this takes on disk."""
        records = sum(self._records.joinpath(f"{each}.json").stat().st_size for each in self.ids())
        return self.objects.size() + records

    def stat_cache(self, worktree: Path) -> Path:
        """Return where the stat cache of a worktree is."""
        name = sha256(os.fsencode(worktree)).hexdigest()[:32]
        return self.root / f"seen-{name}.msgpack"

    def write_cache(self, place: Path, data: bytes) -> None:
        """Replace a stat cache; it can be lost at any time."""
        with contextlib.suppress(OSError, LeftoffError):
            disk.replace(place, data, temps=self._temps, durable=False)


def list_shelves(project: Project) -> list[Shelf]:
    """Return the shelves of a project: in its store, and in the fallback."""
    return [Shelf(project.store), Shelf(project.fallback)]


def list_snapshots(project: Project) -> list[tuple[Shelf, Snapshot]]:
    """List a project's snapshots, newest first."""
    found = [(shelf, each) for shelf in list_shelves(project) for each in shelf.newest()]
    return sorted(found, key=lambda pair: pair[1].id, reverse=True)


def find_newest_of(
    project: Project,
    thread: str,
    sessions: Collection[str | None] = (),
    *,
    until: datetime | None = None,
    among: int | None = None,
) -> Snapshot | None:
    """Return the newest snapshot of a thread's work, or the newest until a time."""
    found = (
        each
        for shelf in (list_shelves(project) if project.is_git else ())
        for each in shelf.newest(among)
        if each.is_of(thread, sessions) and each.trigger != "restore"
    )
    return max(
        (each for each in found if until is None or each.at <= until),
        key=lambda each: each.id,
        default=None,
    )


def find_snapshot(project: Project, name: str) -> StoredSnapshot | None:
    """Find a snapshot by its id, or by the end of it."""
    for shelf in list_shelves(project):
        for each in reversed(shelf.ids()):
            is_named = each == name or (len(name) >= _LEAST and each.endswith(name))
            if is_named and (found := shelf.read(each)) is not None:
                return StoredSnapshot(shelf, found, shelf.content(found))
    return None


def list_files(content: SnapshotContent, new: dict[str, bytes]) -> Iterator[NewFile]:
    """Yield the files of a snapshot's commit; `new` has the contents that are not stored yet."""
    for prefix, entries in ((_WORK, content.work), (_STAGED, content.staged)):
        for entry in entries:
            known = new.get(entry.blob)
            blob = entry.blob if known is None else None
            yield NewFile(prefix + entry.path, entry.mode, known, blob)
    submodules = [f"{sha}\n{path}" for path, sha in content.submodules.items()]
    skipped = [f"{each.why}\n{each.path}" for each in content.skipped]
    for name, lines in (
        ("absent", content.absent),
        ("submodules", submodules),
        ("skipped", skipped),
    ):
        if lines:
            yield NewFile(name, "100644", _join(lines))


def _list_below(entries: Iterable[TreeEntry], prefix: str) -> list[TreeEntry]:
    return [
        TreeEntry(each.mode, each.blob, each.path.removeprefix(prefix))
        for each in entries
        if each.path.startswith(prefix)
    ]


def _join(lines: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(line) + b"\0" for line in lines)


def _split(data: bytes) -> list[str]:
    return [os.fsdecode(each) for each in data.split(b"\0")[:-1]]
