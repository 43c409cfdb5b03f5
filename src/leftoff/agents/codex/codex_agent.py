"""Read Codex CLI sessions: rollout files of lines, versions 0.134 to 0.166."""

import re
from pathlib import Path
from typing import Any

from leftoff.agents.agent import Layout, no_document
from leftoff.agents.codex.codex_sessions import find_sessions, is_running, sub_sessions
from leftoff.agents.codex.rollout import CodexReader

__all__ = [
    "find_sessions",
    "is_running",
    "new_reader",
    "read_document",
    "recognises",
    "sub_sessions",
]

_LINE = re.compile(
    rb'^\{[^{]*"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context)"', re.MULTILINE
)

read_document = no_document


def recognises(head: bytes, path: Path) -> Layout | None:  # noqa: ARG001
    """Recognize a rollout by the names of its lines."""
    return "lines" if b'"payload"' in head and _LINE.search(head) else None


def new_reader(state: dict[str, Any]) -> CodexReader:
    """Create a reader for one rollout."""
    return CodexReader(state)
