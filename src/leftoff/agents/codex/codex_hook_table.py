"""Which hooks of Codex leftoff uses.

Users trust a hook by its position, command, matcher and timeout. A change to any of these disables
the hook until the user has reviewed it again, so never change them.
"""

from leftoff.agents.hook_table import HookTable, WiredEvent

TABLE = HookTable(
    agent="codex",
    title="Codex",
    programs=("codex",),
    # Without it, Codex refuses to run in a folder that is not in a git repository.
    runs=("exec", "--skip-git-repo-check"),
    resumes=("resume",),
    tested="0.166.0",
    file="hooks.json",
    events=(
        WiredEvent(event="SessionStart", name="SessionStart", seconds=15),
        WiredEvent(event="UserPromptSubmit", name="UserPromptSubmit"),
        WiredEvent(event="PreToolUse", name="PreToolUse", matcher="Bash"),
        WiredEvent(event="Stop", name="Stop"),
        WiredEvent(event="PreCompact", name="PreCompact", seconds=10),
        # Codex allows no more at the end of a session.
        WiredEvent(event="SessionEnd", name="SessionEnd", seconds=3),
    ),
    keeps_positions=True,
    has_switch=True,
)
