"""Read opencode sessions: one SQLite database, or the JSON that `opencode export` writes."""

import re
from collections.abc import Iterable
from pathlib import Path

from leftoff.agents.agent import Layout, no_reader
from leftoff.agents.loose_values import listing, mapping, read_json
from leftoff.agents.opencode import session_database
from leftoff.agents.opencode.messages import Session, read_session
from leftoff.agents.opencode.opencode_sessions import find_sessions, is_running, sub_sessions
from leftoff.agents.stream import SessionEvent

__all__ = [
    "find_sessions",
    "is_running",
    "new_reader",
    "read_document",
    "recognises",
    "sub_sessions",
]

_SQLITE = b"SQLite format 3\0"
# An export may have no ids, and its head may be too long to reach the first message.
_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{')
_SESSION_MARKS = (b'"ses_', b'"projectID"', b'"directory"')
_MESSAGES = re.compile(rb'"messages"\s*:\s*\[\s*\{\s*"(?:info|parts)"')
_MESSAGE = re.compile(r'\{\s*"(?:info|parts)"\s*:')

new_reader = no_reader


def recognises(head: bytes, path: Path) -> Layout | None:
    """Recognize the database by its tables or name, and an export by its shape."""
    if head.startswith(_SQLITE):
        is_ours = path.name.startswith("opencode") or b"`part`" in head
        return "document" if is_ours else None
    if _EXPORT.match(head) and any(mark in head for mark in _SESSION_MARKS):
        return "document"
    is_export = head.lstrip().startswith(b"{") and _MESSAGES.search(head)
    return "document" if is_export else None


def read_document(path: Path, session_id: str) -> Iterable[SessionEvent]:
    """Read one session of the database, or the exported one."""
    with path.open("rb") as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    if is_database:
        return session_database.read(path, session_id)
    return read_session(_read_export(path), lambda _: None)


def _read_export(path: Path) -> Session:
    found = read_json(path.read_bytes(), _MESSAGE)
    if isinstance(found, list):
        return Session(info={}, messages=found)
    messages = [mapping(message) for message in listing(found.get("messages"))]
    return Session(info=mapping(found.get("info")), messages=messages)
