"""Detect the agents on this machine, and which of them leftoff can wire."""

import shutil

from leftoff.agents.registry import AGENTS
from leftoff.context import Environment
from leftoff.errors import LeftoffError
from leftoff.text.plural import join_words
from leftoff.wiring.agent_wirings import WIRINGS

TITLES = {agent: wiring.table.title for agent, wiring in WIRINGS.items()}


def list_installed(environment: Environment) -> list[str]:
    """List the agents that are on the PATH or have a folder of their own."""
    return [agent for agent in AGENTS if _is_on_path(agent) or _has_folder(environment, agent)]


def to_wire(environment: Environment, named: tuple[str, ...], *, is_all: bool = False) -> list[str]:
    """Return the agents to wire: the named ones, all, or those that are installed."""
    if is_all:
        return [*WIRINGS]
    chosen = named or list_installed(environment)
    if not chosen:
        titles = join_words([TITLES[agent] for agent in WIRINGS])
        raise LeftoffError(
            f"No supported agent found; this version of leftoff wires {titles}.",
            hint="Run `leftoff init --agent claude` to write its settings anyway.",
        )
    return list(dict.fromkeys(chosen))


def can_wire(environment: Environment) -> bool:
    """Return whether an agent that leftoff can wire is installed."""
    return bool(list_installed(environment))


def _is_on_path(agent: str) -> bool:
    return any(shutil.which(program) for program in WIRINGS[agent].table.programs)


def _has_folder(environment: Environment, agent: str) -> bool:
    folders = (environment.find_config_folder(agent), environment.find_agent_folder(agent))
    return any(folder.is_dir() for folder in folders)
