"""Restore the files of a snapshot: into a new worktree, or into the present one.

Nothing is written over uncommitted work that no snapshot holds, and ignored files are never
touched.
"""

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError, UsageError
from leftoff.git.object_store import TreeEntry, compute_blob_id
from leftoff.git.repository import find_repository_at
from leftoff.git.uncommitted import has_commit, list_uncommitted
from leftoff.git.write import Repo
from leftoff.projects.project import Project
from leftoff.snapshots.safe_paths import LinkFinder
from leftoff.snapshots.shelf import (
    Skipped,
    Snapshot,
    SnapshotContent,
    StoredSnapshot,
    find_snapshot,
)
from leftoff.snapshots.take import MAX_FILE_BYTES, SECONDS, Reason, take_snapshot

_LINK, _EXECUTABLE = "120000", "100755"
_IGNORED = "git ignores it now"
_UNWRITTEN = "git did not write it"
FOLDER_IN_PLACE = "a folder with files now has its name"


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a snapshot beside the same path in the worktree."""

    path: str
    state: str
    """same, changed or missing; `present` if the snapshot says that it was deleted."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What a restore did."""

    folder: Path
    branch: str | None = None
    written: list[str] = []
    removed: list[str] = []
    left: list[Skipped] = []
    """What was not restored, because the file in its place could not be kept."""
    before: Snapshot | None = None
    """The state of the worktree before, if files were written into it."""
    base: str | None = None
    """The commit that the branch starts from."""
    is_base_gone: bool = False


def compare_worktree(worktree: Path, content: SnapshotContent) -> list[FileState]:
    """Compare the files of a snapshot with a worktree."""
    links = LinkFinder(worktree)
    states = [
        FileState(
            path=each.path,
            state="missing"
            if links.is_behind_link(each.path)
            else _compare_file(worktree / each.path, each),
        )
        for each in content.work
    ]
    there = [each for each in content.absent if _has_file(worktree, each, links)]
    return [*states, *(FileState(path=each, state="present") for each in there)]


def _has_file(worktree: Path, path: str, links: LinkFinder) -> bool:
    place = worktree / path
    # A folder with the name of a deleted file is not that file, nor is what is behind a link.
    is_there = os.path.lexists(place) and not links.is_behind_link(path)
    return is_there and (place.is_symlink() or not place.is_dir())


def _has_content(place: Path) -> bool:
    try:
        return place.lstat().st_size > 0
    except OSError:
        return False


def list_conflicts(worktree: Path, content: SnapshotContent) -> list[str]:
    """List the files that a restore would replace although they have newer edits.

    A file that is as committed does not conflict: git still has it. An empty one does not, either.
    """
    differing = {each.path for each in compare_worktree(worktree, content) if each.state != "same"}
    repository = find_repository_at(worktree, is_named=True)
    if not differing or repository is None:
        return []
    now = list_uncommitted(repository, seconds=SECONDS).paths
    return [
        each.path for each in now if each.path in differing and _has_content(worktree / each.path)
    ]


def _compare_file(place: Path, entry: TreeEntry) -> str:
    try:
        found = place.lstat()
        if stat.S_ISLNK(found.st_mode):
            now, is_link = os.fsencode(os.readlink(place)), True  # noqa: PTH115 - Path normalizes
        elif stat.S_ISREG(found.st_mode) and found.st_size <= MAX_FILE_BYTES:
            now, is_link = place.read_bytes(), False
        else:
            return "changed"
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except OSError:
        return "changed"
    is_executable = bool(found.st_mode & stat.S_IXUSR) and not is_link
    is_same_mode = (entry.mode == _LINK, entry.mode == _EXECUTABLE) == (is_link, is_executable)
    return "same" if is_same_mode and compute_blob_id(now) == entry.blob else "changed"


def select_paths(content: SnapshotContent, wanted: Collection[str]) -> SnapshotContent:
    """Keep only some paths of a snapshot; a folder stands for everything in it."""
    if not wanted:
        return content

    def is_wanted(path: str) -> bool:
        return any(path == each or path.startswith(f"{each.rstrip('/')}/") for each in wanted)

    known = [each.path for each in content.work] + content.absent
    for each in wanted:
        if not any(path == each or path.startswith(f"{each.rstrip('/')}/") for path in known):
            raise UsageError(
                f"This snapshot does not have {each}.",
                hint="`leftoff snapshot show` lists its files.",
            )
    return msgspec.structs.replace(
        content,
        work=[each for each in content.work if is_wanted(each.path)],
        staged=[each for each in content.staged if is_wanted(each.path)],
        absent=[each for each in content.absent if is_wanted(each)],
    )


def restore_here(project: Project, stored: StoredSnapshot) -> Restored:
    """Write the files of a snapshot into the present worktree; other files stay as they are.

    Files that were as committed then, and have been deleted since, come back from git.
    """
    folder, content = project.worktree, stored.content
    differing = {each.path for each in compare_worktree(folder, content) if each.state != "same"}
    missing = _list_deleted_since(folder, stored) if stored.is_whole else []
    if not differing and not missing:
        return Restored(folder=folder)
    in_way = {path: _list_in_way(folder, path) for path in differing}
    # Taken first, so that nothing is written over work that no snapshot holds.
    reason = Reason(trigger="restore", thread=stored.record.thread)
    replaced = sorted({*differing, *missing, *(each for some in in_way.values() for each in some)})
    before = take_snapshot(project, reason, worktree=folder, also=replaced)
    left = _list_unkept(project, before, in_way)
    removed = [each for each in content.absent if each in differing and each not in left]
    left |= _list_occupied(folder, (each.path for each in content.work), {*removed})
    work = [each for each in content.work if each.path in differing and each.path not in left]
    # Removed first: a folder may have become a file.
    for each in removed:
        _remove_file(folder, each)
    _write_files(folder, work, stored)
    if missing:
        Repo(folder).write_missing(missing)
        left |= {each: _UNWRITTEN for each in missing if not os.path.lexists(folder / each)}
    return Restored(
        folder=folder,
        written=[*(each.path for each in work), *(each for each in missing if each not in left)],
        removed=removed,
        left=[Skipped(path, why) for path, why in left.items()],
        before=before,
    )


def _list_in_way(folder: Path, path: str) -> list[str]:
    """List the files that a path would replace: itself, or one with the name of its folder."""
    parents, links = (str(each) for each in Path(path).parents), LinkFinder(folder)
    return [each for each in (path, *parents) if each != "." and _has_file(folder, each, links)]


def _list_occupied(folder: Path, paths: Iterable[str], removed: Collection[str]) -> dict[str, str]:
    """Return the files whose name a folder has now, if it holds more than what is removed."""
    links = LinkFinder(folder)
    return {
        path: FOLDER_IN_PLACE
        for path in paths
        if not links.is_behind_link(path)
        and not (folder / path).is_symlink()
        and any(each not in removed for each in _list_files_in(folder, path))
    }


def _list_files_in(folder: Path, path: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder / path):
        linked = [each for each in folders if os.path.islink(os.path.join(parent, each))]  # noqa: PTH114, PTH118 - as `walk` returns them
        for name in (*names, *linked):
            yield os.path.relpath(os.path.join(parent, name), folder)  # noqa: PTH118 - see above


def _list_unkept(
    project: Project, before: Snapshot | None, in_way: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the paths that must be left alone, with the reason.

    Nothing else has what is there: git ignores it, or the snapshot before could not hold it.
    """
    there = sorted({each for some in in_way.values() for each in some})
    why = dict.fromkeys(Repo(project.worktree).list_ignored(there) if there else (), _IGNORED)
    if before is None or before.skipped:
        stored = find_snapshot(project, before.id) if before is not None else None
        why |= {each.path: each.why for each in (stored.content.skipped if stored else ())}
    return {
        path: why[held]
        for path, some in in_way.items()
        if (held := next((each for each in some if each in why), None)) is not None
    }


def _list_deleted_since(folder: Path, stored: StoredSnapshot) -> list[str]:
    """List the files that a snapshot does not have because git does, if they are deleted now."""
    repository = find_repository_at(folder, is_named=True)
    if repository is None or Path(stored.record.worktree) != folder:
        return []
    now = list_uncommitted(repository, seconds=SECONDS)
    if now.trouble is not None or now.head != stored.record.head:
        return []
    content = stored.content
    known = {*(each.path for each in content.work), *content.absent, *content.submodules}
    known |= {each.path for each in content.skipped}
    return [
        each.path
        for each in now.paths
        if not (each.is_untracked or each.is_submodule or each.path in known)
        and not os.path.lexists(folder / each.path)
    ]


def select_replaced(
    before: SnapshotContent, restored: SnapshotContent, *, is_whole: bool
) -> SnapshotContent:
    """Return what a restore replaced, to undo it: the former state of the same paths."""
    paths = {*(each.path for each in restored.work), *restored.absent}
    if is_whole:
        # A whole restore also brought back what was deleted.
        paths |= {*before.absent}
    return msgspec.structs.replace(
        before,
        work=[each for each in before.work if each.path in paths],
        staged=[],
        absent=[each for each in before.absent if each in paths],
    )


def restore_apart(project: Project, stored: StoredSnapshot, folder: Path, branch: str) -> Restored:
    """Create a branch and a worktree with the files of a snapshot, as they were."""
    repo, content, head = Repo(project.worktree), stored.content, stored.record.head
    base = head if head and has_commit(project.worktree, head) else None
    start = base or repo.current_commit()
    if start is None:
        raise UsageError(
            "This repository has no commits, so git cannot add a worktree.",
            hint="Restore into this worktree with --here.",
        )
    made = repo.add_worktree(folder, branch, start)
    if not made.is_done:
        reason = made.trouble_lines[-1] if made.trouble_lines else "git gave no reason"
        raise LeftoffError(
            f"git cannot create the worktree {folder}: {reason}",
            hint="Choose another folder and branch with --to and --branch, or restore into this "
            "worktree with --here.",
        )
    for each in content.absent:
        _remove_file(folder, each)
    _write_files(folder, content.work, stored)
    _stage(folder, stored)
    return Restored(
        folder=folder,
        branch=branch,
        written=[each.path for each in content.work],
        removed=content.absent,
        base=start,
        is_base_gone=head is not None and base is None,
    )


def _write_files(folder: Path, entries: Sequence[TreeEntry], stored: StoredSnapshot) -> None:
    for entry, data in stored.read(entries):
        place = folder / entry.path
        _make_folder(folder, place.parent)
        _write_file(place, entry.mode, data)


def _make_folder(root: Path, folder: Path) -> None:
    """Create the folders of a file; whatever else has a folder's name is moved out of the way."""
    if folder == root:
        return
    _make_folder(root, folder.parent)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        # The snapshot before the restore has it.
        folder.unlink()
    folder.mkdir(exist_ok=True)


def _write_file(place: Path, mode: str, data: bytes) -> None:
    """Replace a file at once; a reader sees the old one or the new one."""
    if place.is_dir() and not place.is_symlink():
        # A folder that is in the way goes only if no file is in it: it may hold ignored ones.
        for parent, _, _ in os.walk(place, topdown=False):
            Path(parent).rmdir()
    # Named after the file, so that a restore that was killed leaves nothing the next one keeps.
    temp = place.with_name(f".leftoff-{compute_blob_id(os.fsencode(place.name))[:12]}")
    temp.unlink(missing_ok=True)
    try:
        if mode == _LINK:
            temp.symlink_to(os.fsdecode(data))
        else:
            # The user's umask decides who may read it, as when git checks a file out.
            permissions = 0o777 if mode == _EXECUTABLE else 0o666
            descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        temp.replace(place)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise


def _remove_file(folder: Path, path: str) -> None:
    if LinkFinder(folder).is_behind_link(path):
        # A commit that an archive brings can have a link where its snapshot has a folder.
        return
    place = folder / path
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        place.unlink()
    for parent in place.parents:
        if parent == folder:
            return
        try:
            parent.rmdir()
        except OSError:
            return


def _stage(folder: Path, stored: StoredSnapshot) -> None:
    """Stage in the new worktree what was staged."""
    repo = Repo(folder)
    for entry, data in stored.read(stored.content.staged):
        repo.stage_content(entry.path, entry.mode, data)
