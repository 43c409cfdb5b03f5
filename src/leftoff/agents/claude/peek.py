"""Find transcripts, and look into one for signs of work without reading it as a whole.

A session start does this while the user waits. Loading the reader and reading a few transcripts
would take longer than everything else in a session start.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from leftoff.agents.agent import HEAD_BYTES, FoundSession
from leftoff.agents.claude.requests import request_in
from leftoff.agents.loose_values import is_within, read_mtime

_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")
_CWD = re.compile(rb'"cwd":\s*("(?:[^"\\]|\\.)*")')

# Calls that are work by themselves. Quotes within a text are escaped, so this is always a call.
_WORK = re.compile(
    rb'"name":\s?"(?:Edit|Write|MultiEdit|NotebookEdit|TodoWrite|TaskCreate|ExitPlanMode)"'
)
# Requests are rare among the lines, and the first one is near the beginning.
_MOST_LINES = 200
# Shorter requests are greetings and quick questions.
_SHORTEST = 16


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


class Peek(msgspec.Struct, frozen=True):
    """What a quick look at a transcript shows."""

    has_work: bool
    """Whether work is evident; a session without may still hold some."""
    asked: str = ""
    """The first request that may be a task, as the user typed it."""


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct):
    content: str | list[_Block] = ""


class _Line(msgspec.Struct, rename="camel"):
    type: str = ""
    message: _Message | None = None
    is_meta: bool = False
    is_sidechain: bool = False


_decoder = msgspec.json.Decoder(_Line)


def peek(path: Path) -> Peek:
    """Look into a transcript; raises OSError if it cannot be read."""
    data = path.read_bytes()
    if _WORK.search(data) is None:
        return Peek(has_work=False)
    return Peek(has_work=True, asked=_find_request(data))


def _find_request(data: bytes) -> str:
    for line in data.split(b"\n", _MOST_LINES)[:_MOST_LINES]:
        if b'"user"' not in line:
            continue
        try:
            entry = _decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if entry.type != "user" or entry.message is None or entry.is_meta or entry.is_sidechain:
            continue
        content = entry.message.content
        texts = [content] if isinstance(content, str) else [each.text for each in content]
        asked = request_in("\n".join(filter(None, texts)))
        if len(asked) >= _SHORTEST and not asked.startswith("/"):
            return asked
    return ""
