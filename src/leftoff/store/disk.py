"""Writing that survives kill -9 and power loss, and refuses what was planted in its way.

Every open uses O_NOFOLLOW and O_NONBLOCK and looks at what it got: a symlink, FIFO, device or
hard link in the store is never written through, and never makes us wait.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from leftoff.errors import StoreRefused

# What file systems say that have none: overlays of old, network ones, and others.
_NO_UNNAMED_FILES = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_LOCK_WAIT_SECONDS = 10.0


def ensure_folder(folder: Path) -> os.stat_result:
    """Make a private folder, or refuse one that is a link or someone else's; return what it is."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        if not folder.parent.is_dir():
            ensure_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            sync_folder(folder.parent)
        found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise StoreRefused(
            f"{folder} is not a folder, so nothing is written there",
            hint="Move it away; leftoff makes the folder anew.",
        )
    if found.st_uid != os.getuid():
        raise StoreRefused(
            f"{folder} belongs to another user, so nothing is written there",
            hint="Move it away, or set LEFTOFF_HOME to a folder of your own.",
        )
    return found


def is_own_folder(folder: Path) -> bool:
    """Say whether this is a folder of the user's own, and no link to one."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def is_regular(path: Path) -> bool:
    """Say whether this is a plain file with one name."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return is_regular_file(found)


def is_regular_file(found: os.stat_result) -> bool:
    """Say whether the file system tells of a plain file with one name."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def write_new(path: Path, data: bytes, *, temps: Path) -> None:
    """Create a file with this content, durably, or raise FileExistsError; never half of it."""
    Folder(path.parent).write_new(path.name, data, temps=temps)


class Folder:
    """A folder of ours that is held open: files are made in it without a walk to each."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
        self._found = os.fstat(self._descriptor)

    def __del__(self) -> None:
        """Let go of the folder."""
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._descriptor)

    def is_still(self, found: os.stat_result) -> bool:
        """Say whether this is what the file system tells of a path."""
        return (found.st_ino, found.st_dev) == (self._found.st_ino, self._found.st_dev)

    def write_new(self, name: str, data: bytes, *, temps: Path) -> None:
        """Create a file with this content, durably, or raise FileExistsError; never half of it."""
        if not self._link_from_nowhere(name, data):
            temp = _written(temps / Path(name).stem, data)
            try:
                # A link, unlike a rename, fails when the name is taken.
                os.link(temp, name, dst_dir_fd=self._descriptor)
            finally:
                _remove(temp)
        _sync_open_folder(self._descriptor)

    def _link_from_nowhere(self, name: str, data: bytes) -> bool:
        """Write a file that has no name until it is whole; say whether this system can.

        Linux can, on most file systems and with /proc. It spares the temp file and its removal,
        and a kill leaves nothing behind.
        """
        flags = getattr(os, "O_TMPFILE", 0)
        if not flags:
            return False
        try:
            descriptor = os.open(
                ".", os.O_WRONLY | os.O_CLOEXEC | flags, 0o600, dir_fd=self._descriptor
            )
        except OSError as error:
            if error.errno in _NO_UNNAMED_FILES:
                return False
            raise
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
            # Given a folder, though the path is absolute: only then links are followed, as here.
            source = f"/proc/self/fd/{descriptor}"
            os.link(source, name, src_dir_fd=descriptor, dst_dir_fd=self._descriptor)
        except FileNotFoundError:
            return False
        finally:
            os.close(descriptor)
        return True


def replace(path: Path, data: bytes, *, temps: Path, durable: bool = True) -> None:
    """Put this content in the file's place all at once, durably unless it can be done without."""
    temp = _written(temps / f"{path.stem}-{os.urandom(4).hex()}", data, durable=durable)
    try:
        temp.replace(path)
    except BaseException:
        _remove(temp)
        raise
    if durable:
        sync_folder(path.parent)


def _written(temp: Path, data: bytes, *, durable: bool = True) -> Path:
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
    try:
        _write_all(descriptor, data)
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
    """Add one line to a log; return where it begins and ends.

    A torn line left by a crash is closed off first.
    """
    descriptor = _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        size = _regular(descriptor, path).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        added = (b"\n" if torn else b"") + line + b"\n"
        _write_all(descriptor, added)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return size, size + len(added)


def read(path: Path, *, temps: Path | None = None) -> tuple[bytes, os.stat_result]:
    """Read a regular file of ours, with what the file system says of it.

    Killed between link and unlink, write_new leaves a file and its temp twin as one inode; with
    `temps` such a file is no hard link from elsewhere.
    """
    descriptor = _opened(path, os.O_RDONLY)
    try:
        found = _regular(descriptor, path, twin=temps and temps / path.stem)
        return _read_all(descriptor, found.st_size), found
    finally:
        os.close(descriptor)


def read_from(path: Path, offset: int, *, limit: int | None = None) -> bytes:
    """Read a regular file of ours from an offset on; a missing file is empty."""
    try:
        descriptor = _opened(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    try:
        size = _regular(descriptor, path).st_size
        os.lseek(descriptor, offset, os.SEEK_SET)
        rest = max(0, size - offset)
        return _read_all(descriptor, rest if limit is None else min(limit, rest))
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync_open_folder(descriptor)
    finally:
        os.close(descriptor)


def _sync_open_folder(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder; the file itself is already safe.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise


def sweep(temps: Path) -> None:
    """Remove the temp files of writers that were killed; call it only while holding the lock."""
    for temp in temps.iterdir():
        _remove(temp)


@contextlib.contextmanager
def lock(path: Path, *, seconds: float = _LOCK_WAIT_SECONDS) -> Iterator[bool]:
    """Hold a lock; after some seconds go on without it, and say so.

    The store's lock only orders writers. Each write is safe by itself, so a stopped process that
    holds the lock must not keep others from saving.
    """
    try:
        descriptor = _opened(path, os.O_RDWR | os.O_CREAT)
    except OSError:
        yield False
        return
    try:
        _regular(descriptor, path)
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


def _opened(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | _SAFE, 0o600)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise
        raise StoreRefused(
            f"{path} is not a regular file, so it is left alone", hint="Move it away and try again."
        ) from error


def _regular(descriptor: int, path: Path, *, twin: Path | None = None) -> os.stat_result:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise StoreRefused(
            f"{path} is not a regular file, so it is left alone", hint="Move it away and try again."
        )
    if found.st_nlink > 1 and not (twin and _is_twin(descriptor, twin)):
        raise StoreRefused(
            f"{path} is hard-linked to a file elsewhere, so it is left alone",
            hint="Move it away and try again.",
        )
    return found


def _is_twin(descriptor: int, twin: Path) -> bool:
    """Say whether the file's other name is the temp one; it may be removed just now."""
    return _is_inode(twin, os.fstat(descriptor).st_ino) or os.fstat(descriptor).st_nlink == 1


def _is_inode(path: Path, inode: int) -> bool:
    try:
        return path.lstat().st_ino == inode
    except OSError:
        return False


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_all(descriptor: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
