"""Say in one line whether hooks save sessions here: on, off, broken or not installed."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from leftoff import hooks, wiring
from leftoff.agents.hook_table import HookTable
from leftoff.context import Environment
from leftoff.projects.project import Project
from leftoff.store.layout import is_off
from leftoff.text.plural import format_count, join_words
from leftoff.wiring import foreign_files, inspect_settings
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places
from leftoff.wiring.wired_files import TABLES, is_wired

_DOCTOR = "run `leftoff doctor`"


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
    if claude.is_disabled_in is not None:
        return HooksState(
            state="off", text=f"disabled by disableAllHooks in {claude.is_disabled_in}"
        )
    others = [each for each in TABLES.values() if is_wired(each, world.places)]
    if not (claude.commands or claude.has_plugin or others):
        return HooksState(
            state="missing", text="not installed; run `leftoff init` to save sessions automatically"
        )
    if not claude.has_plugin and (problem := _find_damage(world.places)):
        return HooksState(state="broken", text=f"broken: {problem}; {_DOCTOR}")
    return _describe_wired(world, others, is_claude=bool(claude.commands or claude.has_plugin))


def _describe_wired(world: World, others: Sequence[HookTable], *, is_claude: bool) -> HooksState:
    """Say which agents have hooks, unless the agents do not run them."""
    titles = [each.title for each in others]
    if is_claude and TABLES["claude"].title not in titles:
        titles.insert(0, TABLES["claude"].title)
    if not is_claude and all(_is_stopped(each, world.places) for each in others):
        why = f"{titles[0]} does not run them yet; run `leftoff doctor` to see why"
        return HooksState(state="broken", text=why)
    noted = hooks.trouble.count_recent(world.places.state)
    more = f"; {format_count(noted, 'problem')} noted, {_DOCTOR}" if noted else ""
    return HooksState(state="on", text=f"on for {join_words(titles)}{more}")


def _is_stopped(table: HookTable, places: Places) -> bool:
    """Return whether an agent needs something else before it runs the hooks."""
    # Loading what wires agents takes longer than the rest, and Claude Code runs its hooks.
    return bool(wiring.agent_wirings.WIRINGS[table.agent].explain(places))


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
