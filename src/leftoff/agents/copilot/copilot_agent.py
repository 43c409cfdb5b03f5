"""Read Copilot CLI sessions: `events.jsonl` in folders under `~/.copilot/session-state/`."""

import re
from pathlib import Path
from typing import Any

from leftoff.agents.agent import Layout, no_document
from leftoff.agents.copilot.copilot_sessions import find_sessions, is_running, sub_sessions
from leftoff.agents.copilot.event_log import CopilotReader

__all__ = [
    "find_sessions",
    "is_running",
    "new_reader",
    "read_document",
    "recognises",
    "sub_sessions",
]

_EVENT = re.compile(
    rb'^\{[^{]*"type"\s*:\s*"(?:session|assistant|tool|hook|user|system)\.\w+"', re.MULTILINE
)

read_document = no_document


def recognises(head: bytes, path: Path) -> Layout | None:  # noqa: ARG001
    """Recognize an event log by the names of its events."""
    return "lines" if b'"data"' in head and _EVENT.search(head) else None


def new_reader(state: dict[str, Any]) -> CopilotReader:
    """Create a reader for one event log."""
    return CopilotReader(state)
