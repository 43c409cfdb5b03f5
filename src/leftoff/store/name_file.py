"""Give a finished file its final name where hard links do not work, unless the name is taken.

`disk` uses a hard link, which works almost everywhere. FAT, exFAT, some network mounts and some
sandboxes do not support hard links; a rename that refuses to replace works there. Where that is
missing too, an empty file claims the name and the finished file replaces it. Readers ignore empty
files.
"""

import contextlib
import errno
import fcntl
import os
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

# Errors of systems that do not support hard links, or do not permit them.
NO_LINKS = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK}
)
# Errors of systems without a rename that refuses to replace.
_NO_CAREFUL_RENAME = frozenset(
    {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM}
)
_CLAIM = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_AT_FDCWD = -100 if sys.platform == "linux" else -2
# Linux calls it RENAME_NOREPLACE, macOS RENAME_EXCL.
_RENAMES = {"linux": ("renameat2", 1), "darwin": ("renameatx_np", 4)}

Rename = Callable[[Path, str, int], None]


def name_without_link(temp: Path, name: str, folder: int) -> None:
    """Move a finished file to its name in an open folder, or raise FileExistsError."""
    rename = rename_carefully()
    if rename is not None:
        try:
            rename(temp, name, folder)
        except OSError as error:
            if error.errno not in _NO_CAREFUL_RENAME:
                raise
        else:
            return
    replace_claim(temp, name, folder)


@cache
def rename_carefully() -> Rename | None:
    """Return the system's rename that never replaces a file, if it has one."""
    import ctypes  # noqa: PLC0415 - 1 ms, and rarely needed

    called, flag = _RENAMES.get(sys.platform, ("", 0))
    function = getattr(ctypes.CDLL(None, use_errno=True), called, None) if called else None
    if function is None:
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p] * 2 + [ctypes.c_uint]

    def rename(temp: Path, name: str, folder: int) -> None:
        if function(_AT_FDCWD, os.fsencode(temp), folder, os.fsencode(name), flag):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), name)

    return rename


def replace_claim(temp: Path, name: str, folder: int) -> None:
    """Replace the empty file that claims a name with the finished file."""
    claim = claim_name(name, folder)
    try:
        os.replace(temp, name, dst_dir_fd=folder)
    except BaseException:
        # Withdraw the claim, or the name would stay taken by an empty file.
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(claim)


def claim_name(name: str, folder: int) -> int:
    """Create and lock an empty file, or take over one whose owner died before the rename."""
    is_new = True
    try:
        claim = os.open(name, _CLAIM | os.O_EXCL, 0o600, dir_fd=folder)
    except FileExistsError:
        is_new = False
        claim = os.open(name, _CLAIM, 0o600, dir_fd=folder)
    is_locked = _lock(claim)
    # Without locks a dead owner cannot be distinguished from a slow one, so the name is taken.
    is_ours = is_new if is_locked is None else is_locked
    if is_ours and _is_empty(name, folder):
        return claim
    os.close(claim)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def _lock(claim: int) -> bool | None:
    """Lock a claim and return whether that worked; None if locks are not supported."""
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_empty(name: str, folder: int) -> bool:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == 0
