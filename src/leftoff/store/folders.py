"""Create the store's private folders, sync them, and refuse ones that others can change."""

import contextlib
import errno
import os
import stat
from pathlib import Path

from leftoff.errors import StoreRefused
from leftoff.projects.trees import is_linked_store

_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EISDIR})
_NOT_THERE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG}
)


def ensure_folder(folder: Path) -> os.stat_result:
    """Create a private folder and return its stat result; refuse links and others' folders."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        if is_linked_store(folder):
            raise _no_folder(folder) from None
        if not folder.parent.is_dir():
            ensure_folder(folder.parent)
        # Another process may create it at the same moment; the checks below cover both cases.
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            sync_folder(folder.parent)
        found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or is_linked_store(folder):
        raise _no_folder(folder)
    if found.st_uid != os.getuid():
        raise StoreRefused(
            f"{folder} belongs to another user, so leftoff does not write there",
            hint="Move it away, or set LEFTOFF_HOME to a folder that you own.",
        )
    return found


def _no_folder(folder: Path) -> StoreRefused:
    return StoreRefused(
        f"{folder} is not a folder, so leftoff cannot write there",
        hint="Move it away; leftoff will create the folder.",
    )


def make_folder(folder: Path) -> None:
    """Create a folder among the user's own files durably, with the user's umask.

    Without a sync of its parent, a power cut can remove the folder and everything synced in it.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise
    sync_folder(folder.parent)


def is_own_folder(folder: Path) -> bool:
    """Return whether this is a folder that the user owns, and not a link.

    A disk that does not respond raises an error. Treating it as a missing folder would empty the
    index.
    """
    return _is_own(folder, others_may=0o777)


def is_private_folder(folder: Path, *, others_may: int = 0) -> bool:
    """Return whether only the user can access a folder; `others_may` allows some mode bits."""
    return _is_own(folder, others_may=others_may)


def holds_private_folders(folder: Path) -> bool:
    """Return whether no other user can remove or replace what is in a folder."""
    found = folder.stat()
    # With the sticky bit, as on /tmp, others cannot remove what they do not own.
    is_open = found.st_mode & 0o002 and not found.st_mode & stat.S_ISVTX
    return found.st_uid in {os.getuid(), 0} and not is_open


def _is_own(folder: Path, *, others_may: int) -> bool:
    try:
        found = os.lstat(folder)
    except OSError as error:
        if error.errno in _NOT_THERE:
            return False
        raise
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and not found.st_mode & 0o077 & ~others_may


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_open_folder(descriptor)
    finally:
        os.close(descriptor)


def sync_open_folder(descriptor: int) -> None:
    """Make the entries of an open folder durable, where the file system can."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder. The file itself is already durable.
        if error.errno not in _NO_FOLDER_SYNC:
            raise
