"""Repair events that are incomplete because the hook was killed or the disk was full.

The transcript holds what the event would have said, so the session is all that is needed: from the
name of the file, or from the part that was written.
"""

import re
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.context import Environment
from leftoff.hooks.spool import Letter

_FIELDS = ("session_id", "transcript_path", "cwd")
_HEAD_BYTES = 64 * 1024


def repair_event(letter: Letter, environment: Environment) -> HookEvent | None:
    """Return what can be restored of the event; None if its session is unknown."""
    dialect = DIALECTS.get(letter.agent)
    if dialect is None:
        return None
    fields = _find_fields(_read_head(letter.path))
    session = fields.get("session_id") or letter.session
    root = environment.find_agent_folder(letter.agent)
    transcript = fields.get("transcript_path") or dialect.find_transcript(root, session)
    cwd = fields.get("cwd") or (
        _find_fields(_read_head(Path(transcript))).get("cwd") if transcript else None
    )
    if not session or not cwd:
        return None
    payload = {"session_id": session, "transcript_path": transcript, "cwd": cwd}
    return dialect.translate(letter.event, payload, at=letter.at)


def _find_fields(data: bytes) -> dict[str, str]:
    """Find the first value of each needed field, in JSON that may end anywhere."""
    found = {}
    for name in _FIELDS:
        match = re.search(rb'"%s"\s*:\s*("(?:[^"\\]|\\.)*")' % name.encode(), data)
        value = _decode_string(match[1]) if match else None
        # No path can hold a NUL.
        if value and "\0" not in value:
            found[name] = value
    return found


def _decode_string(data: bytes) -> str | None:
    try:
        value: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value if isinstance(value, str) else None


def _read_head(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return b""
