"""Name the agents with hooks, and the module that translates each one's payloads and replies.

Dialects are separate from `agents.registry`, which reads sessions: session start must load them in
a few milliseconds, and loading the readers takes fifty. So no dialect may import a reader, and none
compiles an expression when it is loaded. A hook needs the dialect of one agent, so each is loaded
when it is first used.
"""

from leftoff.agents.hook_events import Dialect
from leftoff.load_on_use import module_on_use

DIALECTS: dict[str, Dialect] = {
    "claude": module_on_use("leftoff.agents.claude.claude_dialect"),
    "codex": module_on_use("leftoff.agents.codex.codex_dialect"),
    "gemini": module_on_use("leftoff.agents.gemini.gemini_dialect"),
    "opencode": module_on_use("leftoff.agents.opencode.opencode_dialect"),
    "copilot": module_on_use("leftoff.agents.copilot.copilot_dialect"),
    "cursor": module_on_use("leftoff.agents.cursor.cursor_dialect"),
}
