"""Check permissions, byte code, checkpoints, disk space and versions."""

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

# Warn while there is time to react; below the second limit, saves are about to fail.
_LITTLE_BYTES = 200_000_000
_TOO_LITTLE_BYTES = 10_000_000
_PACKAGE = Path(__file__).resolve().parent.parent


def check_permissions(world: World) -> Iterator[DoctorFinding]:
    """Check that only the user can read leftoff's files."""
    folders = [world.places.state, world.places.state / "spool"]
    folders += [world.project.store] if world.project else []
    open_ = [path for path in _list_own_paths(folders) if path.lstat().st_mode & 0o077]
    if open_:
        more = f" and {len(open_) - 1} more" if len(open_) > 1 else ""
        yield warning(
            "permissions",
            f"Other users can read {open_[0]}{more} (mode {_mode(open_[0])})",
            why="It may contain what you typed.",
            do=f"chmod -R go= {open_[0] if open_[0].is_dir() else open_[0].parent}",
        )
    else:
        yield ok("permissions", "Only you can read leftoff's files")


def check_byte_code(world: World) -> Iterator[DoctorFinding]:
    """Check that byte code exists, so that hooks do not compile Python files."""
    del world  # all checks have the same signature
    sources = list(_PACKAGE.rglob("*.py"))
    missing = [path for path in sources if not _is_compiled(path)]
    if missing:
        yield warning(
            "byte code",
            f"{len(missing)} of {len(sources)} modules are not compiled",
            why="Sessions start more slowly.",
            do="Run `leftoff init` as the user who installed leftoff.",
        )
    else:
        yield ok("byte code", "Compiled")


def check_store(world: World) -> Iterator[DoctorFinding]:
    """Check that every checkpoint is readable and that none is in the fallback folder."""
    project = world.project
    if project is None:
        return
    waiting = project.fallback / "checkpoints"
    if waiting.is_dir() and any(waiting.glob("*/*.json")):
        yield warning(
            "store",
            f"Some checkpoints are in {project.fallback}",
            why=f"{project.store} was not writable when they were saved.",
            do="Make the store writable; the next leftoff command moves them there.",
        )
    if project.store.is_dir():
        yield _readable(project)
    else:
        yield ok("store", f"No checkpoints yet in {project.root}")


def _readable(project: Project) -> DoctorFinding:
    store = Store(project)
    try:
        unreadable = store.index().unreadable()
    except (LeftoffError, OSError) as error:
        return fault(
            "store",
            str(error),
            why="leftoff cannot read this project's checkpoints.",
            do="See the message.",
        )
    finally:
        store.close()
    if not unreadable:
        return ok("store", f"All checkpoints in {project.store} can be read")
    return warning(
        "store",
        f"Cannot read {format_count(len(unreadable), 'checkpoint')}, such as {unreadable[0].id}",
        why="leftoff does not offer or find them.",
        do=f"Run `leftoff show {unreadable[0].id} --raw` to see the file.",
    )


def check_space(world: World) -> Iterator[DoctorFinding]:
    """Check that there is enough free disk space."""
    folders = [world.places.state] + ([world.project.store] if world.project else [])
    places = dict.fromkeys(_existing(folder) for folder in folders)
    free = {place: shutil.disk_usage(place).free for place in places}
    place = min(free, key=lambda each: free[each])
    free_space = f"{free[place] / 1e9:.1f} GB free at {place}"
    if free[place] >= _LITTLE_BYTES:
        yield ok("space", free_space)
        return
    make = fault if free[place] < _TOO_LITTLE_BYTES else warning
    yield make(
        "space",
        free_space,
        why="leftoff needs space for events and checkpoints.",
        do="Free some space.",
    )


def check_versions(world: World) -> Iterator[DoctorFinding]:
    """Report the versions of leftoff, git and Claude Code."""
    del world
    git, claude = (try_programs.ask([name, "--version"]) for name in ("git", "claude"))
    versions = [f"leftoff {__version__}"]
    versions += [answer.line for answer in (git,) if answer.code == 0]
    versions += [f"claude {answer.line}" for answer in (claude,) if answer.code == 0]
    yield ok("versions", ", ".join(versions))
    if git.code != 0:
        yield warning(
            "versions",
            "Cannot run git",
            why="Checkpoints will not record branches, commits and changed files.",
            do="Install git.",
        )
    if claude.code != 0:
        yield warning(
            "versions",
            "claude is not on the PATH",
            why="leftoff cannot check its version. The hooks do not need it.",
            do="Nothing, if you start Claude Code in another way.",
        )


def _list_own_paths(folders: list[Path]) -> Iterator[Path]:
    # The hook program is readable by design and contains no data. A link's own mode says nothing.
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
    # The folder may not exist yet; its nearest parent is on the same disk.
    return next(place for place in (folder, *folder.parents) if place.exists())
