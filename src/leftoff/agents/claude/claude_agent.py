"""Read Claude Code sessions: lines under `~/.claude/projects/<folder>/`."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.agent import HEAD_BYTES, FoundSession, Layout, LineReader, no_document
from leftoff.agents.claude.transcript import ClaudeReader
from leftoff.agents.loose_values import is_within, read_mtime

read_document = no_document

_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")
# With quotes and colons, so that a session that only mentions these names does not match.
_CWD = re.compile(rb'"cwd":\s*("(?:[^"\\]|\\.)*")')
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


def find_sessions(root: Path, folder: Path) -> Iterable[FoundSession]:
    """List the transcripts of sessions started in a folder or below it."""
    key = _NOT_ALPHANUMERIC.sub("-", str(folder))
    for path in _transcripts(root / "projects", key):
        # Other folders can begin with the same letters; only the transcript shows its folder.
        if path.parent.name == key or is_within(_cwd(path), folder):
            yield FoundSession(path=path, session_id=path.stem, touched_at=read_mtime(path))


def _transcripts(projects: Path, key: str) -> list[Path]:
    """List the transcripts in all folders whose names start with a key.

    Unlike a glob, this raises an error for a folder that cannot be listed.
    """
    folders = [projects / name for name in _names(projects) if name.startswith(key)]
    names = [(folder, name) for folder in folders for name in _names(folder)]
    return sorted(folder / name for folder, name in names if name.endswith(".jsonl"))


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - creating paths takes ten times as long
    except (FileNotFoundError, NotADirectoryError):
        return []


def _cwd(path: Path) -> str:
    # Opening a named pipe that was planted here would block forever.
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            found = _CWD.search(file.read(HEAD_BYTES))
        return str(msgspec.json.decode(found[1])) if found else ""
    except (OSError, ValueError):
        return ""


def sub_sessions(path: Path) -> Iterable[Path]:
    """List the transcripts of a session's sub-agents."""
    return (path.with_suffix("") / "subagents").glob("agent-*.jsonl")
