"""Detect the agents on this machine, and which of them leftoff can wire."""

import shutil
from pathlib import Path

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.registry import AGENTS
from leftoff.context import Environment
from leftoff.errors import LeftoffError, UsageError

# An agent's folder below the home folder, if it is not named after the agent.
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
    """List the agents that are on the PATH or have a folder below the home folder."""
    return [
        agent for agent in AGENTS if shutil.which(agent) or _folder(environment, agent).is_dir()
    ]


def to_wire(environment: Environment, named: tuple[str, ...]) -> list[str]:
    """Return the agents to wire: the named ones, or those that are installed."""
    for agent in named:
        if agent not in DIALECTS:
            raise UsageError(
                f"This version of leftoff cannot wire the hooks of {TITLES[agent]}.",
                hint="leftoff still reads its sessions: run `leftoff sessions`.",
            )
    chosen = [agent for agent in named or list_installed(environment) if agent in DIALECTS]
    if not chosen:
        raise LeftoffError(
            "No supported agent found; this version of leftoff wires Claude Code.",
            hint="Run `leftoff init --agent claude` to write its settings anyway.",
        )
    return list(dict.fromkeys(chosen))


def can_wire(environment: Environment) -> bool:
    """Return whether an agent that leftoff can wire is installed."""
    return any(agent in DIALECTS for agent in list_installed(environment))


def only_read(environment: Environment) -> list[str]:
    """List the installed agents whose sessions leftoff reads but whose hooks it cannot wire."""
    return [agent for agent in list_installed(environment) if agent not in DIALECTS]


def _folder(environment: Environment, agent: str) -> Path:
    # CLAUDE_CONFIG_DIR can move Claude Code's folder.
    if agent == "claude":
        return environment.find_agent_folder("claude")
    return environment.home / _FOLDERS.get(agent, f".{agent}")
