"""Settle: the step that turns the events in the spool into records, checkpoints and replies.

One settle runs at a time per user. It drains the spool until it is empty and ends. It removes its
mark before it looks for the last time, so an event that saw the mark is never left behind. If it
dies, the spool is still there, and the next one drains it.

Started as `python -I -m leftoff.hooks.settle STATE`. A burst of events starts many; all but one
find the lock taken, so nothing heavy is loaded before it is held.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator

_ROUNDS = 1000


def main(state: str) -> None:
    """Run detached: whoever started us does not wait."""
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(Exception):
        run(state)


def run(state: str | os.PathLike[str], *, wait_seconds: float = 0.0) -> bool:
    """Drain the spool, unless another settle does; say whether it was us."""
    os.makedirs(state, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes half a start
    with _lock(f"{os.fspath(state)}/settle.lock", wait_seconds) as is_ours:
        if is_ours:
            _drain_until_empty(os.fspath(state))
        return is_ours


def _drain_until_empty(state: str) -> None:
    from leftoff.hooks import draining  # noqa: PLC0415 - only the one that holds the lock needs it

    for _ in range(_ROUNDS):
        _mark(f"{state}/settling")
        is_done = draining.drain(state)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{state}/settling")  # noqa: PTH108 - pathlib takes half a start
        if is_done and not draining.has_news(state):
            return


def _mark(path: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, b"%d\n" % os.getpid())
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _lock(path: str, wait_seconds: float) -> Iterator[bool]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + wait_seconds
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(0.01)
            else:
                yield True
                return
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main(sys.argv[1])
    sys.exit(0)
