"""What a scripted model answers: one turn for one request."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

# Claude Code asks for more than the visible conversation: `main` and `subagent` are agent loops,
# `compact` asks for a summary, `title` for structured output, `side` is anything else.
Kind = Literal["main", "subagent", "compact", "title", "side"]

SUMMARY = "FAKE-SUMMARY of the conversation so far."
LEFTOFF_TOOL = "mcp__leftoff__"


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that the model calls."""

    name: str
    input: dict[str, Any]


def find_leftoff_tool(name: str, offered: Iterable[str]) -> str:
    """Return the name under which an agent offers a tool of leftoff's MCP server."""
    tool = re.compile(rf".*leftoff[_-]+{name.removeprefix(LEFTOFF_TOOL)}")
    return next(filter(tool.fullmatch, offered))


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One answer; `stall` holds it back until the test lets go."""

    texts: tuple[str, ...] = ()
    tools: tuple[ToolCall, ...] = ()
    tokens: int = 100
    """How large the context is said to be."""
    stall: bool = False
    status: int = 200
    problem: dict[str, Any] = {}
    """The body of an answer with another status than 200."""
    headers: dict[str, str] = {}
    """Its headers, which can say when to try again."""
    lasts: bool = False
    """Whether it answers every later request, too: agents try again after some errors."""
    kind: Kind = "main"
    when: str = ""
    """Only for a request whose new messages hold this."""
    at: Path | None = None
    """Only for a request of a session in this folder. Words do not distinguish two sessions: each
    may be shown those of the other."""


def say(*texts: str, **options: Any) -> Turn:
    """Make a turn that only speaks."""
    return Turn(texts=texts, **options)


def call(name: str, /, say: str = "", *, given: dict[str, Any], **options: Any) -> Turn:
    """Make a turn that calls one tool, after saying something if there is something to say."""
    texts = (say,) if say else ()
    return Turn(texts=texts, tools=(ToolCall(name, given),), **options)


def bash(command: str, say: str = "", **options: Any) -> Turn:
    """Make a turn that runs a command."""
    given = {"command": command, "description": "scripted command"}
    return call("Bash", say, given=given, **options)


def call_leftoff(tool: str, **given: Any) -> Turn:
    """Make a turn that calls a tool of leftoff's MCP server, by the name that Claude Code uses."""
    return call(f"{LEFTOFF_TOOL}{tool}", given=given)


def write(path: object, content: str, **options: Any) -> Turn:
    """Make a turn that writes a file."""
    return call("Write", given={"file_path": str(path), "content": content}, **options)


DEFAULTS: dict[Kind, Turn] = {
    "main": say("FAKE-DEFAULT: the script has no turn left."),
    "subagent": say("FAKE-SUBAGENT: done."),
    "compact": say(
        "<analysis>scripted</analysis>\n"
        f"<summary>\n1. Primary Request and Intent: {SUMMARY}\n</summary>"
    ),
    "title": say('{"title": "Fake title", "isNewTopic": true}'),
    "side": say("ok"),
}
