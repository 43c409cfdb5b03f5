"""Write files so that they survive kill -9 and power loss, and refuse planted ones.

Every open uses O_NOFOLLOW and O_NONBLOCK and checks what it got: leftoff never writes through a
symlink, FIFO, device or hard link in the store, and never blocks on one.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from leftoff.errors import StoreRefused
from leftoff.projects.project import is_linked_store
from leftoff.store.name_file import NO_LINKS, name_without_link

__all__ = [
    "MOST_LOG_BYTES",
    "Folder",
    "append",
    "ensure_folder",
    "holds_private_folders",
    "is_own_folder",
    "is_private_folder",
    "is_regular",
    "is_regular_file",
    "lock",
    "make_folder",
    "make_private",
    "name_file",
    "read",
    "read_from",
    "replace",
    "rewrite",
    "sweep",
    "sync_folder",
    "touch",
    "write_all",
    "write_new",
]


_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_LOCK_WAIT_SECONDS = 10.0
# No file that leftoff writes whole comes near this size; a larger one is planted or damaged.
_LARGEST_BYTES = 64 * 1024 * 1024
MOST_LOG_BYTES = _LARGEST_BYTES
"""The size limit for a log that is read whole; anything beyond it is damage."""


def is_regular(path: Path) -> bool:
    """Return whether this is a regular file with a single name (no hard links)."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return is_regular_file(found)


def is_regular_file(found: os.stat_result) -> bool:
    """Return whether this stat result is of a regular file with a single name."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def write_new(path: Path, data: bytes, *, temps: Path) -> None:
    """Create a file durably and completely, or raise FileExistsError."""
    Folder(path.parent).write_new(path.name, data, temps=temps)


def name_file(temp: Path, target: Path) -> None:
    """Give a finished file its final name, or raise FileExistsError; the temp name may stay."""
    descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _give_name(temp, target.name, descriptor)
    finally:
        os.close(descriptor)


def _give_name(temp: Path, name: str, folder: int) -> None:
    """Name a finished file in an open folder, or raise FileExistsError; its old name may stay."""
    try:
        os.link(temp, name, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        name_without_link(temp, name, folder)


class Folder:
    """An open folder: files are created in it without resolving its path each time."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
        self._found = os.fstat(self._descriptor)

    def __del__(self) -> None:
        """Close the folder."""
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._descriptor)

    def is_still(self, found: os.stat_result) -> bool:
        """Return whether a stat result is of this folder."""
        return (found.st_ino, found.st_dev) == (self._found.st_ino, self._found.st_dev)

    def write_new(self, name: str, data: bytes, *, temps: Path) -> None:
        """Create a file durably and completely, or raise FileExistsError."""
        # Not O_TMPFILE: without a journal, as on ext2, the unnamed file's inode is written as
        # unused, and a third sync would be needed to correct that.
        temp = _write_temp(temps / Path(name).stem, data)
        try:
            _give_name(temp, name, self._descriptor)
        finally:
            _remove(temp)
        try:
            sync_open_folder(self._descriptor)
        except OSError:
            # The save was not acknowledged. Remove the file, or a retry elsewhere would store it
            # twice.
            self._take_back(name)
            raise

    def read(self, name: str, *, temps: Path) -> tuple[bytes, os.stat_result]:
        """Read a regular file in this folder, as the function `read` does."""
        descriptor = _open_safely(name, os.O_RDONLY, folder=self._descriptor)
        try:
            found = os.fstat(descriptor)
            if not is_regular_file(found):
                found = _check_regular(descriptor, name, twin=temps / Path(name).stem)
            return _read_whole(descriptor, found, name), found
        finally:
            os.close(descriptor)

    def _take_back(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self._descriptor)


def replace(path: Path, data: bytes, *, temps: Path, durable: bool = True) -> None:
    """Replace a file atomically; durable unless the caller can lose it."""
    _refuse_links_to(path)
    temp = _write_temp(temps / f"{path.stem}-{os.urandom(4).hex()}", data, durable=durable)
    try:
        temp.replace(path)
    except BaseException:
        _remove(temp)
        raise
    if durable:
        sync_folder(path.parent)


# Enough of a file to identify its type; SQLite's header string has this length.
_MAGIC_BYTES = 16


def rewrite(path: Path, data: bytes, *, once_empty: Callable[[], None]) -> None:
    """Rewrite a derived file in place, header last: a partial file is not recognized as valid."""
    descriptor = _open_safely(path, os.O_RDWR)
    try:
        _check_regular(descriptor, path)
        os.ftruncate(descriptor, 0)
        once_empty()
        os.lseek(descriptor, _MAGIC_BYTES, os.SEEK_SET)
        write_all(descriptor, data[_MAGIC_BYTES:])
        os.fsync(descriptor)
        os.lseek(descriptor, 0, os.SEEK_SET)
        write_all(descriptor, data[:_MAGIC_BYTES])
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_temp(temp: Path, data: bytes, *, durable: bool = True) -> Path:
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
    try:
        write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    except BaseException:
        _remove(temp)
        raise
    finally:
        os.close(descriptor)
    return temp


def _remove(temp: Path) -> None:
    with contextlib.suppress(OSError):
        temp.unlink()


def append(path: Path, line: bytes, *, durable: bool = True) -> tuple[int, int]:
    """Append one line to a log and return where it begins and ends.

    If a crash left a torn last line, a newline is added to it first.
    """
    descriptor = _open_safely(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        size = _check_regular(descriptor, path).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        added = (b"\n" if torn else b"") + line + b"\n"
        write_all(descriptor, added)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if not size:
        # The log is new: syncing the file makes the line durable, but its name needs a folder sync.
        sync_folder(path.parent)
    return size, size + len(added)


def read(path: Path, *, temps: Path | None = None) -> tuple[bytes, os.stat_result]:
    """Read a regular file of the store and return its content and stat result.

    If write_new was killed between link and unlink, the file and its temporary twin share one
    inode. With `temps`, that twin does not count as a foreign hard link.
    """
    descriptor = _open_safely(path, os.O_RDONLY)
    try:
        found = _check_regular(descriptor, path, twin=temps and temps / path.stem)
        return _read_whole(descriptor, found, path), found
    finally:
        os.close(descriptor)


def read_from(path: Path, offset: int, *, limit: int | None = None) -> bytes:
    """Read a regular file of the store from an offset; a missing file counts as empty."""
    try:
        descriptor = _open_safely(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    try:
        size = _check_regular(descriptor, path).st_size
        os.lseek(descriptor, offset, os.SEEK_SET)
        rest = max(0, size - offset)
        return _read_all(descriptor, rest if limit is None else min(limit, rest))
    finally:
        os.close(descriptor)


def sweep(temps: Path) -> None:
    """Remove the temporary files of killed writers; the caller must hold the lock."""
    for temp in temps.iterdir():
        _remove(temp)


@contextlib.contextmanager
def lock(path: Path, *, seconds: float = _LOCK_WAIT_SECONDS) -> Iterator[bool]:
    """Hold a lock and yield True, or yield False after a timeout and continue without it.

    The store's lock only orders writers. Each write is safe without it, so a stopped process that
    holds the lock must not keep others from saving.
    """
    try:
        descriptor = _open_safely(path, os.O_RDWR | os.O_CREAT)
    except OSError:
        yield False
        return
    try:
        _check_regular(descriptor, path)
        yield _acquire(descriptor, seconds)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    pause = 0.001
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.004)
        except OSError:  # a file system without locks
            return False
        else:
            return True


def touch(path: Path) -> None:
    """Create an empty file durably if it does not exist."""
    os.close(_open_safely(path, os.O_WRONLY | os.O_CREAT))
    sync_folder(path.parent)


def _open_safely(path: Path | str, flags: int, *, folder: int | None = None) -> int:
    if folder is None:
        _refuse_links_to(path)
    try:
        return os.open(path, flags | _SAFE, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise
        raise StoreRefused(
            f"{path} is not a regular file, so leftoff left it unchanged",
            hint="Move it away and try again.",
        ) from error


def _refuse_links_to(path: Path | str) -> None:
    """Refuse a file in a store whose folder is a link."""
    if is_linked_store(path):
        raise StoreRefused(
            f"A parent folder of {path} is a link, so leftoff left it unchanged",
            hint="Remove the link and try again.",
        )


def _check_regular(
    descriptor: int, path: Path | str, *, twin: Path | None = None
) -> os.stat_result:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise StoreRefused(
            f"{path} is not a regular file, so leftoff left it unchanged",
            hint="Move it away and try again.",
        )
    if found.st_nlink > 1 and not (twin and _is_twin(descriptor, twin)):
        raise StoreRefused(
            f"{path} is hard-linked to a file elsewhere, so leftoff left it unchanged",
            hint="Move it away and try again.",
        )
    return found


def _is_twin(descriptor: int, twin: Path) -> bool:
    """Return whether the other hard link is the temporary name, which may just be being removed."""
    return _is_inode(twin, os.fstat(descriptor).st_ino) or os.fstat(descriptor).st_nlink == 1


def _is_inode(path: Path, inode: int) -> bool:
    try:
        return path.lstat().st_ino == inode
    except OSError:
        return False


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything to an open file; a single write may be partial."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_whole(descriptor: int, found: os.stat_result, path: Path | str) -> bytes:
    if found.st_size > _LARGEST_BYTES:
        raise StoreRefused(
            f"{path} is larger than {_LARGEST_BYTES // 1024**2} MB, so it is not read",
            hint="leftoff does not write files of this size. Move it away and try again.",
        )
    return _read_all(descriptor, found.st_size)


def _read_all(descriptor: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# --- folders ---


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
            raise _refuse_no_folder(folder) from None
        if not folder.parent.is_dir():
            ensure_folder(folder.parent)
        # Another process may create it at the same moment; the checks below cover both cases.
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            sync_folder(folder.parent)
        found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or is_linked_store(folder):
        raise _refuse_no_folder(folder)
    if found.st_uid != os.getuid():
        raise StoreRefused(
            f"{folder} belongs to another user, so leftoff does not write there",
            hint="Move it away, or set LEFTOFF_HOME to a folder that you own.",
        )
    return found


def _refuse_no_folder(folder: Path) -> StoreRefused:
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


def make_private(root: Path) -> None:
    """Let only the user access a folder and everything in it; skip links and what is not a file."""
    for path in (root, *root.rglob("*")):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | _SAFE)
            try:
                found = os.fstat(descriptor)
                if stat.S_ISDIR(found.st_mode):
                    os.fchmod(descriptor, 0o700)
                elif is_regular_file(found):
                    os.fchmod(descriptor, 0o600)
            finally:
                os.close(descriptor)


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
