"""The lease: who settles, until when, and at which event; only light modules, for a quick start.

Two small files beside the spool. `settling` holds "PID UNTIL WORKER": the letterbox wakes nobody
while that process lives and UNTIL, in seconds since the machine booted, lies ahead. A pid alone
would not do: it may belong to somebody else by now, or to another container. `trying` names the
event in work. It is written before the event is touched, so whatever kills settle, the next one
knows which event it was.
"""

import contextlib
import os
import stat
import time

SECONDS = 10
"""How long a lease lasts; whoever settles renews it every second."""
TRIED = "~"
"""What comes before the count of tries in the name of an event: failures, and deaths of settle."""
_CLOCK = "/proc/uptime"
# Each line is written in one go over the one before, and padded so that nothing of that is left.
_WIDTH = 300
_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class LeaseMark:
    """A file of one line that is written over and over."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = open_own(path, os.O_RDWR | os.O_CREAT)

    def write(self, *words: object) -> None:
        """Put these words in place of those before."""
        line = " ".join(str(word) for word in words).encode()[: _WIDTH - 1]
        os.pwrite(self._descriptor, line.ljust(_WIDTH - 1) + b"\n", 0)

    def remove(self) -> None:
        """Remove the file; it may be gone already."""
        os.close(self._descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # noqa: PTH108 - pathlib is slow to load


def now() -> int | None:
    """Return the seconds since the machine booted, as the letterbox reads them; None without."""
    try:
        with open(_CLOCK, "rb") as file:  # noqa: PTH123 - pathlib is slow to load
            return int(file.read().split(b".", 1)[0])
    except (OSError, ValueError):
        return None


def hold(mark: LeaseMark, worker: int) -> None:
    """Write that this process settles, with the help of a worker, and will for a while."""
    at = now()
    mark.write(os.getpid(), at + SECONDS if at is not None else "-", worker)


def try_event(mark: LeaseMark, name: str) -> None:
    """Write which event is touched next, and since when."""
    mark.write(name, int(time.time()))


def count_death(state: str, kind: str) -> None:
    """Note in the name of the event in work that a worker died of it: by its own limits, or not."""
    words = words_of(f"{state}/trying")
    if words and words[0].count(".") >= 3 and "/" not in words[0]:
        name = f"{state}/spool/{words[0]}"
        with contextlib.suppress(OSError):
            os.rename(name, f"{state}/spool/{next_name(words[0], kind)}")  # noqa: PTH104 - see top
    with contextlib.suppress(OSError):
        os.unlink(f"{state}/trying")  # noqa: PTH108 - same


def next_name(name: str, kind: str) -> str:
    """Return the name of an event after one more try: `t` for a failure, `k` for a death."""
    stem, _, tries = name.partition(TRIED)
    counts = {"t": tries.count("t"), "k": tries.count("k")}
    counts[kind] += 1
    return f"{stem}{TRIED}{'t' * counts['t']}{'k' * counts['k']}"


def words_of(path: str) -> list[str]:
    """Return the words of a mark; none if there is no such file, or something else in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFE)
    except OSError:
        return []
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return []
        return os.read(descriptor, _WIDTH).decode("utf-8", "replace").split()
    except OSError:
        return []
    finally:
        os.close(descriptor)


def is_held(state: str) -> bool:
    """Say whether somebody settles, as the letterbox sees it."""
    words = words_of(f"{state}/settling")
    if not words or not is_pid(words[0]) or not is_there(int(words[0])):
        return False
    at, until = now(), words[1] if len(words) > 1 else ""
    return at is None or (until.isdecimal() and at < int(until) <= at + SECONDS)


def is_pid(word: str) -> bool:
    """Say whether a word names one process; 0 and -1 would stand for several."""
    return word.isascii() and word.isdecimal() and 0 < int(word[:12]) < 1 << 31


def is_there(pid: int) -> bool:
    """Say whether such a process runs; 0 and less would ask for whole groups of them."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to load
            # One that has ended may keep its number for as long as nobody asks how.
            return not file.read().rpartition(b")")[2].startswith(b" Z")
    except (PermissionError, FileNotFoundError):
        return True
    except OSError:
        return False


def open_own(path: str, flags: int) -> int:
    """Open a file of ours; what was put in its place, such as a link or a FIFO, goes first."""
    try:
        descriptor = os.open(path, flags | _SAFE, 0o600)
    except OSError:
        if not _is_odd(path):
            raise
    else:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    if stat.S_ISDIR(os.lstat(path).st_mode):
        os.rmdir(path)  # noqa: PTH106 - pathlib is slow to load
    else:
        os.unlink(path)  # noqa: PTH108 - same
    return os.open(path, flags | _SAFE, 0o600)


def _is_odd(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
