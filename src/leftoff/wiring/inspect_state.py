"""Checks of what leftoff keeps: permissions, the spool, troubles, checkpoints, space, versions."""

import importlib.util
import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from leftoff import __version__, times
from leftoff.errors import LeftoffError
from leftoff.hooks import settle, spool, trouble
from leftoff.paths import Project
from leftoff.store import Store, disk
from leftoff.wiring import programs
from leftoff.wiring.findings import Finding, World, broken, ok, warning
from leftoff.words import counted

_LITTLE_BYTES = 200_000_000
_TOO_LITTLE_BYTES = 10_000_000
# Settle takes a second or two; what is older was left behind.
_LATE_SECONDS = 60.0
_SHOWN = 3
_PACKAGE = Path(__file__).resolve().parent.parent


def check_spool(world: World) -> Iterator[Finding]:
    """Check that no event waits, after giving those that do a chance."""
    state = world.places.state
    waiting = spool.letters(state)
    late = [letter for letter in waiting if time.time() - letter.at > _LATE_SECONDS]
    had_mark = (state / "settling").exists()
    if state.is_dir() and not settle.run(state, wait_seconds=2.0):
        yield ok("spool", "Events are being settled right now")
        return
    yield _settled(late, left=len(spool.letters(state)))
    if had_mark and not waiting:
        yield warning(
            "spool",
            "A settle died and left its mark; it is removed now",
            why="Hooks may have taken it for a running one.",
            do="Nothing, unless it happens again.",
        )


def _settled(late: Sequence[spool.Letter], *, left: int) -> Finding:
    if left:
        return broken(
            "spool",
            f"{counted(left, 'event')} could not be settled",
            why="What they tell is in no checkpoint yet.",
            do="See the troubles below; the events are kept and tried again.",
        )
    if not late:
        return ok("spool", "No event waits")
    age = times.age(time.time() - late[0].at)
    return warning(
        "spool",
        f"{counted(len(late), 'event')} waited, the oldest since {age}; settled just now",
        why="Settle did not run after the hook: the Python of the hooks may have been gone.",
        do="Nothing, unless it happens again.",
    )


def check_poison(world: World) -> Iterator[Finding]:
    """Tell of events that were set aside because they could not be settled."""
    folder = world.places.state / "poison"
    found = list(folder.iterdir()) if disk.is_own_folder(folder) else []
    if found:
        yield warning(
            "events set aside",
            f"{counted(len(found), 'event')} could not be settled after three tries, in {folder}",
            why="What they tell is in no checkpoint; the session's transcript still has it.",
            do="`leftoff doctor --clear` removes them. They hold raw text: look before you share.",
        )


def check_trouble(world: World) -> Iterator[Finding]:
    """Tell what went wrong in hooks."""
    found = trouble.recent(world.places.state)
    if not found:
        yield ok("troubles", "Nothing went wrong in hooks")
        return
    lines = [
        f"{times.age(time.time() - each.at)}, {each.where}: {each.what}" for each in found[-_SHOWN:]
    ]
    yield warning(
        "troubles",
        f"{len(found)} in hooks; the newest: {'; '.join(reversed(lines))}",
        why="The agent went on, but something may not have been saved.",
        do="When dealt with, `leftoff doctor --clear` forgets them.",
    )


def clear(world: World) -> None:
    """Forget troubles, and remove the events that were set aside."""
    trouble.clear(world.places.state)
    folder = world.places.state / "poison"
    for path in folder.iterdir() if disk.is_own_folder(folder) else []:
        path.unlink(missing_ok=True)


def check_permissions(world: World) -> Iterator[Finding]:
    """Check that what leftoff keeps is for its user's eyes only."""
    folders = [world.places.state, world.places.state / "spool"]
    folders += [world.project.store] if world.project else []
    open_ = [path for path in _kept(folders) if path.lstat().st_mode & 0o077]
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


def check_byte_code(world: World) -> Iterator[Finding]:
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


def check_store(world: World) -> Iterator[Finding]:
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


def _readable(project: Project) -> Finding:
    store = Store(project)
    try:
        unreadable = store.index().unreadable()
    except (LeftoffError, OSError) as error:
        return broken("store", str(error), why="Nothing can be read.", do="See the message.")
    finally:
        store.close()
    if not unreadable:
        return ok("store", f"{project.store} is sound")
    return warning(
        "store",
        f"{len(unreadable)} checkpoint(s) cannot be read, first {unreadable[0].id}",
        why="They are not offered, and not found.",
        do=f"`leftoff show {unreadable[0].id} --raw` shows what is there.",
    )


def check_space(world: World) -> Iterator[Finding]:
    """Check that there is room to write."""
    folders = [world.places.state] + ([world.project.store] if world.project else [])
    places = dict.fromkeys(_existing(folder) for folder in folders)
    free = {place: shutil.disk_usage(place).free for place in places}
    place = min(free, key=lambda each: free[each])
    told = f"{free[place] / 1e9:.1f} GB free at {place}"
    if free[place] >= _LITTLE_BYTES:
        yield ok("space", told)
        return
    make = broken if free[place] < _TOO_LITTLE_BYTES else warning
    yield make("space", told, why="Events and checkpoints need room.", do="Free some space.")


def check_versions(world: World) -> Iterator[Finding]:
    """Tell the versions of all that plays together."""
    del world
    git, claude = (programs.ask([name, "--version"]) for name in ("git", "claude"))
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


def _kept(folders: list[Path]) -> Iterator[Path]:
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
