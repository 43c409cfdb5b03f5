"""Read Copilot CLI sessions: `events.jsonl` in folders under `~/.copilot/session-state/`."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leftoff.agents.agent import FoundSession, Layout, no_document
from leftoff.agents.copilot.event_log import CopilotReader
from leftoff.agents.loose_values import first_line, is_within, mapping, read_mtime, text

_START_BYTES = 1 << 18

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


def find_sessions(root: Path, folder: Path) -> Iterable[FoundSession]:
    """List the event logs of sessions in a folder."""
    logs = root / "session-state"
    for path in (*logs.glob("*/events.jsonl"), *logs.glob("*.jsonl")):
        start = mapping(first_line(path, _START_BYTES).get("data"))
        context = mapping(start.get("context"))
        if is_within(text(context.get("cwd")), folder):
            yield FoundSession(
                path=path, session_id=text(start.get("sessionId")), touched_at=read_mtime(path)
            )
