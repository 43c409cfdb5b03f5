"""What differs between agents in the stories that all of them are played through."""

import time
from typing import Any

import msgspec

from e2e import codex, copilot, opencode
from e2e.bench import AgentBench
from e2e.turns import SUMMARY, Turn, bash, call

# It says that it runs, and ends on its own if nobody ends it.
SLOW = """\
touch running
for _ in $(seq 400); do
  [ -e running ] || exit 0
  sleep 0.1
done
"""


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """How the user of an interactive program compacts the conversation."""

    command: str
    shows: str
    """What the screen then shows."""
    prepares: str = ""
    """The reply that waits for the next prompt, if no session start follows."""
    summary: str = SUMMARY
    """What the model is shown in place of the conversation."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """How the model's API refuses a request because a limit is reached."""

    problem: dict[str, Any]
    headers: dict[str, str] = {}
    """What keeps the agent from waiting for long before it tries again, or from trying again."""
    words: str
    """What the next offer says."""


class Ways(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's own ways."""

    plan: Turn
    """A turn that writes down what is in progress."""
    window: int
    """The tokens that it counts as its whole context."""
    skill: str
    """How a request names the skill."""
    go_on: str = "continue"
    """How the user says that the work goes on."""
    takes_up: tuple[Turn, ...] = ()
    """What the model does then, if the hook does not do it."""
    leftoff: str = "leftoff"
    """How its shell finds leftoff."""
    works_below: bool = False
    """Whether to go on in a folder below: its hooks then run in another one."""
    compaction: Compaction | None = None
    """None if only the agent itself compacts."""
    says_end: bool = True
    """Whether a hook runs when a signal ends it."""


def _plan(tool: str, **given: Any) -> Turn:
    return call(tool, given=given)


_STEP = "Write retry.py"
_INSERT = "INSERT INTO todos (id, title, status) VALUES ('a', 'Write retry.py', 'in_progress')"
WAYS: dict[str, Ways] = {
    "codex": Ways(
        plan=_plan("update_plan", explanation="", plan=[{"step": _STEP, "status": "in_progress"}]),
        # Codex counts what is left for the conversation: 95 % of the configured window.
        window=codex.WINDOW * 95 // 100,
        skill="- leftoff: ",
        # A login shell, which has another PATH.
        leftoff="{root}/bin/leftoff",
        compaction=Compaction(command="/compact", shows="Context compacted"),
        says_end=False,
    ),
    "gemini": Ways(
        plan=_plan("write_todos", todos=[{"description": _STEP, "status": "in_progress"}]),
        # What leftoff knows about the model that the tests name.
        window=1_048_576,
        skill="<name>leftoff</name>",
        # A slash command, which asks the model to accept.
        go_on="/leftoff:continue",
        takes_up=(bash("leftoff resume --accept"),),
        # There is too little to compress, which leftoff cannot know.
        compaction=Compaction(
            command="/compress",
            shows="Compression was not beneficial",
            prepares="a compaction of this session was started",
            summary="",
        ),
    ),
    "opencode": Ways(
        plan=_plan(
            "todowrite",
            todos=[{"id": "1", "content": _STEP, "status": "in_progress", "priority": "high"}],
        ),
        window=opencode.WINDOW,
        skill="<name>leftoff</name>",
    ),
    "copilot": Ways(
        plan=_plan("sql", description="todos", query=_INSERT),
        window=copilot.WINDOW,
        skill="<name>leftoff</name>",
        compaction=Compaction(
            command="/compact", shows="Compaction completed", prepares="Its state before that"
        ),
        works_below=True,
    ),
}


_SLOWER = {"message": "Rate limit exceeded. Please try again in 2 hours.", "type": "rate_limit"}
_USED_UP = {
    "type": "usage_limit_reached",
    "message": "The usage limit has been reached",
    "plan_type": "plus",
    "resets_at": int(time.time()) + 5 * 3600,
}
_EXCEEDED = {
    "type": "rate_limit_error",
    "message": "This request would exceed your account's rate limit. Please try again later.",
}
# Not Gemini CLI, which then waits without a word to hooks or in its transcript.
LIMITS: dict[str, Limit] = {
    "claude": Limit(
        problem={"type": "error", "error": _EXCEEDED},
        headers={"x-should-retry": "false"},
        words="claude reached a rate limit.",
    ),
    "codex": Limit(
        problem={"error": _USED_UP}, words="codex reached a usage limit, which resets at"
    ),
    "opencode": Limit(
        problem={"error": _SLOWER},
        headers={"retry-after-ms": "1"},
        words="opencode reached a rate limit, which resets at",
    ),
    "copilot": Limit(
        problem={"error": _SLOWER},
        headers={"retry-after": "1"},
        words="copilot reached a rate limit, which resets at",
    ),
}


def use_another_agent(bench: AgentBench) -> str:
    """Leave what a second agent in use leaves, and what Cursor leaves that was removed."""
    other = "codex" if bench.agent == "claude" else "claude"
    (bench.root / "bin" / other).symlink_to("/bin/true")
    for name in (other, "cursor"):
        (bench.home / f".{name}").mkdir(exist_ok=True)
    return other
