"""Decide which of many processes starts or continues a settle.

A claim is a file beside the spool. Its name holds the time, in slots of five seconds, and its
content is the pid of a settle. The letterbox makes a claim before it starts a settle. A settle that
finds new events after it removed its mark makes one before it continues. If the process of a claim
has died, the next claim is `waking.SLOT.PID`. On systems without a clock that a shell can read,
there are no claims.

Every settle loads this module before it holds the lock, so it imports only light modules.
"""

import contextlib
import os
import time

from leftoff.hooks import lease

_NAME = "waking."
_SLOT_SECONDS = 5
# A letterbox writes the pid as soon as it has started settle, so this is plenty.
_PATIENCE_SECONDS = 2.0
_PAUSE_SECONDS = 0.005


def make(state: str) -> bool:
    """Claim the next settle for this process; return False if another one will settle."""
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
            # The process that made the claim was killed, or is extremely slow.
            return True
        if lease.is_there(owner):
            return owner == os.getpid()
        path = f"{path}.{owner}"
    return True


def forget(state: str) -> None:
    """Remove all claims, so that the next event can start a settle."""
    for name in os.listdir(state):  # noqa: PTH208 - pathlib is slow to load
        if name.startswith(_NAME):
            with contextlib.suppress(OSError):
                os.unlink(f"{state}/{name}")  # noqa: PTH108 - same


def _write(path: str) -> bool:
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


def _last_owner(path: str) -> int:
    """Return the running process of the last claim in a slot; 0 if there is none."""
    while owner := _pid_in(path):
        if lease.is_there(owner):
            return owner if owner != os.getpid() else 0
        path = f"{path}.{owner}"
    return 0


def _owner(path: str) -> int:
    """Wait for the pid in a claim and return it; 0 if it is never written."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (owner := _pid_in(path)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return owner


def _pid_in(path: str) -> int:
    words = lease.words_of(path)
    return int(words[0]) if words and lease.is_pid(words[0]) else 0
