"""Name the agents that leftoff can wire, and how."""

from leftoff.agents.claude import claude_hook_table
from leftoff.agents.copilot import copilot_hook_table
from leftoff.agents.cursor import cursor_hook_table
from leftoff.agents.opencode import opencode_hook_table
from leftoff.wiring import claude_hooks, cursor_hooks
from leftoff.wiring.claude_wiring import ClaudeWiring
from leftoff.wiring.codex_wiring import CodexWiring
from leftoff.wiring.gemini_wiring import GeminiWiring
from leftoff.wiring.group_wiring import GroupWiring
from leftoff.wiring.own_file_wiring import OwnFileWiring
from leftoff.wiring.wiring_contract import AgentWiring

WIRINGS: dict[str, AgentWiring] = {
    "claude": ClaudeWiring(
        claude_hook_table.TABLE,
        claude_hooks,
        what="Claude Code's settings: hooks, and permission to read, save and resume",
    ),
    "codex": CodexWiring(),
    "gemini": GeminiWiring(),
    "opencode": OwnFileWiring(
        opencode_hook_table.TABLE, opencode_hook_table.render, what="leftoff's plugin for opencode"
    ),
    "copilot": OwnFileWiring(
        copilot_hook_table.TABLE, copilot_hook_table.render, what="leftoff's hooks for Copilot CLI"
    ),
    "cursor": GroupWiring(cursor_hook_table.TABLE, cursor_hooks, what="Cursor's hooks"),
}
