"""Check the installation: Claude Code's settings, the hook program and its Python."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff import __version__
from leftoff.agents.claude.dialect import KINDS
from leftoff.errors import LeftoffError
from leftoff.store import disk
from leftoff.wiring import claude_hooks, foreign_files, install, settings_file, try_programs
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning

_INIT = "Run `leftoff init`."
# Everything that hooks need from a Python: leftoff, its dependencies, and SQLite with FTS5.
_PROBE = """
import sqlite3, sys, leftoff.hooks.settle, leftoff.hooks.start, leftoff.hooks.process_event
sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE words USING fts5(text)")
print(leftoff.__version__, f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}")
"""


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings files say about hooks."""

    commands: Mapping[str, str]
    """The command to run for each event."""
    wires: Mapping[Path, list[claude_hooks.Wire]]
    problems: list[DoctorFinding]
    has_plugin: bool = False
    is_disabled_in: Path | None = None


def read_wiring(world: World) -> Wiring:
    """Read the settings files."""
    wires: dict[Path, list[claude_hooks.Wire]] = {}
    problems: list[DoctorFinding] = []
    has_plugin, is_disabled_in = False, None
    for path in world.settings_files:
        try:
            values = settings_file.parse(foreign_files.read(path), path).values
        except (LeftoffError, OSError) as error:
            problems.append(_unusable(path, error))
            continue
        wires[path] = claude_hooks.wires(values, world.places.hook)
        has_plugin |= _has_plugin(values)
        if isinstance(values, dict) and values.get("disableAllHooks") is True:
            is_disabled_in = path
    commands = {
        wire.event: wire.command
        for path, found in wires.items()
        for wire in reversed(found)  # the first of several hooks for an event wins
        if _is_own(world, path, wire)
    }
    return Wiring(
        commands=commands,
        wires=wires,
        problems=problems,
        has_plugin=has_plugin,
        is_disabled_in=is_disabled_in,
    )


def _is_own(world: World, path: Path, wire: claude_hooks.Wire) -> bool:
    """Return whether a command is safe to run; a clone's settings can contain any command."""
    is_ours = wire.command == claude_hooks.command_line(world.places.hook, wire.event)
    return is_ours or path == world.places.settings


def check_settings(world: World, wiring: Wiring) -> Iterator[DoctorFinding]:
    """Check that every event has exactly one command and that hooks are enabled."""
    yield from wiring.problems
    if wiring.is_disabled_in is not None:
        yield fault(
            "settings",
            f"disableAllHooks is set in {wiring.is_disabled_in}",
            why="Claude Code does not run any hooks.",
            do="Remove that line from the file.",
        )
    missing = [event for event in claude_hooks.EVENTS if event not in wiring.commands]
    if not wiring.commands and wiring.has_plugin:
        yield ok("settings", "The plugin provides the hooks; the settings have none.")
    elif missing:
        yield _missing(missing, is_all=not wiring.commands)
    else:
        found = [path for path, wires in wiring.wires.items() if wires]
        yield ok("settings", f"{len(claude_hooks.EVENTS)} hooks in {', '.join(map(str, found))}")
    yield from _check_wires(world, wiring)
    if wiring.commands and wiring.has_plugin and not world.places.mark.exists():
        yield warning(
            "settings",
            "The hooks are in the settings and in the plugin",
            why="leftoff gets every event twice.",
            do=_INIT,
        )


def _check_wires(world: World, wiring: Wiring) -> Iterator[DoctorFinding]:
    for path, wires in wiring.wires.items():
        old = [
            wire
            for wire in wires
            if wire.command != claude_hooks.command_line(world.places.hook, wire.event)
        ]
        if old:
            yield warning(
                "settings",
                f"Hooks in {path} run another program: {old[0].command.rpartition(' claude ')[0]}",
                why="They belong to another installation, whose checkpoints you do not see here.",
                do=_INIT,
            )
        twice = [event for event, n in Counter(wire.event for wire in wires).items() if n > 1]
        if twice:
            yield warning(
                "settings",
                f"{path} has more than one hook for {', '.join(twice)}",
                why="leftoff gets these events twice.",
                do=_INIT,
            )


def check_hook(world: World, wiring: Wiring) -> Iterator[DoctorFinding]:
    """Check the program that hooks run."""
    hook = world.places.hook
    data = foreign_files.read(hook)
    if data is None:
        # Without hooks in the settings, nothing would run it.
        if wiring.commands:
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


def check_python(world: World, wiring: Wiring) -> Iterator[DoctorFinding]:
    """Check that the hooks' Python exists and can import this version of leftoff."""
    named = foreign_files.read(world.places.python)
    if named is None:
        if wiring.commands:
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


def check_disabled(world: World, wiring: Wiring) -> Iterator[DoctorFinding]:
    """Report the hooks that the user disabled."""
    del wiring
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


def _missing(events: list[str], *, is_all: bool) -> DoctorFinding:
    what = "The hooks are not installed" if is_all else f"No hook for {', '.join(events)}"
    return fault("settings", what, why="Sessions are not saved automatically.", do=_INIT)


def _unusable(path: Path, error: LeftoffError | OSError) -> DoctorFinding:
    # The end of the message is about `init`; doctor changes nothing anyway.
    return fault(
        "settings",
        str(error).removesuffix(", so nothing was changed"),
        why="Claude Code cannot use it either.",
        do=f"Fix {path} by hand.",
    )


def _has_plugin(values: Any) -> bool:
    plugins = values.get("enabledPlugins") if isinstance(values, dict) else None
    # Claude Code's keys are plugin@marketplace.
    return isinstance(plugins, dict) and any(
        name.partition("@")[0] == "leftoff" and is_on for name, is_on in plugins.items()
    )
