"""Which agents are on this machine, and which of them can be wired."""

import shutil
from pathlib import Path

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.registry import AGENTS
from leftoff.environment import Environment
from leftoff.errors import LeftoffError, UsageError

# Where an agent keeps its things in the home folder, if the name does not tell.
_FOLDERS = {"opencode": ".local/share/opencode"}
TITLES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "opencode",
    "copilot": "Copilot CLI",
    "cursor": "Cursor",
}


def list_installed(environment: Environment) -> list[str]:
    """List the agents that are on the PATH or have a folder in the home folder."""
    return [
        agent for agent in AGENTS if shutil.which(agent) or _folder(environment, agent).is_dir()
    ]


def to_wire(environment: Environment, named: tuple[str, ...]) -> list[str]:
    """Choose the agents to wire: the named ones, else those that are installed."""
    for agent in named:
        if agent not in DIALECTS:
            raise UsageError(
                f"The hooks of {TITLES[agent]} cannot be wired by this version.",
                hint="leftoff still reads its sessions: run `leftoff sessions`.",
            )
    chosen = [agent for agent in named or list_installed(environment) if agent in DIALECTS]
    if not chosen:
        raise LeftoffError(
            "No agent was found whose hooks can be wired; this version wires Claude Code.",
            hint="`leftoff init --agent claude` writes its settings anyway.",
        )
    return list(dict.fromkeys(chosen))


def can_wire(environment: Environment) -> bool:
    """Say whether an agent is installed whose hooks can be wired."""
    return any(agent in DIALECTS for agent in list_installed(environment))


def only_read(environment: Environment) -> list[str]:
    """List the installed agents whose sessions are read but whose hooks are not wired."""
    return [agent for agent in list_installed(environment) if agent not in DIALECTS]


def _folder(environment: Environment, agent: str) -> Path:
    if agent == "claude":
        return environment.find_agent_folder("claude")
    return environment.home / _FOLDERS.get(agent, f".{agent}")
