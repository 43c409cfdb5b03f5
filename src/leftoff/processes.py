"""Check whether a process still runs, and start one without losing an interrupt."""

import contextlib
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


def read_start_time(pid: int) -> float:
    """Return when a process started, in the system's ticks; 0 if unknown."""
    fields = _stat(pid)
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
    fields = _stat(pid)
    # A dead process keeps its number until its parent, such as a terminal or editor, reaps it.
    if fields and fields[0] in _DEAD:
        return False
    return not pid_began or read_start_time(pid) == pid_began


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used; 0 if unknown."""
    fields = _stat(pid)
    ticks = sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def _stat(pid: int) -> list[bytes]:
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
        if _text(task / "wchan") == "wait_for_partner":
            return True
        children = _text(task / "children").split() if with_children else []
        if any(map(waits_for_fifo, map(int, children))):
            return True
    return False


def _text(path: Path) -> str:
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
