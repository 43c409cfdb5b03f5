"""Run one part of the torture in a process with its own home folder."""

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
from leftoff.torture.orders import Tally, TortureReport, WorkerTask
from leftoff.torture.snapshot import TreeState
from leftoff.torture.trials import Arena
from leftoff.torture.workloads import WORKLOADS
from leftoff.torture.world import Program

PARTS = {
    "kills": "leftoff.torture.kills",
    "faults": "leftoff.torture.faults",
    "cuts": "leftoff.torture.cuts",
    "files": "leftoff.torture.garble",
    "repositories": "leftoff.torture.repositories",
    "load": "leftoff.torture.load",
}
# Together these run most of the code that the other workloads need.
_REHEARSED = ("save with a decision", "settle", "undo", "recover", "memory edit", "config set")


def run(task: WorkerTask, program: Program, emit: Callable[[TortureReport], None]) -> None:
    """Run one part and report."""
    tally = Tally(task, emit)
    arena = Arena(tally, program)
    _warm_up(arena)
    tally.begin()
    try:
        importlib.import_module(PARTS[task.part]).run(arena)
    except Exception as error:  # noqa: BLE001 - a torture that breaks down has not passed
        what = f"the torture itself failed: {type(error).__name__}: {error}"
        tally.note_broken(what, arena.where(task.part))
    arena.close()
    tally.report(is_final=True)


def _warm_up(arena: Arena) -> None:
    """Import everything and run some of it once, so that no child has to compile it again."""
    for module in pkgutil.walk_packages(leftoff.__path__, "leftoff."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    _rehearse(arena)
    # Frozen objects are not scanned, so a fork does not copy their memory pages.
    gc.collect()
    gc.freeze()


def _rehearse(arena: Arena) -> None:
    """Run some workloads in this process, in a project that is deleted afterwards.

    A command spends most of its first milliseconds on compiling regular expressions.
    """
    bench = arena.bench()
    before = TreeState([bench.home])
    with _quiet(), contextlib.chdir(bench.project):
        for name in _REHEARSED:
            # Anything that fails here fails again in a trial, where it is recorded.
            with contextlib.suppress(Exception):
                WORKLOADS[name](bench).work()
        with contextlib.suppress(Exception):
            probe.look_here(bench)
    shutil.rmtree(bench.project)
    before.restore()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Discard what is printed."""
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
    """Create the home and temp folders of one worker."""
    folder = root / f"{part}-{number}"
    for name in ("home", "tmp"):
        (folder / name).mkdir(parents=True)
    return folder
