"""Translate Codex's hook payloads and replies, as observed in 0.166.0."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.claude.claude_dialect import (
    build_context_reply,
    build_reply,
    deny_reply,
    is_plain,
    no_pid,
    read_input,
    read_payload,
    read_text,
)
from leftoff.agents.hook_events import HookEvent, Kind, Reply
from leftoff.text.fence import Rendered

__all__ = [
    "ADDS_AT_START",
    "KINDS",
    "REPLY_LIMIT",
    "STARTS_AFTER_COMPACTION",
    "block_reply",
    "context_reply",
    "deny_reply",
    "find_lock",
    "find_pid",
    "find_transcript",
    "translate",
]

KINDS: dict[str, Kind] = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
    "PreToolUse": "pre-tool",
}
# Codex cuts the middle out of context above about 2,500 tokens: 9,500 bytes arrived whole.
REPLY_LIMIT = 9_000
ADDS_AT_START = True
STARTS_AFTER_COMPACTION = True
# The lock says whether the session runs, even in the daemon.
find_pid = no_pid
# Codex reports its shell under the name of Claude Code's.
_SHELLS = frozenset({"Bash"})


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if leftoff does not use it."""
    read = read_payload("codex", KINDS.get(event), payload, at=at)
    if read is None:
        return None
    command = read_text(read_input(payload, _SHELLS).get("command"))
    return msgspec.structs.replace(read, command=command) if command else read


def find_transcript(root: Path, session_id: str) -> str:
    """Find the rollout of a session by its name."""
    if not is_plain(session_id):
        return ""
    found = (root / "sessions").glob(f"*/*/*/rollout-*-{session_id}.jsonl")
    return next((str(path) for path in found if path.is_file()), "")


def find_lock(root: Path, session_id: str) -> str:
    """Return the file that Codex keeps locked while it writes a session; empty if none."""
    if not is_plain(session_id):
        return ""
    path = root / "thread-writer-locks" / f"{session_id}.lock"
    return str(path) if path.is_file() else ""


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model, and optionally a notice for the user."""
    return build_context_reply(event, text, notice=notice, limit=REPLY_LIMIT)


def block_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that blocks a prompt or a compaction, with the reason for the user."""
    if event == "PreCompact":
        return build_reply({"continue": False, "stopReason": str(reason)})
    return build_reply({"decision": "block", "reason": str(reason)})
