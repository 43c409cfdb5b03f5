"""Settle: the step that turns the events in the spool into records, checkpoints and replies.

One settle runs at a time per user. It drains the spool until it is empty and ends. It removes its
mark before it looks for the last time, so an event that saw the mark is never left behind; an event
that saw none starts a settle, which waits for one that is just about to end. If it dies, the spool
is still there, and the next one drains it.

Started as `python -I -m leftoff.hooks.settle STATE`. A burst of events starts many; all but one
find the lock taken, so nothing heavy is loaded before it is held.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator

_ROUNDS = 1000
_ENDING_SECONDS = 10.0
_PAUSE_SECONDS = 0.01


def main(state: str) -> None:
    """Run detached: whoever started us does not wait."""
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(Exception):
        leave_or_run(state)


def leave_or_run(state: str) -> bool:
    """Drain the spool, unless another settle will look at it once more; say whether it was us.

    One that holds the lock and shows no mark may have looked for the last time: wait for its end.
    """
    deadline = time.monotonic() + _ENDING_SECONDS
    mark = _mark_of(state)
    return _run(
        state,
        lambda: not os.path.exists(mark) and time.monotonic() < deadline,  # noqa: PTH110 - see _run
    )


def run(state: str | os.PathLike[str], *, wait_seconds: float = 0.0) -> bool:
    """Drain the spool, unless another settle does for so long; say whether it was us."""
    deadline = time.monotonic() + wait_seconds
    return _run(os.fspath(state), lambda: time.monotonic() < deadline)


def _run(state: str, is_worth_waiting: Callable[[], bool]) -> bool:
    os.makedirs(state, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes half a start
    with _lock(f"{state}/settle.lock", is_worth_waiting) as is_ours:
        if is_ours:
            _drain_until_empty(state)
        return is_ours


def _drain_until_empty(state: str) -> None:
    for _ in range(_ROUNDS):
        _mark(_mark_of(state))
        # Only the one that holds the lock needs it; whoever sees the mark need not wait so long.
        from leftoff.hooks import draining  # noqa: PLC0415

        is_done = draining.drain(state)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_mark_of(state))  # noqa: PTH108 - pathlib takes half a start
        if is_done and not draining.has_news(state):
            return


def _mark_of(state: str) -> str:
    return f"{state}/settling"


def _mark(path: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, b"%d\n" % os.getpid())
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _lock(path: str, is_worth_waiting: Callable[[], bool]) -> Iterator[bool]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not (is_ours := _is_locked(descriptor)) and is_worth_waiting():
            time.sleep(_PAUSE_SECONDS)
        yield is_ours
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1])
    sys.exit(0)
