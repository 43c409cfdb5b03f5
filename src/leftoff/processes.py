"""Whether a process still runs, and is still the same one."""

import os
from pathlib import Path


def began(pid: int) -> float:
    """Return when a process began, in the system's own ticks; 0 where nobody says."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0.0
    # The name, in brackets, may hold anything; the 20th field after it is the start time.
    fields = stat.rpartition(b")")[2].split()
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
    return not pid_began or began(pid) == pid_began
