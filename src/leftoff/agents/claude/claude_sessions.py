"""Find Claude Code's transcripts, below `~/.claude/projects/<folder>/`."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.agent import HEAD_BYTES, FoundSession
from leftoff.agents.loose_values import count, decode_mapping, is_within, read_mtime, text
from leftoff.processes import is_alive

_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")
# Compiled on first use: most transcripts are in a folder that only this project has.
_CWD = rb'"cwd":\s*("(?:[^"\\]|\\.)*")'

_PROCESSES = "sessions"


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the transcripts of sessions started in a folder or below it."""
    key = _NOT_ALPHANUMERIC.sub("-", str(folder))
    for path in _transcripts(root / "projects", key):
        touched_at = read_mtime(path)
        # Other folders can begin with the same letters; only the transcript shows its folder.
        if touched_at >= since and (path.parent.name == key or is_within(_cwd(path), folder)):
            yield FoundSession(path=path, session_id=path.stem, touched_at=touched_at)


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
            found = re.search(_CWD, file.read(HEAD_BYTES))
        return str(msgspec.json.decode(found[1])) if found else ""
    except (OSError, ValueError):
        return ""


def sub_sessions(path: Path) -> Iterable[Path]:
    """List the transcripts of a session's sub-agents."""
    return (path.with_suffix("") / "subagents").glob("agent-*.jsonl")


def is_running(root: Path, session_id: str) -> bool | None:
    """Return whether a process that is in the session still runs; None if none is named.

    Each process of Claude Code names its session in a file, and removes the file unless it is
    killed.
    """
    files = map(_read_process, (root / _PROCESSES).glob("*.json"))
    found = [each for each in files if text(each.get("sessionId")) == session_id]
    here = _name_domain() if found else ""
    # In a home that containers or machines share, the number of a process says nothing here.
    if not found or any(text(each.get("pidDomain")) != here for each in found):
        return None
    return any(is_alive(count(each.get("pid")), _began(each)) for each in found)


def _read_process(path: Path) -> dict[str, Any]:
    try:
        return decode_mapping(path.read_text(encoding="utf-8") if path.is_file() else "")
    except (OSError, ValueError):
        return {}


def _name_domain() -> str:
    """Return how Claude Code names the processes that can see each other; "" if unknown."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
        return f"linux:{machine}:{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no path
    except (OSError, ValueError):
        return ""


def _began(process: dict[str, Any]) -> float:
    began = text(process.get("procStart"))
    return float(began) if began.isdecimal() else 0.0
