"""Check whether a process still runs or holds a lock, and start one without losing an interrupt."""

import contextlib
import fcntl
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_DEAD = frozenset({b"Z", b"X"})


class HeldInterrupt:
    """Holds back Ctrl-C while a program is started, until somebody is there to stop the program.

    Raised in the middle of a start, KeyboardInterrupt would leave a running program that nobody
    knows. Signals are not blocked, because the program would inherit that.
    """

    def __init__(self) -> None:
        self._handler: Callable[[int, FrameType | None], object] | None = None
        self._came = False

    def __enter__(self) -> Self:
        self.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def hold(self) -> None:
        """Hold back an interrupt from now on."""
        handler = signal.getsignal(signal.SIGINT)
        # Not if interrupts are ignored, nor in another thread: those are never interrupted.
        if callable(handler):
            with contextlib.suppress(ValueError):
                signal.signal(signal.SIGINT, self._note)
                self._handler = handler

    def _note(self, _signal: int, _frame: object) -> None:
        self._came = True

    def release(self) -> None:
        """Handle interrupts as before, beginning with one that was held back."""
        if self._handler is None:
            return
        signal.signal(signal.SIGINT, self._handler)
        self._handler = None
        if self._came:
            signal.raise_signal(signal.SIGINT)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock (flock) on a file; False if there is no file.

    Trying the lock could make its owner fail, so the system's list of locks is read first. It does
    not show processes in other containers, so a lock that it does not show is tried.
    """
    try:
        with path.open("rb") as file:
            if _is_listed(os.fstat(file.fileno())):
                return True
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _is_listed(found: os.stat_result) -> bool:
    device, inode = found.st_dev, found.st_ino
    name = f"{os.major(device):02x}:{os.minor(device):02x}:{inode}".encode()
    try:
        lines = Path("/proc/locks").read_bytes().splitlines()
    except OSError:
        return False
    return any(name in line.split() and b"->" not in line for line in lines)


def count_heirs(variable: str, value: str) -> int:
    """Return how many processes above this one have a variable, counted from the nearest."""
    return _climb(variable, value)[0]


def find_setter(variable: str, value: str) -> int:
    """Return the process above this one that set a variable for its children; 0 if unknown."""
    return _climb(variable, value)[1]


def _climb(variable: str, value: str) -> tuple[int, int]:
    """Return how many processes have a variable, and the first one above them; 0 if unknown."""
    pid, given, found = os.getppid(), f"{variable}={value}".encode(), 0
    while pid > 1 and (fields := _read_stat(pid)):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            break
        if given not in environment:
            return found, pid
        found, pid = found + 1, int(fields[1])
    return found, 0


def list_ancestors() -> list[int]:
    """Return the processes above this one, the nearest first; empty if the system hides them."""
    pid, found = os.getppid(), list[int]()
    while pid > 1 and (fields := _read_stat(pid)):
        found.append(pid)
        pid = int(fields[1])
    return found


def read_start_time(pid: int) -> float:
    """Return when a process started, in the system's ticks; 0 if unknown."""
    fields = _read_stat(pid)
    return float(fields[19]) if len(fields) > 19 else 0.0


def is_alive(pid: int, pid_began: float) -> bool:
    """Return whether the process that started at this time is still running."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    fields = _read_stat(pid)
    # A dead process keeps its number until its parent, such as a terminal or editor, reaps it.
    if fields and fields[0] in _DEAD:
        return False
    return not pid_began or read_start_time(pid) == pid_began


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used; 0 if unknown."""
    fields = _read_stat(pid)
    ticks = sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def _read_stat(pid: int) -> list[bytes]:
    """Return the fields of Linux's stat file: the state first, the start time as the 20th."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return []
    # The name, in parentheses, can contain anything.
    return stat.rpartition(b")")[2].split()


def waits_for_fifo(pid: int, *, with_children: bool = True) -> bool:
    """Return whether a process, or a child of it, is waiting for the other end of a FIFO.

    Anyone can put a FIFO where a program opens a file, and the program then waits forever. Returns
    False on systems that do not show what a process waits for.
    """
    for task in Path(f"/proc/{pid}/task").glob("*"):
        if _read_text(task / "wchan") == "wait_for_partner":
            return True
        children = _read_text(task / "children").split() if with_children else []
        if any(map(waits_for_fifo, map(int, children))):
            return True
    return False


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def copy_for_child(*, drop_prefix: str = "", **values: str) -> dict[str, str]:
    """Copy the process's environment for a child process, with some variables changed."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not (drop_prefix and key.startswith(drop_prefix))
    }
    return {**kept, **values}
