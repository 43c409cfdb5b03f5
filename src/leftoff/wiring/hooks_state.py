"""Say in one line whether hooks save sessions here: on, off, broken or not installed."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from leftoff import __version__, hooks, wiring
from leftoff.agents.hook_table import HookTable
from leftoff.context import Environment
from leftoff.errors import LeftoffError
from leftoff.projects.project import Project
from leftoff.store import disk
from leftoff.store.layout import is_off
from leftoff.text.plural import format_count, join_words
from leftoff.wiring import foreign_files, inspect_settings
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places
from leftoff.wiring.wired_files import TABLES, find_file, is_wired

_DOCTOR = "run `leftoff doctor`"
_CLAUDE = "claude"


class HooksState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether hooks save sessions, and what to know about it."""

    state: Literal["on", "off", "broken", "missing"]
    text: str

    @property
    def saves(self) -> bool:
        """Whether sessions are saved automatically."""
        return self.state == "on"


def read_hooks(environment: Environment, project: Project | None) -> HooksState:
    """Look at the settings and the files of the hooks; `leftoff doctor` also tries them."""
    if project is not None and is_off(project):
        return HooksState(
            state="off", text="off for this project; run `leftoff on` to turn them on"
        )
    world = World(places=find_places(environment), project=project)
    claude = inspect_settings.read_wiring(world)
    has_claude = bool(claude.commands or claude.has_plugin)
    wired = [
        each
        for agent, each in TABLES.items()
        if is_wired(each, world.places) or (agent == _CLAUDE and has_claude)
    ]
    stopped = [
        each
        for each in wired
        if (claude.is_disabled_in if each.agent == _CLAUDE else _is_stopped(each, world.places))
    ]
    if claude.is_disabled_in is not None and len(stopped) == len(wired):
        return HooksState(
            state="off", text=f"disabled by disableAllHooks in {claude.is_disabled_in}"
        )
    if not wired:
        return HooksState(
            state="missing", text="not installed; run `leftoff init` to save sessions automatically"
        )
    if not claude.has_plugin and (problem := _find_damage(world.places)):
        return HooksState(state="broken", text=f"broken: {problem}; {_DOCTOR}")
    return _describe_wired(world, wired, stopped)


def _describe_wired(
    world: World, wired: Sequence[HookTable], stopped: Sequence[HookTable]
) -> HooksState:
    """Say which agents run the hooks, and which do not although they have them."""
    running = [each.title for each in wired if each not in stopped]
    verb = "does" if len(stopped) == 1 else "do"
    idle = f"{join_words([each.title for each in stopped])} {verb} not run them; {_DOCTOR}"
    if not running:
        return HooksState(state="broken", text=f"{idle} to see why")
    noted = hooks.trouble.count_recent(world.places.state)
    text = f"on for {join_words(running)}"
    text += f"; {idle}" if stopped else ""
    text += f"; {format_count(noted, 'problem')} noted, {_DOCTOR}" if noted else ""
    return HooksState(state="on", text=text)


def _is_stopped(table: HookTable, places: Places) -> bool:
    """Return whether the user keeps an agent from running the hooks that it has."""
    if not table.has_switch:
        return False
    known, stamp = _recall(places), _build_stamp(table, places)
    before = known.get(table.agent)
    if before is not None and before[0] == stamp:
        return before[1]
    # The wiring modules take as long to load as `leftoff status` takes without them.
    is_stopped = not wiring.agent_wirings.WIRINGS[table.agent].is_active(places)
    _remember(places, {**known, table.agent: (stamp, is_stopped)})
    return is_stopped


_SWITCHES = "switches"
_decoder = msgspec.json.Decoder(dict[str, tuple[str, bool]])


def _build_stamp(table: HookTable, places: Places) -> str:
    """Return what changes with the files that say whether an agent runs the hooks."""
    path = find_file(table, places)
    config = places.environment.find_config_folder(table.agent) / "config.toml"
    stamps = [_stamp_file(each) for each in (path, config)]
    return " ".join([__version__, str(places.hook), str(path), *stamps])


def _stamp_file(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "-"
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"


def _recall(places: Places) -> dict[str, tuple[str, bool]]:
    try:
        return _decoder.decode(disk.read(places.state / _SWITCHES)[0])
    except (OSError, LeftoffError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _remember(places: Places, found: dict[str, tuple[str, bool]]) -> None:
    # This file only saves time, so a failure does not matter.
    with contextlib.suppress(OSError, LeftoffError):
        data = msgspec.json.encode(found)
        disk.replace(places.state / _SWITCHES, data, temps=places.state, durable=False)


def _find_damage(places: Places) -> str:
    """Return what keeps wired hooks from running; empty if nothing does."""
    if not os.access(places.hook, os.X_OK):
        return f"{places.hook} is missing or not executable"
    named = foreign_files.read(places.python)
    if named is None:
        return f"{places.python} is missing"
    python, package = (*named.decode("utf-8", "surrogateescape").split("\n"), "")[:2]
    if not os.access(python, os.X_OK):
        return f"{python} is gone"
    return f"{package} is gone" if package and not Path(package).exists() else ""
