"""One module per coding agent, each reading its sessions onto the same stream of events."""

from leftoff.agents import claude
from leftoff.agents.base import Agent

AGENTS: dict[str, Agent] = {
    "claude": claude,
}
