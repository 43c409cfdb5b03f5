"""Translate Gemini CLI's hook payloads and replies, as observed in 0.61.0."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.claude.claude_dialect import (
    build_context_reply,
    build_reply,
    no_lock,
    no_pid,
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
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
    "PreToolUse": "pre-tool",
}
REPLY_LIMIT = 30_000
# With `gemini -p`, the text is put before the prompt, where each `@path` in it is replaced by that
# file. The text of the first BeforeAgent is not expanded.
ADDS_AT_START = False
STARTS_AFTER_COMPACTION = False
# The processes above its hooks name it.
find_lock = no_lock
find_pid = no_pid
# Gemini's own names for the events whose replies name them.
_OWN_NAMES = {"UserPromptSubmit": "BeforeAgent", "PreToolUse": "BeforeTool", "Stop": "AfterAgent"}
_SHELLS = frozenset({"run_shell_command"})
# What a hook added to the prompt comes back in the next payload.
_ADDED = r"(?s)\A<hook_context>.*?</hook_context>\s*"
_PLAIN = r"[A-Za-z0-9_-]+"
_SHORT_ID = 8


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if leftoff does not use it."""
    read = read_payload("gemini", KINDS.get(event), payload, at=at)
    # Before every request, Gemini reports that it might compress, whether it does or not.
    if read is None or (read.kind == "pre-compact" and read.is_automatic):
        return None
    return msgspec.structs.replace(
        read,
        prompt=re.sub(_ADDED, "", read.prompt),
        last_words=read_text(payload.get("prompt_response")),
        command=read_text(read_input(payload, _SHELLS).get("command")),
    )


def find_transcript(root: Path, session_id: str) -> str:
    """Find the chat of a session by its name, which holds the beginning of the id."""
    if not re.fullmatch(_PLAIN, session_id):
        return ""
    found = (root / "tmp").glob(f"*/chats/session-*-{session_id[:_SHORT_ID]}.json*")
    return next((str(path) for path in found if path.is_file()), "")


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model, and optionally a notice for the user."""
    name = _OWN_NAMES.get(event, event)
    return build_context_reply(name, text, notice=notice, limit=REPLY_LIMIT)


def block_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that stops before a prompt is answered, with the reason for the user."""
    if event == "PreCompact":
        # Hooks cannot stop a compression.
        return NO_REPLY
    # A denied prompt is lost; a stopped one stays in the conversation.
    return build_reply({"continue": False, "stopReason": str(reason)})


def deny_reply(event: str, reason: Rendered) -> Reply:  # noqa: ARG001 - part of the contract
    """Build a reply that denies a tool call, with the reason for the model."""
    return build_reply({"decision": "deny", "reason": str(reason)})
