"""Translate what leftoff's plugin for opencode sends, and build the replies that it reads."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.claude.claude_dialect import (
    build_flat_reply,
    build_reply,
    no_lock,
    no_pid,
    read_count,
    read_input,
    read_payload,
    read_text,
)
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Kind, Reply
from leftoff.text.fence import Rendered

KINDS: dict[str, Kind] = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "StopFailure": "failure",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
    "PreToolUse": "pre-tool",
}
REPLY_LIMIT = 30_000
ADDS_AT_START = True
STARTS_AFTER_COMPACTION = False
# The plugin names its process.
find_lock = no_lock
find_pid = no_pid
_SHELLS = frozenset({"bash"})
_PLAIN = r"[A-Za-z0-9_-]+"
_QUOTED = r'(?s)"(?:[^"\\]|\\.)+"'


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if leftoff does not use it."""
    read = read_payload("opencode", KINDS.get(event), payload, at=at)
    if read is None:
        return None
    return msgspec.structs.replace(
        read,
        prompt=unquote(read.prompt),
        pid=read_count(payload.get("pid")),
        window=read_count(payload.get("context_window")),
        command=read_text(read_input(payload, _SHELLS).get("command")),
    )


def unquote(prompt: str) -> str:
    """Return a prompt as it was typed: `opencode run` puts arguments with spaces in quotes."""
    if not re.fullmatch(_QUOTED, prompt):
        return prompt
    return prompt[1:-1].replace('\\"', '"')


def find_transcript(root: Path, session_id: str) -> str:
    """Return the database that holds all sessions, for an id that can be in it."""
    database = root / "opencode.db"
    return str(database) if re.fullmatch(_PLAIN, session_id) and database.is_file() else ""


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model, and optionally a notice for the user."""
    del event
    return build_flat_reply("context", text, limit=REPLY_LIMIT, notice=notice)


def block_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that blocks a prompt."""
    if event == "PreCompact":
        # opencode gives plugins no way to stop a compaction.
        return NO_REPLY
    return build_reply({"block": str(reason)})


def deny_reply(event: str, reason: Rendered) -> Reply:  # noqa: ARG001 - part of the contract
    """Build a reply that blocks a tool call."""
    return build_reply({"block": str(reason)})
