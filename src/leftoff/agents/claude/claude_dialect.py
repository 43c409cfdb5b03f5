"""Translate Claude Code's hook payloads and replies, as observed in 2.1.197 and 2.1.325.

Other agents adopted its format with small differences, so their dialects use the functions at the
end.
"""

from collections.abc import Mapping
from pathlib import Path
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
ADDS_AT_START = True
STARTS_AFTER_COMPACTION = True
_IDLE = "idle_prompt"
_SHELLS = frozenset({"Bash", "PowerShell"})
_FILES = frozenset({"Edit", "Write", "MultiEdit", "Read", "NotebookEdit"})
_MOST = 2**31


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if leftoff does not use it."""
    read = read_payload("claude", KINDS.get(event), payload, at=at)
    if read is None or (read.kind == "idle" and payload.get("notification_type") != _IDLE):
        return None
    if _is_of_another_agent(read):
        return None
    call, file = (read_input(payload, tools) for tools in (_SHELLS, _FILES))
    if not (call or file):
        return read
    return msgspec.structs.replace(
        read,
        command=read_text(call.get("command")),
        timeout_seconds=_milliseconds(call.get("timeout")),
        file=read_text(file.get("file_path")),
    )


def _is_of_another_agent(event: HookEvent) -> bool:
    """Return whether the event comes from another agent that runs the hooks of Claude Code.

    Codex imports them, and a plugin of opencode runs them. The letterbox recognizes the agents that
    set a variable, which these two do not.
    """
    is_rollout = event.transcript_path.rpartition("/")[2].startswith("rollout-")
    return is_rollout or event.session_id.startswith("ses_")


def find_transcript(root: Path, session_id: str) -> str:
    """Find the transcript of a session by its name."""
    if not is_plain(session_id):
        return ""
    found = (root / "projects").glob(f"*/{session_id}.jsonl")
    return next((str(path) for path in found if path.is_file()), "")


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model, and optionally a notice for the user."""
    return build_context_reply(event, text, notice=notice, limit=REPLY_LIMIT)


def block_reply(event: str, reason: Rendered) -> Reply:  # noqa: ARG001 - the same for all events
    """Build a reply that blocks a prompt or a compaction, with the reason for the user."""
    return build_reply({"decision": "block", "reason": str(reason)})


def deny_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that denies a tool call, with the reason for the model."""
    decision = {"permissionDecision": "deny", "permissionDecisionReason": str(reason)}
    return build_reply({"hookSpecificOutput": {"hookEventName": event, **decision}})


def _milliseconds(value: object) -> float:
    return float(value) / 1000 if isinstance(value, int | float) else 0.0


# --- what other agents have in common with Claude Code ---


def read_payload(
    agent: str, kind: Kind | None, payload: Mapping[str, Any], *, at: float
) -> HookEvent | None:
    """Convert the fields that agents have in common; None if the session or folder is missing."""
    session_id, cwd = payload.get("session_id"), payload.get("cwd")
    if kind is None or not isinstance(session_id, str) or not isinstance(cwd, str):
        return None
    # A relative folder means nothing to the process that reads the event elsewhere.
    if not cwd.startswith("/") or "\0" in cwd:
        return None
    return HookEvent(
        agent=agent,
        kind=kind,
        session_id=session_id,
        cwd=cwd,
        at=at,
        transcript_path=read_text(payload.get("transcript_path")),
        prompt=read_text(payload.get("prompt")),
        last_words=read_text(payload.get("last_assistant_message")),
        error=_read_error(payload) if kind == "failure" else "",
        source=read_text(payload.get("source") or payload.get("reason")),
        tool=read_text(payload.get("tool_name")),
        is_automatic=payload.get("trigger") == "auto",
    )


def _read_error(payload: Mapping[str, Any]) -> str:
    """Return the kind of an error and all words about it, one per line."""
    keys = ("error", "error_details", "last_assistant_message")
    return "\n".join(filter(None, (read_text(payload.get(key)) for key in keys)))


def read_input(payload: Mapping[str, Any], tools: frozenset[str]) -> Mapping[str, Any]:
    """Return the tool's input if it is one of these tools."""
    name, given = payload.get("tool_name"), payload.get("tool_input")
    return given if isinstance(name, str) and name in tools and isinstance(given, dict) else {}


def is_plain(session_id: str) -> bool:
    """Return whether a session id can be part of a file's name."""
    # Session start loads all dialects, and compiling an expression takes longer than that.
    return session_id.isascii() and session_id.replace("-", "").replace("_", "").isalnum()


def read_text(value: object) -> str:
    """Return a value that is text; empty for any other."""
    return value if isinstance(value, str) else ""


def read_count(value: object) -> int:
    """Return a value that is a plausible number of things; 0 for any other."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST:
        return value
    return 0


def build_context_reply(
    event: str, text: Rendered, *, notice: Rendered | None, limit: int
) -> Reply:
    """Build a reply that adds context, cut so that the whole line keeps within a limit."""
    reply: dict[str, Any] = {}
    if text:
        reply["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": str(text)}
    if notice:
        reply["systemMessage"] = str(notice)
    line = build_reply(reply) if reply else NO_REPLY
    if text and len(line) > limit:
        shorter = shorten(text, line, limit)
        return build_context_reply(event, shorter, notice=notice, limit=limit)
    return line


def build_flat_reply(
    key: str, text: Rendered, *, limit: int, notice: Rendered | None = None
) -> Reply:
    """Build a reply with the context under one key, cut so that the line keeps within a limit."""
    reply = {key: str(text)} if text else {}
    if notice:
        reply["notice"] = str(notice)
    line = build_reply(reply) if reply else NO_REPLY
    if text and len(line) > limit:
        return build_flat_reply(key, shorten(text, line, limit), limit=limit, notice=notice)
    return line


def shorten(text: Rendered, line: str, limit: int) -> Rendered:
    """Cut a text by as much as the line that holds it is too long."""
    # A share of it, because a line break takes two characters of the line.
    return fence.cut(text, len(text) * limit // len(line))


def build_reply(reply: object) -> Reply:
    """Encode a reply as one line."""
    return Reply(msgspec.json.encode(reply).decode())


def no_lock(root: Path, session_id: str) -> str:  # noqa: ARG001 - part of the contract
    """Serve as `find_lock` for agents that lock no file while a session runs."""
    return ""


def no_pid(root: Path, session_id: str) -> int:  # noqa: ARG001 - part of the contract
    """Serve as `find_pid` for agents whose files do not name the process of a session."""
    return 0


# The environment of its hooks names Claude Code's process.
find_lock = no_lock
find_pid = no_pid
