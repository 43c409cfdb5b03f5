"""Check the program that hooks run, its Python, and whether hooks are disabled."""

from collections.abc import Iterator
from pathlib import Path

from leftoff import __version__
from leftoff.agents.claude.claude_dialect import KINDS
from leftoff.store import disk
from leftoff.wiring import foreign_files, install, try_programs
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning

_INIT = "Run `leftoff init`."
# Everything that hooks need from a Python: leftoff, its dependencies, and SQLite with FTS5.
_PROBE = """
import sqlite3, sys, leftoff.hooks.settle, leftoff.hooks.start, leftoff.hooks.process_event
sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE words USING fts5(text)")
print(leftoff.__version__, f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}")
"""


def check_hook(world: World, *, is_wired: bool) -> Iterator[DoctorFinding]:
    """Check the program that hooks run."""
    hook = world.places.hook
    data = foreign_files.read(hook)
    if data is None:
        # Without hooks in the settings, nothing would run it.
        if is_wired:
            yield fault("hook", f"{hook} is missing", why="leftoff gets no events.", do=_INIT)
    elif not hook.stat().st_mode & 0o100:
        yield fault("hook", f"{hook} is not executable", why="leftoff gets no events.", do=_INIT)
    elif data != install.read_shipped_hook():
        yield warning(
            "hook",
            f"{hook} does not match leftoff {__version__}",
            why="It comes from another version, or someone edited it.",
            do=_INIT,
        )
    else:
        yield ok("hook", f"{hook} is in place")


def check_python(world: World, *, is_wired: bool) -> Iterator[DoctorFinding]:
    """Check that the hooks' Python exists and can import this version of leftoff."""
    named = foreign_files.read(world.places.python)
    if named is None:
        if is_wired:
            yield fault(
                "python",
                f"{world.places.python} is missing",
                why="Hooks keep no events, because nothing could process them.",
                do=_INIT,
            )
        return
    python, package = (*named.decode("utf-8", "surrogateescape").split("\n"), "")[:2]
    answer = try_programs.ask([python, "-I", "-c", _PROBE])
    version, _, versions = answer.line.partition(" ")
    if answer.code != 0:
        yield fault(
            "python",
            f"{python} cannot run leftoff: {answer.last_line}",
            why="Hooks keep no events, because nothing could process them.",
            do="Reinstall leftoff, then run `leftoff init`.",
        )
    elif package and not Path(package).exists():
        yield fault(
            "python",
            f"{world.places.python} names {package}, which no longer exists",
            why="Hooks assume that leftoff was uninstalled, and keep no events.",
            do=_INIT,
        )
    elif version != __version__:
        yield warning(
            "python",
            f"Hooks run leftoff {version}, but this is {__version__}",
            why="The two versions may not be able to read each other's files.",
            do=_INIT,
        )
    else:
        yield ok("python", f"{python} ({versions}) runs leftoff {version}")


def check_disabled(world: World, *, is_wired: bool) -> Iterator[DoctorFinding]:
    """Report the hooks that the user disabled."""
    del is_wired
    names = world.places.environment.list_disabled_hooks()
    if unknown := sorted(names - set(KINDS.values())):
        yield warning(
            "disabled",
            f"LEFTOFF_DISABLED_HOOKS contains unknown names: {', '.join(unknown)}",
            why="These names have no effect.",
            do=f"Valid names are {', '.join(KINDS.values())}.",
        )
    if known := sorted(names & set(KINDS.values())):
        yield warning(
            "disabled",
            f"LEFTOFF_DISABLED_HOOKS disables {', '.join(known)}",
            why="leftoff ignores these events.",
            do="Remove them from the variable to enable them.",
        )
    if world.project is not None and disk.is_regular(world.project.store / "off"):
        yield warning(
            "disabled",
            f"leftoff is off for {world.project.root}",
            why="leftoff does not save sessions here, and offers nothing to resume.",
            do="Run `leftoff on` to turn it back on.",
        )
