"""Which events of opencode leftoff uses: a plugin of its own passes them on."""

from pathlib import Path

import msgspec

from leftoff.agents.hook_table import HookTable, WiredEvent

TABLE = HookTable(
    agent="opencode",
    title="opencode",
    programs=("opencode",),
    opens=("--prompt",),
    runs=("run",),
    resumes=("--session",),
    tested="1.18.33",
    file="plugins/leftoff.js",
    commands=("command/leftoff-checkpoint.md", "command/leftoff-continue.md"),
    is_own_file=True,
    events=(
        WiredEvent(event="chat.message", name="SessionStart", seconds=15),
        WiredEvent(event="chat.message", name="UserPromptSubmit"),
        WiredEvent(event="tool.execute.before", name="PreToolUse"),
        WiredEvent(event="session.idle", name="Stop"),
        WiredEvent(event="session.error", name="StopFailure"),
        WiredEvent(event="session.status", name="StopFailure"),
        WiredEvent(event="experimental.session.compacting", name="PreCompact", seconds=10),
        WiredEvent(event="dispose", name="SessionEnd"),
    ),
)
_PLUGIN = Path(__file__).with_name("plugin.js")


def render(hook: Path) -> bytes:
    """Return the plugin, for leftoff's hook program."""
    return _PLUGIN.read_bytes().replace(b'"@HOOK@"', msgspec.json.encode(str(hook)))
