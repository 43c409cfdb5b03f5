"""Pack the snapshots of a project in the background, and drop old ones above the limit.

Run as `python -I -m leftoff.hooks.tidy_snapshots WORKTREE`.
"""

import contextlib
import os
import sys
from pathlib import Path

from leftoff import config
from leftoff.context import read_environment, state_folder
from leftoff.hooks import trouble
from leftoff.projects.project import find_project
from leftoff.snapshots.retention import OpenThreads, tidy
from leftoff.snapshots.shelf import list_snapshots
from leftoff.store import LISTED, Store

_NICE = 10
_MOST_HEADS = 100_000


def tidy_project(worktree: Path) -> int:
    """Pack and drop as the settings of a project say; return how many were dropped."""
    project = find_project(read_environment(), worktree)
    limit = config.load(project).settings.snapshot_limit * 1_000_000
    store = Store(project)
    try:
        open_threads = _list_open(store)
    finally:
        store.close()
    return tidy(project, limit=limit, open_threads=open_threads)


def _list_open(store: Store) -> OpenThreads:
    index = store.index()
    sessions = {each.session for _, each in list_snapshots(store.project) if not each.thread}
    threads = {each: index.find_thread(each) for each in sessions if each}
    return OpenThreads(
        slots={each.slot for each in index.heads([*LISTED], _MOST_HEADS)},
        by_session={each: found.slot for each, found in threads.items() if found is not None},
    )


def main(worktree: str) -> None:
    """Tidy up at low priority; a failure is noted, and the next snapshot tries again."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)
        os.setsid()
    try:
        tidy_project(Path(worktree))
    except Exception as error:  # noqa: BLE001 - nobody waits for it; doctor reports it
        trouble.note(state_folder(), "packing the snapshots", error)


if __name__ == "__main__":
    main(sys.argv[1])
