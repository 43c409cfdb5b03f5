"""Turn the events in the spool into records, checkpoints and replies.

One settle runs at a time per user. It is two processes: a supervisor that holds the lock and the
lease, and a worker that drains the spool. Each event has a time limit. The kernel kills a worker
that exceeds it, even in the middle of a regular expression, and the next worker continues with the
other events. If both processes die, the events stay in the spool for the next settle.

A settle removes its mark before it looks at the spool for the last time, so no event that saw the
mark is left behind. An event that saw no mark starts a settle, which waits for one that is just
ending. At such a moment only the process that makes the claim, a file named after the time, may
start or continue. So there are never more than two processes, the supervisor and its worker.

Run as `python -I -m leftoff.hooks.settle STATE [SECONDS]`. Heavy modules are loaded only when the
lock is held.
"""

import contextlib
import fcntl
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator

from leftoff import hooks
from leftoff.hooks import lease

EVENT_SECONDS = 20.0
"""CPU time limit for one event; the limit on real time is three times as long."""
_ROUNDS = 1000
_ENDING_SECONDS = 10.0
# A lease can be late because the whole machine was suspended.
_LATE_SECONDS = 3.0
_PAUSE_SECONDS = 0.01
# So few events are those of a session that has just died, not a backlog. They are worth a longer
# wait on a busy machine.
_FEW, _FEW_SECONDS = 20, 6.0
_CATCH_UP_SECONDS = 2.0
# A worker that dies of these exceeded a limit or crashed; others were killed from outside.
_LIMITS = (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU, signal.SIGSEGV, signal.SIGABRT)


def main(state: str, seconds: float = EVENT_SECONDS) -> None:
    """Run detached, so that the process that started this one does not wait."""
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(Exception):
        leave_or_run(state, seconds)


def leave_or_run(state: str, seconds: float = EVENT_SECONDS) -> None:
    """Drain the spool, unless another settle will look at it once more.

    The lock is held until this process ends, so that no other settle starts a worker before.
    """
    if _is_locked(_open_lock(state), state, _Patience(state).is_worth_waiting):
        _supervise(state, seconds)


def run(state: str | os.PathLike[str], *, wait_seconds: float = 0.0) -> bool:
    """Drain the spool in this process, without a limit; return False if another one does."""
    deadline = time.monotonic() + wait_seconds
    with _hold_lock(os.fspath(state), lambda: time.monotonic() < deadline) as is_ours:
        if is_ours:
            _drain_until_empty(os.fspath(state))
        return is_ours


def run_apart(state: str | os.PathLike[str], *, wait_seconds: float) -> bool:
    """Drain the spool in another process; return whether it tried all waiting events in time.

    If that takes longer, the process continues in the background.
    """
    if not list_waiting(state):
        return True
    waiting = _list_untried(os.fspath(state))
    patience = wait_seconds if len(waiting) > _FEW else max(wait_seconds, _FEW_SECONDS)
    return await_events(state, waiting, wait_seconds=patience)


def catch_up(state: str | os.PathLike[str]) -> None:
    """Let the waiting events be processed: a prompt among them may join the session to a thread."""
    run_apart(state, wait_seconds=_CATCH_UP_SECONDS)


def await_ends(state: str | os.PathLike[str]) -> None:
    """Wait until sessions that have ended are saved: a look just after that must not miss them.

    In scripts, the next command follows in the same instant, and would take them for dead.
    """
    ends = {name for name in _list_untried(os.fspath(state)) if name.split(".")[1] == "SessionEnd"}
    if ends:
        await_events(state, ends, wait_seconds=_FEW_SECONDS)


def await_events(
    state: str | os.PathLike[str], names: Collection[str], *, wait_seconds: float
) -> bool:
    """Let another process drain the spool; return whether it tried these new events in time."""
    place, waiting = os.fspath(state), {*names}
    child = wake(place)
    deadline = time.monotonic() + wait_seconds
    while (left := waiting & _list_untried(place)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    if child is not None:
        with contextlib.suppress(OSError):
            os.waitpid(child, os.WNOHANG)
    return not left


def wake(state: str | os.PathLike[str]) -> int | None:
    """Start a settle that outlives this process and return its pid; None if one is running.

    A running settle looks at the spool once more before it ends.
    """
    if lease.is_held(os.fspath(state)):
        return None
    words = [sys.executable, "-I", "-m", "leftoff.hooks.settle", os.fspath(state)]
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    return os.posix_spawn(sys.executable, words, os.environ, file_actions=silent)


# --- who settles ---


class _Patience:
    """Decides how long to wait for the lock while its holder is ending or hangs."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._began = time.monotonic()
        self._marks: list[str] = []
        self._late_since: float | None = None

    def is_worth_waiting(self) -> bool:
        """Return whether the lock will be free soon; kill a holder that hangs."""
        marks = lease.list_marks(self._state)
        if not marks:
            # It may have looked at the spool for the last time before our event came.
            return time.monotonic() - self._began < _ENDING_SECONDS
        if lease.is_held(self._state):
            return False
        if marks != self._marks or self._late_since is None:
            self._marks, self._late_since = marks, time.monotonic()
        if time.monotonic() - self._late_since < _LATE_SECONDS:
            return True
        return _kill_settle(marks, self._state) and time.monotonic() - self._began < _ENDING_SECONDS


def _kill_settle(marks: list[str], state: str) -> bool:
    """Kill a settle that does not renew its lease; return False if no process is surely one."""
    pids = [pid for mark in marks for pid in lease.pids_of(mark)]
    found = [pid for pid in pids if pid != os.getpid() and _is_settle(pid, state)]
    for pid in found:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def _is_settle(pid: int, state: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - pathlib is slow to load
            words = file.read().split(b"\0")
    except OSError:
        return False
    place = os.path.normpath(os.fsencode(state))
    return b"leftoff.hooks.settle" in words and place in map(os.path.normpath, filter(None, words))


@contextlib.contextmanager
def _hold_lock(state: str, is_worth_waiting: Callable[[], bool]) -> Iterator[bool]:
    descriptor = _open_lock(state)
    try:
        yield _is_locked(descriptor, state, is_worth_waiting)
    finally:
        os.close(descriptor)


def _open_lock(state: str) -> int:
    os.makedirs(state, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is slow to load
    return lease.open_own(f"{state}/settle.lock", os.O_RDWR | os.O_CREAT)


def _is_locked(descriptor: int, state: str, is_worth_waiting: Callable[[], bool]) -> bool:
    """Acquire the lock as soon as it is free; return False if waiting is not worth it."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not is_worth_waiting():
                return False
            time.sleep(_PAUSE_SECONDS)
        except OSError:
            # A file system without locks, such as some NFS mounts: only the lease keeps others out.
            return not lease.is_held(state)
        else:
            return True


# --- settling ---


def _supervise(state: str, seconds: float) -> None:
    """Run workers, one at a time, until nothing new is in the spool."""
    for number in range(_ROUNDS):
        before = _list_untried(state)
        with _hold_mark(state) as mark:
            # A failed event gets one more try from each settle, not from each of its workers.
            died = _let_work(state, seconds, mark, with_tried=not number)
        after = _list_untried(state)
        # A worker that survived has tried all events; one that died has marked the one it died at.
        if not after - before and (not died or after == before):
            return
        if not lease.make_claim(state):
            return


def _let_work(state: str, seconds: float, mark: lease.SettleMark, *, with_tried: bool) -> bool:
    """Start a worker and wait for it; return whether it was killed."""
    reader, writer = os.pipe()
    worker = os.fork()
    if worker == 0:
        _drain_and_end(state, seconds, with_tried=with_tried)
    os.close(writer)
    mark.hold(worker)
    # The pipe becomes readable when the worker ends.
    while not select.select([reader], [], [], 1.0)[0]:
        mark.hold(worker)
    os.close(reader)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    if code < 0:
        lease.count_death(state, "t" if -code in _LIMITS else "k")
    return code < 0


def _drain_and_end(state: str, seconds: float, *, with_tried: bool) -> None:
    """Drain the spool and end this process, whatever happens."""
    code = 1
    try:
        hooks.drain_spool.drain(state, seconds=seconds, with_tried=with_tried)
        code = 0
    except BaseException:  # noqa: BLE001, S110 - a fork must not return into its parent's code
        pass
    finally:
        os._exit(code)


def _drain_until_empty(state: str) -> None:
    for _ in range(_ROUNDS):
        before = _list_untried(state)
        with _hold_mark(state):
            hooks.drain_spool.drain(state)
        if not _list_untried(state) - before:
            return


@contextlib.contextmanager
def _hold_mark(state: str) -> Iterator[lease.SettleMark]:
    """Show that this process settles; a mark that is still there belongs to a dead one."""
    lease.count_death(state, "k")
    mark = lease.SettleMark(state)
    try:
        mark.hold(0)
        yield mark
    finally:
        # In this order: a hook that sees no mark makes a claim, which must not be removed.
        lease.forget_claims(state)
        mark.remove()


def _list_untried(state: str) -> set[str]:
    """Return the events that were never tried; the others wait for the next settle."""
    return {name for name in list_waiting(state) if lease.TRIED not in name}


def list_waiting(state: str | os.PathLike[str]) -> list[str]:
    """Return the names of the events in the spool."""
    try:
        found = os.listdir(f"{os.fspath(state)}/spool")  # noqa: PTH208 - pathlib is slow to load
    except OSError:
        return []
    return [name for name in found if name.count(".") >= 3]


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))
    # Nothing is left to clean up, and the next settle may be starting.
    os._exit(0)
