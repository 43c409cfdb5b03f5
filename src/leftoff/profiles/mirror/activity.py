"""Mark running commands beside native files, for the systems that look there."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType

from leftoff import processes, profiles
from leftoff.profiles.profile import AtWork, Worker
from leftoff.projects.project import Project, leads_out
from leftoff.store import disk, utc_now

_TERMINATED = 128 + signal.SIGTERM


@contextlib.contextmanager
def mark_work(project: Project, names: Iterable[str], what: str) -> Iterator[None]:
    """Leave a mark where a profile uses one, until the work is done or we are terminated."""
    workers = [*_find_workers(project, names)]
    if not workers:
        yield
        return
    marks: list[Path] = []
    # Set this up first: a SIGTERM right after the first mark must still remove it.
    with _end_orderly():
        try:
            for worker, folder in workers:
                _leave(marks, worker, folder, what)
            yield
        finally:
            for mark in marks:
                with contextlib.suppress(OSError):
                    mark.unlink()


def find_others_at_work(project: Project, names: Iterable[str]) -> list[AtWork]:
    """Return other running commands; marks of processes that are gone are removed."""
    return [each for worker in _find_workers(project, names) for each in _find_living(*worker)]


def _find_living(worker: Worker, folder: Path) -> list[AtWork]:
    found = []
    for path, work in [*worker.at_work(folder)]:
        if work.pid == os.getpid():
            continue
        if processes.is_alive(work.pid, work.began):
            found.append(work)
        elif disk.is_regular(path) and not leads_out(path):
            with contextlib.suppress(OSError):
                path.unlink()
    return found


def _find_workers(project: Project, names: Iterable[str]) -> Iterator[tuple[Worker, Path]]:
    for name in names:
        profile = profiles.load(name)
        if isinstance(profile, Worker):
            yield profile, profile.home(project)


def _leave(marks: list[Path], worker: Worker, folder: Path, what: str) -> None:
    """Leave a mark, after recording it so that it can be removed."""
    _find_living(worker, folder)
    pid = os.getpid()
    work = AtWork(what=what, pid=pid, began=processes.read_start_time(pid), since=utc_now())
    path = worker.work_path(folder, work)
    if leads_out(path):
        return
    # The work continues even without a mark.
    with contextlib.suppress(OSError):
        marks.append(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - the file is already open
            file.write(worker.work_text(work).encode())


@contextlib.contextmanager
def _end_orderly() -> Iterator[None]:
    """Turn a SIGTERM into an exception, so that our files are cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
