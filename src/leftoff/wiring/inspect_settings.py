"""Check Claude Code's settings: the user's, and those of the project."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.errors import LeftoffError
from leftoff.wiring import claude_hooks, settings_file
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning
from leftoff.wiring.hook_groups import Wire

_INIT = "Run `leftoff init`."


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings files say about hooks."""

    commands: Mapping[str, str]
    """The command to run for each event."""
    wires: Mapping[Path, list[Wire]]
    problems: list[DoctorFinding]
    has_plugin: bool = False
    is_disabled_in: Path | None = None


def read_wiring(world: World) -> Wiring:
    """Read the settings files."""
    wires: dict[Path, list[Wire]] = {}
    problems: list[DoctorFinding] = []
    has_plugin, is_disabled_in = False, None
    for path in world.settings_files:
        try:
            values = settings_file.read_values(path)
        except (LeftoffError, OSError) as error:
            problems.append(_report_unusable(path, error))
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


def _is_own(world: World, path: Path, wire: Wire) -> bool:
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
    elif not wiring.commands and not world.places.hook.exists():
        yield _explain_none()
    elif missing:
        yield _report_missing(missing, is_all=not wiring.commands)
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


def _explain_none() -> DoctorFinding:
    """Return the finding for someone who never installed hooks, which is a choice."""
    return warning(
        "settings",
        "The hooks are not installed",
        why="`leftoff save` and `leftoff resume` work, but sessions are not saved automatically.",
        do="Run `leftoff init` to save sessions automatically.",
    )


def _report_missing(events: list[str], *, is_all: bool) -> DoctorFinding:
    what = "The hooks are not installed" if is_all else f"No hook for {', '.join(events)}"
    return fault("settings", what, why="Sessions are not saved automatically.", do=_INIT)


def _report_unusable(path: Path, error: LeftoffError | OSError) -> DoctorFinding:
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
