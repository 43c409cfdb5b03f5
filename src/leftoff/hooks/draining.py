"""Draining: settle every event that waits in the spool, each in its own project."""

import os
import sys
import time
from pathlib import Path

import msgspec

from leftoff import paths
from leftoff.dialects.base import HookEvent
from leftoff.errors import NotAProject
from leftoff.hooks import spool, trouble
from leftoff.store import Store

_WRITING_SECONDS = 2.0
_PAUSE_SECONDS = 0.01


def drain(state: str) -> bool:
    """Settle what lies in the spool now; say whether nothing new can be left."""
    folder = Path(state)
    stores: dict[Path, Store] = {}
    try:
        for letter in spool.letters(folder):
            _open(letter, folder, stores)
        spool.sweep(folder)
    except OSError as error:
        trouble.note(folder, "settle", error)
        return True
    finally:
        for store in stores.values():
            store.close()
    return not has_news(state)


def has_news(state: str) -> bool:
    """Say whether an event waits that was not tried yet; others wait for the next settle."""
    return any(letter.tries == 0 for letter in spool.letters(Path(state)))


def _open(letter: spool.Letter, state: Path, stores: dict[Path, Store]) -> None:
    try:
        event = spool.read(letter)
        if event is not None:
            _settle(event, stores)
    except Exception as error:  # noqa: BLE001 - one bad event must not stop the others
        if isinstance(error, msgspec.DecodeError) and time.time() - letter.at < _WRITING_SECONDS:
            # It may still be being written; whoever writes it has seen our mark and wakes nobody.
            time.sleep(_PAUSE_SECONDS)
            return
        if spool.put_back(letter, state):
            trouble.note(state, f"event {letter.path.name} was set aside", error)
    else:
        spool.done(letter)


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

    # By worktree, not by store: worktrees share one, and a checkpoint tells from which it is.
    if project.worktree not in stores:
        stores[project.worktree] = Store(project)
    handle(event, stores[project.worktree])


def is_off(project: paths.Project) -> bool:
    """Say whether the user switched leftoff off for this project."""
    return (project.store / "off").exists()


def start_settle(state: Path) -> None:
    """Start a settle of its own that outlives us."""
    import subprocess  # noqa: PLC0415 - session start settles by itself and never needs it

    subprocess.Popen(
        [sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )
