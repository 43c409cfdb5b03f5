"""A worker: a process with a world of its own that does one part of the torture."""

import contextlib
import gc
import importlib
import os
import pkgutil
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import leftoff
from leftoff.torture import probe
from leftoff.torture.deeds import DEEDS
from leftoff.torture.orders import Tally, TortureReport, WorkerTask
from leftoff.torture.snapshot import Snapshot
from leftoff.torture.trials import Arena
from leftoff.torture.world import Program

PARTS = {
    "kills": "leftoff.torture.kills",
    "faults": "leftoff.torture.faults",
    "cuts": "leftoff.torture.cuts",
    "files": "leftoff.torture.garble",
    "repositories": "leftoff.torture.repositories",
    "load": "leftoff.torture.load",
}
# Together they go through most of the code that the others need.
_REHEARSED = ("save with a decision", "settle", "undo", "recover", "memory edit", "config set")


def run(task: WorkerTask, program: Program, emit: Callable[[TortureReport], None]) -> None:
    """Do one part, and report."""
    tally = Tally(task, emit)
    arena = Arena(tally, program)
    _warm_up(arena)
    tally.begin()
    try:
        importlib.import_module(PARTS[task.part]).run(arena)
    except Exception as error:  # noqa: BLE001 - a torture that breaks down has not passed
        what = f"the torture itself broke down: {type(error).__name__}: {error}"
        tally.note_broken(what, arena.where(task.part))
    arena.close()
    tally.report(is_final=True)


def _warm_up(arena: Arena) -> None:
    """Load everything and do some of it once, so that no child has to compile the same again."""
    for module in pkgutil.walk_packages(leftoff.__path__, "leftoff."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    _rehearse(arena)
    gc.collect()
    gc.freeze()


def _rehearse(arena: Arena) -> None:
    """Do some deeds in this very process, in a project that is thrown away.

    Most of what a command does in its first milliseconds is to compile regular expressions.
    """
    bench = arena.bench()
    before = Snapshot([bench.home])
    with _quiet(), contextlib.chdir(bench.project):
        for name in _REHEARSED:
            # Whatever goes wrong here goes wrong again in a trial, where it is noted.
            with contextlib.suppress(Exception):
                DEEDS[name](bench).work()
        with contextlib.suppress(Exception):
            probe.look_here(bench)
    shutil.rmtree(bench.project)
    before.restore()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Print nowhere."""
    kept = [(stream, os.dup(stream)) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream, _ in kept:
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


def folder_of(root: Path, part: str, number: int) -> Path:
    """Make the folder in which one worker has its world."""
    folder = root / f"{part}-{number}"
    for name in ("home", "tmp"):
        (folder / name).mkdir(parents=True)
    return folder
