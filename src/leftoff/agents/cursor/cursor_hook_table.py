"""Which hooks of Cursor leftoff uses, and where its settings name them."""

from leftoff.agents.hook_table import HookTable, WiredEvent

TABLE = HookTable(
    agent="cursor",
    title="Cursor",
    programs=("cursor-agent", "cursor"),
    runs=("-p",),
    resumes=("--resume",),
    # No test can run it: it needs Cursor's servers.
    tested="",
    file="hooks.json",
    commands=("commands/leftoff-checkpoint.md", "commands/leftoff-continue.md"),
    events=(
        WiredEvent(event="sessionStart", name="SessionStart", seconds=15),
        WiredEvent(event="beforeSubmitPrompt", name="UserPromptSubmit"),
        WiredEvent(event="beforeShellExecution", name="PreToolUse"),
        WiredEvent(event="stop", name="Stop"),
        WiredEvent(event="preCompact", name="PreCompact", seconds=10),
        WiredEvent(event="sessionEnd", name="SessionEnd"),
    ),
)
