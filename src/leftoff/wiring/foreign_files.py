"""Write or remove files for `init` and `uninstall`; keep links, modes and owners of other files."""

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from leftoff.errors import LeftoffError
from leftoff.store import disk

# The folder is not writable, or the file is a mount point of its own (as in a container).
_NO_REPLACING = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """The old and new content of a file; None means that the file does not exist."""

    path: Path
    what: str
    """What the file is for."""
    before: bytes | None
    after: bytes | None
    mode: int = 0o644
    is_foreign: bool = False
    """Whether the file may contain what someone else wrote."""
    agent: str = ""
    """The agent that the file belongs to; empty for leftoff's own and for shared ones."""

    @property
    def action(self) -> str:
        """The change in one word: create, change or remove."""
        if self.after is None:
            return "remove"
        return "create" if self.before is None else "change"


def merge_changes(changes: Sequence[FileChange]) -> list[FileChange]:
    """Return one change for each file, from what it was to what it will be in the end."""
    merged: dict[Path, FileChange] = {}
    for change in changes:
        first = merged.get(change.path)
        merged[change.path] = change if first is None else _join_changes(first, change)
    return [*merged.values()]


def _join_changes(first: FileChange, last: FileChange) -> FileChange:
    what = f"{first.what}; {last.what}"
    agent = first.agent or last.agent
    return msgspec.structs.replace(last, before=first.before, what=what, agent=agent)


def read(path: Path) -> bytes | None:
    """Return a file's content; None if it does not exist."""
    if path.exists() and not path.is_file():
        raise LeftoffError(
            f"{path} is not a file, so nothing was changed", hint="Move it away and try again."
        )
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def check_writable(path: Path) -> None:
    """Raise an error if a file is read-only."""
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise LeftoffError(
            f"{path} is read-only, so nothing was changed",
            hint=f"Make it writable (chmod u+w {path}), or change it where it is managed.",
        )


def apply(change: FileChange) -> list[Path]:
    """Make a change unless the file changed meanwhile; return the folders created for it."""
    if read(change.path) != change.before:
        raise LeftoffError(
            f"Another program just changed {change.path}, so leftoff left it unchanged",
            hint="Try again.",
        )
    made = missing_folders(change.path) if change.after is not None else []
    try:
        write_or_remove(change, change.after)
    except BaseException:
        remove_folders(made)
        raise
    return made


def missing_folders(path: Path) -> list[Path]:
    """List the folders to create for a file, outermost first."""
    parents = Path(os.path.realpath(path)).parents
    return [folder for folder in reversed(parents) if not folder.exists()]


def write_or_remove(change: FileChange, data: bytes | None) -> None:
    """Write a file, or remove it if the data is None.

    In an agent's settings, follow a link and write its target. In leftoff's own folders, replace
    a link: leftoff never creates one there.
    """
    target = Path(os.path.realpath(change.path)) if change.is_foreign else change.path
    if not change.is_foreign and target.is_symlink():
        target.unlink()
    if data is None:
        target.unlink(missing_ok=True)
        disk.sync_folder(target.parent)
        return
    if not change.is_foreign:
        disk.ensure_folder(target.parent)
    disk.make_folder(target.parent)
    found = target.stat() if target.exists() else None
    if found is not None and found.st_nlink > 1:  # a new file would break the hard links
        _overwrite(target, data)
        return
    keeps_mode = found is not None and change.is_foreign
    try:
        mode = stat.S_IMODE(found.st_mode) if found and keeps_mode else change.mode
        _replace(target, data, mode=mode, like=found)
    except OSError as error:
        if found is None or error.errno not in _NO_REPLACING:
            raise
        _overwrite(target, data)


def remove_folders(folders: list[Path]) -> None:
    """Remove the folders that were created for a file, if they are empty."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _replace(path: Path, data: bytes, *, mode: int, like: os.stat_result | None) -> None:
    temp = path.with_name(f".{path.name}.leftoff-{os.getpid()}")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - already open
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            # Keep the owner when root edits another user's file.
            if like is not None and like.st_uid != os.geteuid():
                os.fchown(descriptor, like.st_uid, like.st_gid)
            os.fsync(descriptor)
        temp.replace(path)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    disk.sync_folder(path.parent)


def _overwrite(path: Path, data: bytes) -> None:
    # This is not atomic, so write the old content again if it fails.
    with path.open("r+b") as file:
        before = file.read()
        try:
            _fill(file, data)
        except BaseException:
            _fill(file, before)
            raise


def _fill(file: BinaryIO, data: bytes) -> None:
    file.seek(0)
    file.write(data)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())
