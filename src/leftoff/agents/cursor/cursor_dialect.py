"""Translate Cursor's hook payloads and replies, as its documentation and its SDK 1.0.32 have them.

No version of Cursor could be run, so this is the documented contract and not an observation.
"""

import os
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
# No limit is documented.
REPLY_LIMIT = 9_999
ADDS_AT_START = True
STARTS_AFTER_COMPACTION = False
# No such file is known.
find_lock = no_lock
find_pid = no_pid
_PLAIN = r"[A-Za-z0-9_-]+"


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if leftoff does not use it."""
    # Only some payloads have a session id, which is that of the conversation.
    session = payload.get("session_id") or payload.get("conversation_id")
    known = {**payload, "session_id": session, "cwd": _find_folder(payload)}
    read = read_payload("cursor", KINDS.get(event), known, at=at)
    if read is None:
        return None
    return msgspec.structs.replace(
        read,
        command=read_text(payload.get("command")),
        window=read_count(payload.get("context_window_size")),
    )


def find_transcript(root: Path, session_id: str) -> str:
    """Find the transcript of a conversation, which has a folder of its own in newer versions."""
    if not re.fullmatch(_PLAIN, session_id):
        return ""
    places = (root / "projects").glob("*/agent-transcripts")
    found = (
        path
        for place in places
        for path in (place / session_id / f"{session_id}.jsonl", place / f"{session_id}.jsonl")
    )
    return next((str(path) for path in found if path.is_file()), "")


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model; Cursor shows a notice only if it stops."""
    del event, notice
    return build_flat_reply("additional_context", text, limit=REPLY_LIMIT)


def block_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that blocks a prompt."""
    if event == "PreCompact":
        # Cursor would show the reason, and compact.
        return NO_REPLY
    return build_reply({"continue": False, "user_message": str(reason)})


def deny_reply(event: str, reason: Rendered) -> Reply:  # noqa: ARG001 - part of the contract
    """Build a reply that denies a command, with the reason for the user and the model."""
    words = str(reason)
    return build_reply({"permission": "deny", "user_message": words, "agent_message": words})


def _find_folder(payload: Mapping[str, Any]) -> str:
    """Return the first folder of the workspace, which CURSOR_PROJECT_DIR names for the letterbox.

    Hooks of the user run in the folder of their settings, and `cwd` is a command's own folder.
    """
    roots = payload.get("workspace_roots")
    named = roots[0] if isinstance(roots, list) and roots else payload.get("cwd")
    if not isinstance(named, str) or not named.startswith("/") or "\0" in named:
        return ""
    return os.path.realpath(named)
