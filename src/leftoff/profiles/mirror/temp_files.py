"""Write native files under a temporary name first, so that nobody ever reads half of one."""

import contextlib
import os
import stat
from pathlib import Path

from leftoff import processes
from leftoff.projects import trees
from leftoff.store import disk

FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# Checkpoints are private. git stores nothing of a mode but the x bit.
PRIVATE = 0o600
_TEMP = ".leftoff"


def put(target: Path, data: bytes, mode: int) -> None:
    """Write a file atomically, replacing what was there."""
    temp = make_temp(target, data, mode=mode)
    try:
        temp.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink()
        raise


def make_temp(target: Path, data: bytes, *, mode: int) -> Path:
    """Write a file beside its destination, to be renamed when it is complete."""
    temp = target.with_name(f".{target.name[:100]}.{os.getpid()}-{os.urandom(4).hex()}{_TEMP}")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS, PRIVATE)
    try:
        if mode != PRIVATE:
            os.fchmod(descriptor, mode)  # as it was; a new file would lose what the umask forbids
        disk.write_all(descriptor, data)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return temp


def find_mode(found: tuple[bytes, os.stat_result] | None) -> int:
    """Return the mode to give a file: its current one, or the private one if it is new."""
    return stat.S_IMODE(found[1].st_mode) if found else PRIVATE


def sweep(folder: Path) -> None:
    """Remove files that killed writers left behind."""
    if not folder.is_dir() or trees.leads_out(folder):
        return
    for name in os.listdir(folder):  # noqa: PTH208 - thousands of paths take ten times as long
        if not (name.startswith(".") and name.endswith(_TEMP)):
            continue
        pid = name.removesuffix(_TEMP).rpartition(".")[2].partition("-")[0]
        if not (pid.isdecimal() and processes.is_alive(int(pid), 0)):
            (folder / name).unlink(missing_ok=True)
