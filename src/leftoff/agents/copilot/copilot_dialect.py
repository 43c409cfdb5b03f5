"""Translate Copilot CLI's hook payloads and replies, as observed in 1.0.102.

Its hooks accept Claude Code's event names, and then send Claude Code's field names.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.claude.claude_dialect import (
    build_flat_reply,
    build_reply,
    no_lock,
    read_input,
    read_payload,
    read_text,
)
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Kind, Reply
from leftoff.processes import is_alive
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
    "list_pids",
    "translate",
]

KINDS: dict[str, Kind] = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "pre-tool",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}
REPLY_LIMIT = 30_000
ADDS_AT_START = True
STARTS_AFTER_COMPACTION = False
find_lock = no_lock
_PLAIN = r"[A-Za-z0-9_-]+"
_SESSIONS = "session-state"
# Copilot reports its shell under the name of Claude Code's.
_SHELLS = frozenset({"Bash"})


def translate(event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
    """Convert a payload to an event; None if leftoff does not use it."""
    read = read_payload("copilot", KINDS.get(event), payload, at=at)
    if read is None:
        return None
    # Copilot runs hooks in the root of the repository, wherever the session works, and the
    # letterbox looks for the reply in the folder that it runs in.
    command = read_text(read_input(payload, _SHELLS).get("command"))
    return msgspec.structs.replace(
        read,
        cwd=str(_find_root(Path(read.cwd))),
        command=command,
        # Copilot notes each hook in its events, and calls this one by another name there.
        written_mark="agentStop" if read.kind == "stop" else "",
    )


def find_transcript(root: Path, session_id: str) -> str:
    """Find the events of a session by the folder that is named after it."""
    if not re.fullmatch(_PLAIN, session_id):
        return ""
    path = root / _SESSIONS / session_id / "events.jsonl"
    return str(path) if path.is_file() else ""


def find_pid(root: Path, session_id: str) -> int:
    """Return a running process that is in a session; 0 if none is named."""
    # A process that was killed leaves its file, and the session may have been resumed since.
    return next((pid for pid in list_pids(root, session_id) if is_alive(pid, 0.0)), 0)


def list_pids(root: Path, session_id: str) -> list[int]:
    """List the processes that are in a session.

    Each names itself in the name of a file, and removes the file unless it is killed.
    """
    if not re.fullmatch(_PLAIN, session_id):
        return []
    names = [path.name for path in (root / _SESSIONS / session_id).glob("inuse.*.lock")]
    return [int(pid) for name in names if (pid := name.split(".")[1]).isdecimal()]


def context_reply(event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
    """Build a reply that adds context for the model; Copilot shows no notice to the user."""
    del event, notice
    # Flat: Copilot ignores what other agents nest in `hookSpecificOutput`.
    return build_flat_reply("additionalContext", text, limit=REPLY_LIMIT)


def block_reply(event: str, reason: Rendered) -> Reply:
    """Build a reply that answers a prompt in place of the model."""
    if event == "PreCompact":
        # Copilot ignores the reply.
        return NO_REPLY
    # A handled prompt stays in the session; a denied one would be lost.
    return build_reply({"handled": True, "responseContent": str(reason)})


def deny_reply(event: str, reason: Rendered) -> Reply:  # noqa: ARG001 - part of the contract
    """Build a reply that denies a tool call, with the reason for the model."""
    return build_reply({"permissionDecision": "deny", "permissionDecisionReason": str(reason)})


def _find_root(folder: Path) -> Path:
    around = (folder, *folder.parents) if folder.is_absolute() else ()
    return next((each for each in around if (each / ".git").exists()), folder)
