"""Whether a process still runs, and is still the same one."""

import os
from pathlib import Path

_DEAD = frozenset({b"Z", b"X"})


def read_start_time(pid: int) -> float:
    """Return when a process began, in the system's own ticks; 0 where nobody says."""
    fields = _stat(pid)
    return float(fields[19]) if len(fields) > 19 else 0.0


def is_alive(pid: int, pid_began: float) -> bool:
    """Say whether the process that began then is still there."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    fields = _stat(pid)
    # A dead process keeps its number until its parent, a terminal or an editor, asks for it.
    if fields and fields[0] in _DEAD:
        return False
    return not pid_began or read_start_time(pid) == pid_began


def cpu_seconds(pid: int) -> float:
    """Return how much a process has worked; 0 where nobody says."""
    fields = _stat(pid)
    ticks = sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def _stat(pid: int) -> list[bytes]:
    """Return what Linux says of a process: first its state, as the 20th field when it began."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return []
    # The name, in brackets, may hold anything.
    return stat.rpartition(b")")[2].split()


def waits_for_fifo(pid: int, *, with_children: bool = True) -> bool:
    """Say whether a process, or one that it started, waits for the other end of a FIFO.

    Anyone can put a FIFO where a program opens a file, and the program then waits for ever. Where
    the system does not say what a process waits for, none does.
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
