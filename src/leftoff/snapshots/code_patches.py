"""Carry snapshots to another place as patches, and import them there.

A patch is plain text for `git apply`: a few lines on the snapshot, then the differences from the
commit below it. It has binary files, modes, links and deletions.
"""

import base64
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.checkpoint import id_time, is_id
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.git.base_index import BaseIndex, open_index
from leftoff.git.object_store import TreeEntry
from leftoff.git.repository import Repository, find_repository_at
from leftoff.git.uncommitted import has_commit
from leftoff.names import clean_name
from leftoff.projects.project import Project
from leftoff.snapshots.shelf import (
    Shelf,
    Snapshot,
    SnapshotContent,
    StoredSnapshot,
    find_newest_of,
    find_snapshot,
    list_files,
    list_shelves,
)
from leftoff.snapshots.take import MAX_FILE_BYTES, MAX_NEW_BYTES, SECONDS
from leftoff.store import disk
from leftoff.text.fence import line, printable

FOLDER = "leftoff-snapshots"
"""The folder with the patches, beside the files of an export."""
_TITLE = "leftoff-snapshot"
_SUBMODULE = "160000"
_SHA1_CHARS = 40
_START = b"diff --git "
_MOST_HEADER_BYTES = 65_536
_TOO_LARGE = "It has files that are too large for a snapshot."
# A binary file in a patch: compressed, and each line begins with a letter for its length. Git reads
# the number as C does. The first part makes the new file, and a second one the old file again.
_PART = rb"(literal|delta)[ \t\v\f\r]+\+?(\d+)[^\n]*\n((?:[A-Za-z][^\n]+\n)*)"
_NEW_FILE = re.compile(rb"^GIT binary patch\n" + _PART, re.MULTILINE)
_ANY_FILE = re.compile(rb"^" + _PART, re.MULTILINE)
_SIZES_BYTES = 20


class PatchReport(msgspec.Struct, frozen=True, kw_only=True):
    """Which patches were written or imported, and which could not be."""

    done: list[str] = []
    """The files that were written, or the snapshots that were imported."""
    problems: dict[str, str] = {}


# Writing


def write_patch(project: Project, stored: StoredSnapshot, thread: str | None = None) -> bytes:
    """Return a snapshot as a patch on the commit below it; empty if no file differs."""
    repository, record = _find_repository(project), stored.record
    if record.head and len(record.head) != _SHA1_CHARS:
        raise LeftoffError("Repositories with SHA-256 ids have no patches yet.")
    if record.head and not has_commit(project.worktree, record.head):
        raise LeftoffError(
            f"The commit below this snapshot is gone: {record.head}",
            hint="`leftoff snapshot restore` brings its files back without it.",
        )
    content = stored.content
    submodules = [TreeEntry(_SUBMODULE, sha, path) for path, sha in content.submodules.items()]
    with open_index(stored.shelf.objects, repository, record.head) as index:
        index.put([*content.work, *(each for each in submodules if each.blob)], content.absent)
        body = index.diff()
    return "\n".join([*_write_header(stored, thread), "", ""]).encode() + body if body else b""


def _write_header(stored: StoredSnapshot, thread: str | None) -> Iterator[str]:
    record = stored.record
    yield f"{_TITLE}: {record.id}"
    for name, value in (("thread", thread), ("base", record.head), ("branch", record.branch)):
        if value:
            yield f"{name}: {line(printable(value))}"
    for each in stored.content.skipped:
        yield f"left out: {line(printable(each.path))} ({each.why})"


class ExportedThread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread whose code is exported."""

    slot: str
    name: str
    sessions: frozenset[str | None] = frozenset()


def export_patches(
    project: Project, threads: Iterable[ExportedThread], folder: Path
) -> PatchReport:
    """Write the newest snapshot of each thread as a patch."""
    written: list[str] = []
    problems: dict[str, str] = {}
    for thread in threads:
        newest = find_newest_of(project, thread.slot, thread.sessions)
        stored = find_snapshot(project, newest.id) if newest is not None else None
        if stored is None:
            continue
        try:
            place = folder / FOLDER / f"{clean_name(thread.name).replace('/', '-')}.patch"
            if patch := write_patch(project, stored, thread.name):
                place.parent.mkdir(parents=True, exist_ok=True)
                disk.replace(place, patch, temps=place.parent)
                written.append(str(place))
        except LeftoffError as error:
            problems[f"snapshot {stored.record.short_id}"] = str(error)
    return PatchReport(done=written, problems=problems)


# Reading


def import_patches(
    project: Project, folder: Path, find_thread: Callable[[str], str | None]
) -> PatchReport:
    """Import the patches of an export as snapshots; those that are known are left alone."""
    imported: list[str] = []
    problems: dict[str, str] = {}
    for place in sorted((folder / FOLDER).glob("*.patch")) if project.is_git else ():
        try:
            if (added := _import_patch(project, place, find_thread)) is not None:
                imported.append(added.id)
        except (LeftoffError, OSError, ValueError) as error:
            problems[str(place)] = str(error)
    return PatchReport(done=imported, problems=problems)


def _import_patch(
    project: Project, place: Path, find_thread: Callable[[str], str | None]
) -> Snapshot | None:
    data, _ = disk.read(place)
    header = _parse_header(data)
    snapshot_id, base = header.get(_TITLE, ""), header.get("base")
    if not is_id(snapshot_id):
        raise LeftoffError("It is not a snapshot that leftoff exported.")
    if any(snapshot_id in shelf.ids() for shelf in list_shelves(project)):
        return None
    if _is_too_large(data):
        raise LeftoffError(_TOO_LARGE)
    if base and not has_commit(project.worktree, base):
        raise LeftoffError(
            f"Its commit {base[:8]} is not in this repository. Fetch it, then import again."
        )
    record = Snapshot(
        id=snapshot_id,
        at=min(id_time(snapshot_id), datetime.now(UTC)),
        worktree=os.fsencode(project.worktree).decode("utf-8", "replace"),
        trigger="import",
        head=base,
        branch=header.get("branch"),
        thread=find_thread(header.get("thread", "")),
    )
    return _store_snapshot(project, record, data)


def _parse_header(data: bytes) -> dict[str, str]:
    if len(data) > MAX_NEW_BYTES:
        raise LeftoffError("It is too large.")
    start = data.find(b"\n" + _START, 0, _MOST_HEADER_BYTES)
    text = data[: max(start, 0)].decode("utf-8", "replace")
    pairs = (each.partition(": ") for each in text.splitlines())
    return {name: value for name, _, value in pairs if value}


def _is_too_large(patch: bytes) -> bool:
    """Return whether a patch has a binary file that no snapshot would hold.

    Git would unpack gigabytes from a small patch before anybody can look at the result.
    """
    new = max(_list_sizes(_NEW_FILE, patch), default=0)
    return new > MAX_FILE_BYTES or max(_list_sizes(_ANY_FILE, patch), default=0) > MAX_NEW_BYTES


def _list_sizes(pattern: re.Pattern[bytes], patch: bytes) -> Iterator[int]:
    for kind, size, lines in pattern.findall(patch):
        yield int(size[:_SIZES_BYTES])
        if kind == b"delta":
            yield _read_result_size(lines)


def _read_result_size(lines: bytes) -> int:
    """Return the size of the file that a delta makes: the second number at its beginning."""
    try:
        packed = b"".join(_decode_line(each) for each in lines.splitlines())
        start = zlib.decompressobj().decompress(packed, _SIZES_BYTES)
    except (ValueError, zlib.error):
        # Git refuses it, too.
        return 0
    numbers, shift = [0], 0
    for byte in start:
        numbers[-1] |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(0)
            shift = 0
    return numbers[1] if len(numbers) > 1 else 0


def _decode_line(line: bytes) -> bytes:
    count = line[0] - (ord("A") - 1 if line[:1].isupper() else ord("a") - 27)
    return base64.b85decode(line[1:])[:count]


def _store_snapshot(project: Project, record: Snapshot, patch: bytes) -> Snapshot:
    trouble: Exception | None = None
    for shelf in list_shelves(project):
        try:
            shelf.prepare()
            with shelf.lock(SECONDS) as is_held:
                if is_held:
                    return _add(shelf, _find_repository(project), record, patch)
        except (OSError, StoreRefused) as error:
            trouble = trouble or error
    raise trouble or StoreRefused("The snapshots are being packed.", hint="Try again in a minute.")


def _add(shelf: Shelf, repository: Repository, record: Snapshot, patch: bytes) -> Snapshot:
    with open_index(shelf.objects, repository, record.head) as index:
        index.apply(patch)
        found = index.list_changes()
        work = [each for each in found.entries if each.mode != _SUBMODULE]
        _check_sizes(index, work)
        contents = index.read(work)
    content = SnapshotContent(
        work=work,
        absent=found.absent,
        submodules={each.path: each.blob for each in found.entries if each.mode == _SUBMODULE},
    )
    whole = msgspec.structs.replace(
        record, files=len(work), absent=len(found.absent), bytes=sum(map(len, contents.values()))
    )
    shelf.add(whole, list_files(content, contents), seconds=SECONDS)
    return whole


def _check_sizes(index: BaseIndex, entries: Iterable[TreeEntry]) -> None:
    sizes = index.sizes(entries)
    if max(sizes, default=0) > MAX_FILE_BYTES or sum(sizes) > MAX_NEW_BYTES:
        raise LeftoffError(_TOO_LARGE)


def _find_repository(project: Project) -> Repository:
    repository = find_repository_at(project.worktree, is_named=True) if project.is_git else None
    if repository is None:
        raise LeftoffError("Snapshots need a git repository; this folder is not in one.")
    return repository
