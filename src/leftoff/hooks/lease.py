"""Decide which process settles: its lease, the claim to be the next one, and locks on sessions.

There are two marks beside the spool. `settling.PID.UNTIL.WORKER` is an empty file: the letterbox
starts no settle while that process runs and UNTIL, in seconds since boot, is in the future. A pid
alone is not enough, because another program or container may have it by now. The name says it all,
because a shell cannot limit how much it reads from a file. `trying` names the event being
processed. It is written before the event is touched, so the next settle knows which event killed
the last one.

Every settle loads this module before it holds the lock, so it imports only light modules.
"""

import binascii
import contextlib
import fcntl
import os
import stat
import time

SECONDS = 10
"""How long a lease lasts; a running settle renews it every second."""
TRIED = "~"
"""Separates the name of an event from its tries: failures, and deaths of settle."""
_MARK = "settling."
_CLOCK = "/proc/uptime"
# One write replaces the whole line, padded so that no part of the previous one remains.
_WIDTH = 300
_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class SettleMark:
    """Shows which process settles. It must hold the lock, so any other mark is of a dead one."""

    def __init__(self, state: str) -> None:
        self._state = state
        # Version 0.1 wrote a file without a suffix.
        for name in (_MARK[:-1], *list_marks(state)):
            _remove_mark(f"{state}/{name}")
        self._path = ""

    def hold(self, worker: int) -> None:
        """Renew the lease of this process and its worker."""
        at = now()
        until = at + SECONDS if at is not None else "-"
        path = f"{self._state}/{_MARK}{os.getpid()}.{until}.{worker}"
        # A full disk must not keep events waiting; at worst, others try to settle too.
        with contextlib.suppress(OSError):
            try:
                os.rename(self._path, path)  # noqa: PTH104 - pathlib is slow to load
            except FileNotFoundError:
                os.close(open_own(path, os.O_WRONLY | os.O_CREAT))
            self._path = path

    def remove(self) -> None:
        """Give up the lease; somebody may have removed the mark already."""
        _remove_mark(self._path)


class EventMark:
    """A file with one line that is replaced in place."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = open_own(path, os.O_RDWR | os.O_CREAT)

    def write(self, *words: object) -> None:
        """Replace the line with these words."""
        line = " ".join(str(word) for word in words).encode()[: _WIDTH - 1]
        os.pwrite(self._descriptor, line.ljust(_WIDTH - 1) + b"\n", 0)

    def remove(self) -> None:
        """Remove the file; it may be gone already."""
        os.close(self._descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # noqa: PTH108 - pathlib is slow to load


def now() -> int | None:
    """Return the seconds since boot, as the letterbox reads them; None if unknown."""
    try:
        with open(_CLOCK, "rb") as file:  # noqa: PTH123 - pathlib is slow to load
            return int(file.read().split(b".", 1)[0])
    except (OSError, ValueError):
        return None


def try_event(mark: EventMark, name: str) -> None:
    """Record which event is processed next, and since when."""
    mark.write(name, int(time.time()))


def count_death(state: str, kind: str) -> None:
    """Add a worker's death to the name of its event: `t` if it hit a limit, `k` if not."""
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
    """Return the words of a mark; none if it is missing or not a regular file."""
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


def list_marks(state: str) -> list[str]:
    """Return the names of the marks of processes that settle, or did; usually one or none."""
    try:
        found = os.listdir(state)  # noqa: PTH208 - pathlib is slow to load
    except OSError:
        return []
    return sorted(name for name in found if name.startswith(_MARK))


def pids_of(mark: str) -> list[int]:
    """Return the processes that a mark names: the supervisor, and its worker if there is one."""
    words = mark.removeprefix(_MARK).split(".")
    return [int(word) for word in (*words[:1], *words[2:3]) if is_pid(word)]


def is_held(state: str) -> bool:
    """Return whether a settle holds the lease, as the letterbox sees it."""
    return any(map(_is_valid, list_marks(state)))


def _is_valid(mark: str) -> bool:
    pid, _, rest = mark.removeprefix(_MARK).partition(".")
    if not is_pid(pid) or not is_there(int(pid)):
        return False
    at, until = now(), rest.partition(".")[0]
    return at is None or (until.isdecimal() and at < int(until) <= at + SECONDS)


def _remove_mark(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - pathlib is slow to load


def is_pid(word: str) -> bool:
    """Return whether a word names one process; 0 and -1 would name several."""
    return word.isascii() and word.isdecimal() and 0 < int(word[:12]) < 1 << 31


def is_there(pid: int) -> bool:
    """Return whether a process runs; a pid of 0 or less would mean a process group."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to load
            # A zombie has ended, but keeps its pid until its parent collects it.
            return not file.read().rpartition(b")")[2].startswith(b" Z")
    except (PermissionError, FileNotFoundError):
        return True
    except OSError:
        return False


def open_own(path: str, flags: int) -> int:
    """Open one of leftoff's files, after removing a link, FIFO or folder in its place."""
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


# --- which process changes a session's record ---


class SessionLocks:
    """Lets one process at a time process the events of a session: settle, or a recovery.

    Each session locks its own byte of one file, so ended sessions leave nothing behind. Open it
    once per process: closing a file drops all locks that the process has on it.
    """

    def __init__(self, state: str | os.PathLike[str]) -> None:
        folder = f"{os.fspath(state)}/locks"
        self._descriptor = -1
        with contextlib.suppress(OSError):
            for each in (os.fspath(state), folder):
                os.makedirs(each, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is slow to load
            self._descriptor = open_own(f"{folder}/sessions", os.O_RDWR | os.O_CREAT)

    def take(self, agent: str, session_id: str, *, seconds: float = 0.0) -> bool:
        """Lock a session; return False if another process still has it after some seconds."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._change(fcntl.LOCK_EX | fcntl.LOCK_NB, agent, session_id)
            except (BlockingIOError, PermissionError):
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_PAUSE_SECONDS)
            except (OSError, ValueError):
                # A full disk, or a file system without locks, must not keep events waiting.
                return True
            else:
                return True

    def release(self, agent: str, session_id: str) -> None:
        """Let another process have the session."""
        with contextlib.suppress(OSError, ValueError):
            self._change(fcntl.LOCK_UN, agent, session_id)

    def close(self) -> None:
        """Close the file, which releases all sessions."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def _change(self, how: int, agent: str, session_id: str) -> None:
        name = f"{agent} {session_id}".encode("utf-8", "surrogateescape")
        # Two sessions with the same byte only wait for each other.
        fcntl.lockf(self._descriptor, how, 1, binascii.crc32(name))


# --- which of many processes starts or continues a settle ---
#
# A claim is a file beside the spool. Its name holds the time, in slots of five seconds, and its
# content is the pid of a settle. The letterbox makes a claim before it starts a settle. A settle
# that finds new events after it removed its mark makes one before it continues. If the process of a
# claim has died, the next claim is `waking.SLOT.PID`. On systems without a clock that a shell can
# read, there are no claims.
#
# Every settle loads this module before it holds the lock, so it imports only light modules.


_CLAIM = "waking."
_SLOT_SECONDS = 5
# A letterbox writes the pid as soon as it has started settle, so this is plenty.
_PATIENCE_SECONDS = 2.0
_PAUSE_SECONDS = 0.005


def make_claim(state: str) -> bool:
    """Claim the next settle for this process; return False if another one will settle."""
    at = now()
    if at is None:
        return True
    slot = at // _SLOT_SECONDS
    if _find_last_owner(f"{state}/{_CLAIM}{slot - 1}"):
        return False
    path = f"{state}/{_CLAIM}{slot}"
    while not _write_claim(path):
        owner = _await_owner(path)
        if not owner:
            # The process that made the claim was killed, or is extremely slow.
            return True
        if is_there(owner):
            return owner == os.getpid()
        path = f"{path}.{owner}"
    return True


def forget_claims(state: str) -> None:
    """Remove all claims, so that the next event can start a settle."""
    for name in os.listdir(state):  # noqa: PTH208 - pathlib is slow to load
        if name.startswith(_CLAIM):
            with contextlib.suppress(OSError):
                os.unlink(f"{state}/{name}")  # noqa: PTH108 - same


def _write_claim(path: str) -> bool:
    """Create the file with the pid of this process; return False if it exists."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    except OSError:
        # A full disk must not keep events waiting; at worst two processes try to settle.
        return True
    with contextlib.suppress(OSError):
        os.write(descriptor, b"%d\n" % os.getpid())
    os.close(descriptor)
    return True


def _find_last_owner(path: str) -> int:
    """Return the running process of the last claim in a slot; 0 if there is none."""
    # The process of an empty claim is starting settle right now, and its pid follows.
    while os.path.lexists(path) and (owner := _await_owner(path)):
        if is_there(owner):
            return owner if owner != os.getpid() else 0
        path = f"{path}.{owner}"
    return 0


def _await_owner(path: str) -> int:
    """Wait for the pid in a claim and return it; 0 if it is never written."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (owner := _read_pid(path)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return owner


def _read_pid(path: str) -> int:
    words = words_of(path)
    return int(words[0]) if words and is_pid(words[0]) else 0
