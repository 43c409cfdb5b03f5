"""Read Claude Code sessions: lines under `~/.claude/projects/<folder>/`."""

from pathlib import Path
from typing import Any

from leftoff.agents.agent import Layout, LineReader, no_document
from leftoff.agents.claude.claude_sessions import find_sessions, is_running, sub_sessions
from leftoff.agents.claude.transcript import ClaudeReader

__all__ = [
    "find_sessions",
    "is_running",
    "new_reader",
    "read_document",
    "recognises",
    "sub_sessions",
]

read_document = no_document

# With quotes and colons, so that a session that only mentions these names does not match.
_CLAUDE_ONLY = (
    b'"parentUuid":',
    b'"leafUuid":',
    b'"type":"queue-operation"',
    b'"type":"file-history-snapshot"',
    b'"type":"permission-mode"',
    b'"type":"last-prompt"',
)


def recognises(head: bytes, path: Path) -> Layout | None:
    """Recognize a transcript of Claude Code."""
    if any(mark in head for mark in _CLAUDE_ONLY):
        return "lines"
    is_claude = b'"sessionId":' in head and b'"type":' in head and ".claude" in path.parts
    return "lines" if is_claude else None


def new_reader(state: dict[str, Any]) -> LineReader:
    """Create a reader for a transcript."""
    return ClaudeReader(state)
