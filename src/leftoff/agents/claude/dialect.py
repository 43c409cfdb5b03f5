"""Translate Claude Code's hook payloads and replies, as observed in 2.1.197 and 2.1.325."""

from collections.abc import Mapping
from typing import Any

import msgspec

from leftoff.agents.hook_events import NO_REPLY, HookEvent, Kind, Reply
from leftoff.text import fence
from leftoff.text.fence import Rendered

# Only names that every supported version knows: an unknown name makes Claude Code stop at a warning
# dialog on every start.
KINDS: dict[str, Kind] = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "StopFailure": "failure",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
    "PreToolUse": "pre-tool",
    "PostToolUse": "post-tool",
    "Notification": "idle",
}
# Claude Code cuts longer replies to a preview and stores them in a file.
REPLY_LIMIT = 9_999
_IDLE = "idle_prompt"
_SHELLS = frozenset({"Bash", "PowerShell"})
_FILES = frozenset({"Edit", "Write", "MultiEdit", "Read", "NotebookEdit"})


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if it holds nothing of interest."""
    kind = KINDS.get(event)
    session_id, cwd = payload.get("session_id"), payload.get("cwd")
    if kind is None or not isinstance(session_id, str) or not isinstance(cwd, str):
        return None
    if not cwd or "\0" in cwd:
        return None
    if kind == "idle" and payload.get("notification_type") != _IDLE:
        return None
    call, file = (_input(payload, tools) for tools in (_SHELLS, _FILES))
    return HookEvent(
        agent="claude",
        kind=kind,
        session_id=session_id,
        cwd=cwd,
        at=at,
        transcript_path=_text(payload.get("transcript_path")),
        prompt=_text(payload.get("prompt")),
        last_words=_text(payload.get("last_assistant_message")),
        source=_text(payload.get("source") or payload.get("reason")),
        command=_text(call.get("command")),
        timeout_seconds=_milliseconds(call.get("timeout")),
        tool=_text(payload.get("tool_name")),
        file=_text(file.get("file_path")),
        is_automatic=payload.get("trigger") == "auto",
    )


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model, and optionally a notice for the user."""
    reply: dict[str, Any] = {}
    if text:
        reply["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": str(text)}
    if notice:
        reply["systemMessage"] = str(notice)
    line = _line(reply) if reply else NO_REPLY
    if text and (excess := len(line) - REPLY_LIMIT) > 0:
        return context_reply(event, fence.cut(text, len(text) - excess), notice=notice)
    return line


def block_reply(reason: Rendered) -> Reply:
    """Build a reply that blocks a prompt, with the reason for the user."""
    return _line({"decision": "block", "reason": str(reason)})


def deny_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that denies a tool call, with the reason for the model."""
    decision = {"permissionDecision": "deny", "permissionDecisionReason": str(reason)}
    return _line({"hookSpecificOutput": {"hookEventName": event, **decision}})


def _input(payload: Mapping[str, Any], tools: frozenset[str]) -> Mapping[str, Any]:
    """Return the tool's input if it is one of these tools."""
    name, given = payload.get("tool_name"), payload.get("tool_input")
    return given if isinstance(name, str) and name in tools and isinstance(given, dict) else {}


def _line(reply: object) -> Reply:
    return Reply(msgspec.json.encode(reply).decode())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _milliseconds(value: object) -> float:
    return float(value) / 1000 if isinstance(value, int | float) else 0.0
