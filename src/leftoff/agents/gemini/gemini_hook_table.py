"""Which hooks of Gemini CLI leftoff uses."""

from leftoff.agents.hook_table import HookTable, WiredEvent

TABLE = HookTable(
    agent="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    opens=("-i",),
    runs=("--skip-trust", "-p"),
    resumes=("--resume",),
    tested="0.61.0",
    file="settings.json",
    events=(
        WiredEvent(event="SessionStart", name="SessionStart", seconds=15),
        WiredEvent(event="BeforeAgent", name="UserPromptSubmit"),
        WiredEvent(event="BeforeTool", name="PreToolUse", matcher="run_shell_command"),
        WiredEvent(event="AfterAgent", name="Stop"),
        WiredEvent(event="PreCompress", name="PreCompact", seconds=10),
        WiredEvent(event="SessionEnd", name="SessionEnd"),
    ),
    # Gemini CLI names a command after its folder and file.
    commands=("commands/leftoff/checkpoint.toml", "commands/leftoff/continue.toml"),
    command_prefix="leftoff:",
    has_milliseconds=True,
    has_comments=True,
    more={"name": "leftoff"},
    has_switch=True,
)
