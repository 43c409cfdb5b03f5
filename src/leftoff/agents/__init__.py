"""One module per coding agent, each reading its sessions onto the same stream of events."""

from leftoff.agents import claude, codex, copilot, cursor, gemini, opencode
from leftoff.agents.base import Agent

AGENTS: dict[str, Agent] = {
    "claude": claude,
    "codex": codex,
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
    "cursor": cursor,
}
