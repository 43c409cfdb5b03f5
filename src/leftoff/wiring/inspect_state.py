"""Checks of what leftoff keeps: permissions, checkpoints, space, versions."""

import importlib.util
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from leftoff import __version__
from leftoff.errors import LeftoffError
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.text.plural import format_count
from leftoff.wiring import try_programs
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning

_LITTLE_BYTES = 200_000_000
_TOO_LITTLE_BYTES = 10_000_000
_PACKAGE = Path(__file__).resolve().parent.parent


def check_permissions(world: World) -> Iterator[DoctorFinding]:
    """Check that what leftoff keeps is for its user's eyes only."""
    folders = [world.places.state, world.places.state / "spool"]
    folders += [world.project.store] if world.project else []
    open_ = [path for path in _list_own_paths(folders) if path.lstat().st_mode & 0o077]
    if open_:
        more = f" and {len(open_) - 1} more" if len(open_) > 1 else ""
        yield warning(
            "permissions",
            f"{open_[0]}{more} can be read by others (mode {_mode(open_[0])})",
            why="It may hold what you typed.",
            do=f"chmod -R go= {open_[0] if open_[0].is_dir() else open_[0].parent}",
        )
    else:
        yield ok("permissions", "Only you can read what is kept")


def check_byte_code(world: World) -> Iterator[DoctorFinding]:
    """Check that hooks need not compile first."""
    del world
    sources = list(_PACKAGE.rglob("*.py"))
    missing = [path for path in sources if not _is_compiled(path)]
    if missing:
        yield warning(
            "byte code",
            f"{len(missing)} of {len(sources)} modules are not compiled",
            why="Each start of a session takes longer.",
            do="Run `leftoff init` as the user who installed leftoff.",
        )
    else:
        yield ok("byte code", "Compiled")


def check_store(world: World) -> Iterator[DoctorFinding]:
    """Check that every checkpoint can be read, and that none waits in the fallback."""
    project = world.project
    if project is None:
        return
    waiting = project.fallback / "checkpoints"
    if waiting.is_dir() and any(waiting.glob("*/*.json")):
        yield warning(
            "store",
            f"Checkpoints wait in {project.fallback}",
            why=f"{project.store} could not be written when they were saved.",
            do="Any command that can write the store takes them in.",
        )
    if project.store.is_dir():
        yield _readable(project)
    else:
        yield ok("store", f"Nothing was saved yet in {project.root}")


def _readable(project: Project) -> DoctorFinding:
    store = Store(project)
    try:
        unreadable = store.index().unreadable()
    except (LeftoffError, OSError) as error:
        return fault("store", str(error), why="Nothing can be read.", do="See the message.")
    finally:
        store.close()
    if not unreadable:
        return ok("store", f"{project.store} is sound")
    return warning(
        "store",
        f"{format_count(len(unreadable), 'checkpoint')} cannot be read, first {unreadable[0].id}",
        why="They are not offered, and not found.",
        do=f"`leftoff show {unreadable[0].id} --raw` shows what is there.",
    )


def check_space(world: World) -> Iterator[DoctorFinding]:
    """Check that there is room to write."""
    folders = [world.places.state] + ([world.project.store] if world.project else [])
    places = dict.fromkeys(_existing(folder) for folder in folders)
    free = {place: shutil.disk_usage(place).free for place in places}
    place = min(free, key=lambda each: free[each])
    told = f"{free[place] / 1e9:.1f} GB free at {place}"
    if free[place] >= _LITTLE_BYTES:
        yield ok("space", told)
        return
    make = fault if free[place] < _TOO_LITTLE_BYTES else warning
    yield make("space", told, why="Events and checkpoints need room.", do="Free some space.")


def check_versions(world: World) -> Iterator[DoctorFinding]:
    """Tell the versions of all that plays together."""
    del world
    git, claude = (try_programs.ask([name, "--version"]) for name in ("git", "claude"))
    told = [f"leftoff {__version__}"]
    told += [answer.line for answer in (git,) if answer.code == 0]
    told += [f"claude {answer.line}" for answer in (claude,) if answer.code == 0]
    yield ok("versions", ", ".join(told))
    if git.code != 0:
        yield warning(
            "versions",
            "git cannot be run",
            why="Checkpoints know nothing of branches, commits and changed files.",
            do="Install git.",
        )
    if claude.code != 0:
        yield warning(
            "versions",
            "claude is not on the PATH",
            why="Its version is not known here. The hooks do not need it.",
            do="Nothing, if you run Claude Code in another way.",
        )


def _list_own_paths(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        if folder.is_dir():
            yield folder
            yield from (
                path
                for path in folder.iterdir()
                if path.name != "hook" and not stat.S_ISLNK(path.lstat().st_mode)
            )


def _mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:04o}"


def _is_compiled(source: Path) -> bool:
    return os.access(importlib.util.cache_from_source(str(source)), os.R_OK)


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())
