"""Take a snapshot of a session's uncommitted code in the background."""

import contextlib
import os
import sys
import threading
import time
from pathlib import Path

from leftoff.hooks import trouble
from leftoff.hooks.session_event import Case
from leftoff.processes import copy_for_child
from leftoff.snapshots.retention import needs_tidying
from leftoff.snapshots.shelf import SnapshotTrigger
from leftoff.snapshots.take import Reason, take_snapshot

# Less than settle allows for an event.
_SECONDS = 30.0
_NICE = 10


def keep_code(case: Case, *, is_saved: bool) -> None:
    """Take a snapshot at low priority; a failure is noted and stops nothing.

    Of a backlog of turns that have all ended, the code after the last one is all that is left.
    """
    if not is_saved and case.event.at < case.sight.code_kept_at:
        return
    thread = case.store.index().find_thread(case.event.session_id)
    reason = Reason(
        trigger=_name_trigger(case, is_saved=is_saved),
        thread=thread.slot if thread is not None else None,
        session=case.event.session_id,
    )
    # A thread can have a priority of its own, which the programs that it starts inherit. A process
    # could not take its own back.
    worker = threading.Thread(target=_take_quietly, args=(case, reason))
    worker.start()
    worker.join()


def _name_trigger(case: Case, *, is_saved: bool) -> SnapshotTrigger:
    if case.event.kind == "pre-compact":
        return "precompact"
    return "checkpoint" if is_saved else "turn"


def _take_quietly(case: Case, reason: Reason) -> None:
    # Only Linux has this for threads.
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
    project = case.store.project
    began = time.time()
    try:
        take_snapshot(project, reason, seconds=_SECONDS)
        case.sight.code_kept_at = began
        limit = case.settings.snapshot_limit * 1_000_000
        if needs_tidying(project, limit=limit):
            _start_tidying(project.worktree)
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor reports it
        trouble.note(Path(project.state_folder), "taking a snapshot", error)


def _start_tidying(worktree: Path) -> None:
    """Pack in a process of its own: that can take longer than settle allows for an event."""
    words = [sys.executable, "-I", "-m", "leftoff.hooks.tidy_snapshots", str(worktree)]
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    os.posix_spawn(sys.executable, words, copy_for_child(), file_actions=silent)
