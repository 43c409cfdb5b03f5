"""Which hooks of Claude Code leftoff uses."""

from leftoff.agents.hook_table import HookTable, WiredEvent

TABLE = HookTable(
    agent="claude",
    title="Claude Code",
    programs=("claude",),
    runs=("-p",),
    resumes=("--resume",),
    tested="2.1.325",
    file="settings.json",
    project_folder=".claude",
    events=(
        WiredEvent(event="SessionStart", name="SessionStart", seconds=15),
        WiredEvent(event="UserPromptSubmit", name="UserPromptSubmit"),
        WiredEvent(event="Stop", name="Stop"),
        WiredEvent(event="StopFailure", name="StopFailure"),
        # A compaction may have to wait until everything is saved.
        WiredEvent(event="PreCompact", name="PreCompact", seconds=10),
        # Without its own timeout, Claude Code kills a hook at the end of a session after little
        # more than a second.
        WiredEvent(event="SessionEnd", name="SessionEnd"),
        # Only shell commands can run long enough to justify a save before them.
        WiredEvent(event="PreToolUse", name="PreToolUse", matcher="Bash|PowerShell"),
        WiredEvent(event="Notification", name="Notification"),
        WiredEvent(
            event="PostToolUse",
            name="PostToolUse",
            matcher="Edit|Write|MultiEdit",
            is_optional=True,
        ),
    ),
)
