"""Run all checks of `leftoff doctor`: everything that hooks need, and a test session."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from leftoff import hooks
from leftoff.errors import LeftoffError
from leftoff.hooks import installation
from leftoff.text.plural import join_words
from leftoff.wiring import (
    detect_agents,
    foreign_files,
    inspect_hook,
    inspect_project,
    inspect_settings,
    inspect_skill,
    inspect_spool,
    inspect_state,
    mcp_wiring,
    roundtrip,
)
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import DoctorFinding, World, fault, ok
from leftoff.wiring.table_wiring import explain_unreadable

_OF_WIRING = (
    inspect_hook.check_hook,
    inspect_hook.check_python,
    inspect_hook.check_disabled,
    inspect_skill.check_skill,
    inspect_state.check_command,
)
_OF_STATE = (
    inspect_state.check_byte_code,
    inspect_state.check_permissions,
    inspect_spool.check_places,
    inspect_spool.check_spool,
    inspect_spool.check_poison,
    inspect_spool.check_trouble,
    inspect_spool.check_native_files,
    inspect_project.check_trust,
    inspect_project.check_config,
    inspect_project.check_lost,
    inspect_project.check_kept_apart,
    inspect_state.check_store,
    inspect_project.check_index,
    inspect_project.check_memory,
    inspect_state.check_snapshots,
    inspect_state.check_space,
    inspect_state.check_versions,
)


def examine(world: World) -> Iterator[DoctorFinding]:
    """Run all checks, the test session last; a check that fails to run is a finding, too."""
    wired = _list_wired(world)
    checked = _list_agents(world, wired)
    others = [agent for agent in checked if wired and agent not in wired]
    for agent in checked:
        if agent not in others:
            yield from _run_check(agent, partial(WIRINGS[agent].inspect, world))
    yield from _run_check("agents", partial(_check_unwired, world, others))
    yield from _run_check("MCP server", partial(mcp_wiring.inspect, world))
    for check in _OF_WIRING:
        yield from _run_check(check.__name__, partial(check, world, is_wired=bool(wired)))
    for look in _OF_STATE:
        yield from _run_check(look.__name__, partial(look, world))
    yield from _run_check("round trip", partial(_prove, world, is_wired=bool(wired)))


def _check_unwired(world: World, agents: Sequence[str]) -> Iterator[DoctorFinding]:
    """Name the agents without hooks beside others with hooks: the user may have left them out.

    If an agent's settings cannot be read, hooks may be in them.
    """
    titles = []
    for agent in agents:
        wiring = WIRINGS[agent]
        try:
            wiring.plan(world.places)
        except (LeftoffError, OSError) as error:
            file = wiring.find_file(world.places)
            yield explain_unreadable(agent, wiring.table.title, file, error)
        else:
            titles.append(wiring.table.title)
    if titles:
        yield ok("agents", f"No hooks for {join_words(titles)}; `leftoff init` installs them")


def _list_wired(world: World) -> list[str]:
    """List the agents with hooks of leftoff; those of Claude Code may be the project's."""
    claude = inspect_settings.read_wiring(world)
    return [
        agent
        for agent, wiring in WIRINGS.items()
        if wiring.is_wired(world.places) or (agent == "claude" and claude.commands)
    ]


def _list_agents(world: World, wired: list[str]) -> list[str]:
    """List the agents to check: those that are found or wired; if none is wired, Claude Code."""
    if not wired:
        return ["claude"]
    installed = detect_agents.list_installed(world.places.environment)
    return [agent for agent in WIRINGS if agent in installed or agent in wired]


def _prove(world: World, *, is_wired: bool) -> list[DoctorFinding]:
    wiring = inspect_settings.read_wiring(world)
    if wiring.commands:
        return roundtrip.prove(wiring.commands, foreign_files.read(world.places.python))
    if is_wired:
        # Other agents run the same program, which does not depend on the agent's program.
        commands = roundtrip.build_commands(world.places.hook)
        return roundtrip.prove(commands, foreign_files.read(world.places.python))
    if wiring.has_plugin:
        # The settings do not contain the plugin's hooks, so run the same program directly.
        letterbox = Path(hooks.__file__).parent / "letterbox.sh"
        return roundtrip.prove(roundtrip.build_commands(letterbox), installation.lines())
    return []


def _run_check(name: str, check: Callable[[], Iterable[DoctorFinding]]) -> Iterator[DoctorFinding]:
    """Report a check that raises OSError, as on a full disk, so that the others still run."""
    try:
        yield from check()
    except (LeftoffError, OSError) as error:
        yield fault(
            name.removeprefix("check_").replace("_", " "),
            f"The check failed: {error}",
            why="Hooks fail there in the same way.",
            do="Fix the problem, then run `leftoff doctor` again.",
        )


def is_broken(findings: list[DoctorFinding]) -> bool:
    """Return whether a finding keeps leftoff from working."""
    return any(finding.level == "broken" for finding in findings)
