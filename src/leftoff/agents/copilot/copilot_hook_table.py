"""Which hooks of Copilot CLI leftoff uses: a file of its own in Copilot's folder of hooks."""

import shlex
from pathlib import Path

import msgspec

from leftoff.agents.hook_table import HookTable, WiredEvent

TABLE = HookTable(
    agent="copilot",
    title="Copilot CLI",
    programs=("copilot",),
    opens=("-i",),
    runs=("-p",),
    runs_after=("--allow-all-tools",),
    resumes=("--resume",),
    tested="1.0.102",
    file="hooks/leftoff.json",
    is_own_file=True,
    events=(
        WiredEvent(event="SessionStart", name="SessionStart", seconds=15),
        WiredEvent(event="UserPromptSubmit", name="UserPromptSubmit"),
        WiredEvent(event="PreToolUse", name="PreToolUse", seconds=10, matcher="bash"),
        WiredEvent(event="Stop", name="Stop"),
        WiredEvent(event="PreCompact", name="PreCompact", seconds=10),
        WiredEvent(event="SessionEnd", name="SessionEnd"),
    ),
)


def render(hook: Path) -> bytes:
    """Return the file that names the hooks, for leftoff's hook program."""
    hooks = {each.event: [_describe(each, shlex.quote(str(hook)))] for each in TABLE.events}
    return msgspec.json.format(msgspec.json.encode({"version": 1, "hooks": hooks})) + b"\n"


def _describe(wired: WiredEvent, hook: str) -> dict[str, object]:
    command = f"{hook} {TABLE.agent} {wired.name}"
    # Copilot denies a call if the hook before it fails, even because leftoff is gone.
    is_before_call = wired.name == "PreToolUse"
    return {
        **({"matcher": wired.matcher} if wired.matcher else {}),
        "type": "command",
        "bash": f"{command} || true" if is_before_call else command,
        "timeoutSec": wired.seconds,
    }
