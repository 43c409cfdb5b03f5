"""Claims: which one of many starts or continues a settle; only light modules, for a quick start.

A claim is a file beside the spool, named after the time in slots of five seconds, that holds the
pid of the settle it stands for. The letterbox makes one before it starts a settle, and a settle
that found new events after it had removed its mark makes one before it goes on. A claim whose
process has died is followed by another, `waking.SLOT.PID`. Without a clock that a shell can read
there are no claims.
"""

import contextlib
import os
import time

from leftoff.hooks import lease

_NAME = "waking."
_SLOT_SECONDS = 5
# Between making a claim and writing its pid, a letterbox has only started a process.
_PATIENCE_SECONDS = 2.0
_PAUSE_SECONDS = 0.005


def make(state: str) -> bool:
    """Claim the next settle for this process; False if another process is about to settle."""
    at = lease.now()
    if at is None:
        return True
    slot = at // _SLOT_SECONDS
    if _last_owner(f"{state}/{_NAME}{slot - 1}"):
        return False
    path = f"{state}/{_NAME}{slot}"
    while not _write(path):
        owner = _owner(path)
        if not owner:
            # Whoever made it was killed, or is slower than anybody should be.
            return True
        if lease.is_there(owner):
            return owner == os.getpid()
        path = f"{path}.{owner}"
    return True


def forget(state: str) -> None:
    """Let the next event start a settle again."""
    for name in os.listdir(state):  # noqa: PTH208 - pathlib takes half a start
        if name.startswith(_NAME):
            with contextlib.suppress(OSError):
                os.unlink(f"{state}/{name}")  # noqa: PTH108 - same


def _write(path: str) -> bool:
    """Write a new file with our pid; False if there is one."""
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


def _last_owner(path: str) -> int:
    """Return the living process that the last claim of a slot stands for; 0 if there is none."""
    while owner := _pid_in(path):
        if lease.is_there(owner):
            return owner if owner != os.getpid() else 0
        path = f"{path}.{owner}"
    return 0


def _owner(path: str) -> int:
    """Return the process that a claim stands for, as soon as it is written; 0 if it never is."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (owner := _pid_in(path)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return owner


def _pid_in(path: str) -> int:
    words = lease.words_of(path)
    return int(words[0]) if words and lease.is_pid(words[0]) else 0
