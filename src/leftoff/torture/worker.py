"""A worker: a process with a world of its own that does one part of the torture."""

import contextlib
import gc
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

import leftoff
from leftoff.torture.trials import Arena
from leftoff.torture.values import Report, Tally, Task
from leftoff.torture.world import Program

PARTS = {
    "kills": "leftoff.torture.kills",
    "faults": "leftoff.torture.faults",
    "cuts": "leftoff.torture.cuts",
    "files": "leftoff.torture.garble",
    "repositories": "leftoff.torture.repositories",
    "load": "leftoff.torture.load",
}


def run(task: Task, program: Program, emit: Callable[[Report], None]) -> None:
    """Do one part, and report."""
    _warm_up()
    tally = Tally(task, emit)
    arena = Arena(tally, program)
    try:
        importlib.import_module(PARTS[task.part]).run(arena)
    except Exception as error:  # noqa: BLE001 - a torture that breaks down has not passed
        what = f"the torture itself broke down: {type(error).__name__}: {error}"
        tally.broken(what, arena.where(task.part))
    tally.report(is_final=True)


def _warm_up() -> None:
    """Load everything once, so that no child has to."""
    for module in pkgutil.walk_packages(leftoff.__path__, "leftoff."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def folder_of(root: Path, part: str, number: int) -> Path:
    """Make the folder in which one worker has its world."""
    folder = root / f"{part}-{number}"
    for name in ("home", "tmp"):
        (folder / name).mkdir(parents=True)
    return folder
