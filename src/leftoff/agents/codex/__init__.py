"""Read Codex CLI sessions: rollout files of lines, versions 0.134 to 0.166."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leftoff.agents.agent import FoundSession, Layout, no_document
from leftoff.agents.codex.rollout import CodexReader
from leftoff.agents.loose_values import first_line, is_within, mapping, read_mtime, text

_META_BYTES = 1 << 20
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


def find_sessions(root: Path, folder: Path) -> Iterable[FoundSession]:
    """List the rollouts about a folder, newest first, without those of sub-agents."""
    files = [
        *root.glob("sessions/*/*/*/rollout-*.jsonl"),
        *root.glob("archived_sessions/rollout-*.jsonl"),
    ]
    for path in sorted(files, key=lambda file: file.name, reverse=True):
        meta = mapping(first_line(path, _META_BYTES).get("payload"))
        if is_within(text(meta.get("cwd")), folder) and not isinstance(meta.get("source"), dict):
            yield FoundSession(
                path=path, session_id=text(meta.get("id")), touched_at=read_mtime(path)
            )
