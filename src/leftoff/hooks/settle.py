"""Settle: the step that turns the events in the spool into records, checkpoints and replies.

One settle runs at a time per user. It drains the spool until it is empty and ends. It removes its
mark before it looks for the last time, so an event that saw the mark is never left behind. If it
dies, the spool is still there, and the next one drains it.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from leftoff import paths
from leftoff.dialects.base import HookEvent
from leftoff.errors import NotAProject
from leftoff.hooks import spool, trouble
from leftoff.store import Store, disk

_ROUNDS = 1000


def main() -> None:
    """Run detached: whoever started us does not wait."""
    with contextlib.suppress(OSError):
        os.setsid()
    state = paths.state_folder()
    try:
        run(state)
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor tells
        trouble.note(state, "settle", error)


def run(state: Path, *, wait_seconds: float = 0.0) -> bool:
    """Drain the spool, unless another settle does; say whether it was us."""
    disk.ensure_folder(state)
    with _lock(state, wait_seconds) as is_ours:
        if not is_ours:
            return False
        for _ in range(_ROUNDS):
            (state / "settling").write_text(f"{os.getpid()}\n", encoding="ascii")
            drained = _drain(state)
            (state / "settling").unlink(missing_ok=True)
            # What could not be settled waits for the next one; all else was new.
            if not drained or not any(letter.tries == 0 for letter in spool.letters(state)):
                return True
    return True


@contextlib.contextmanager
def _lock(state: Path, wait_seconds: float) -> Iterator[bool]:
    descriptor = os.open(state / "settle.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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


def _drain(state: Path) -> bool:
    """Settle what lies in the spool now; say whether anything did."""
    waiting = spool.letters(state)
    stores: dict[Path, Store] = {}
    for letter in waiting:
        try:
            event = spool.read(letter)
            if event is not None:
                _settle(event, stores)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop the others
            if spool.put_back(letter, state):
                trouble.note(state, f"event {letter.path.name} was set aside", error)
        else:
            spool.done(letter)
    for store in stores.values():
        store.close()
    return bool(waiting)


def _settle(event: HookEvent, stores: dict[Path, Store]) -> None:
    if not os.path.isdir(event.cwd):  # noqa: PTH112 - the folder may be gone, or be no path at all
        return
    try:
        project = paths.find_project(Path(event.cwd))
    except NotAProject:
        return
    if is_off(project):
        return
    from leftoff.hooks.handling import handle  # noqa: PLC0415 - session start rarely needs it

    store = stores.setdefault(project.store, Store(project))
    handle(event, store)


def start_settle() -> None:
    """Start a settle of its own that outlives us."""
    subprocess.Popen(
        [sys.executable, "-I", "-m", "leftoff.hooks.settle"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )


def is_off(project: paths.Project) -> bool:
    """Say whether the user switched leftoff off for this project."""
    return (project.store / "off").exists()


if __name__ == "__main__":
    main()
    sys.exit(0)
