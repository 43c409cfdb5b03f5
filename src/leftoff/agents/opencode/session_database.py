"""Read opencode's database without changing any file beside it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from leftoff.agents.loose_values import decode_mapping, text
from leftoff.agents.opencode.messages import Session, read_session
from leftoff.agents.opencode.opencode_sessions import DAMAGED, open_database
from leftoff.agents.stream import SessionEvent, TodoList
from leftoff.agents.tool_calls import todo_items
from leftoff.errors import SessionUnreadable


def read(path: Path, session_id: str) -> list[SessionEvent]:
    """Read a session and its sub-agents' work; without an id, the newest session."""
    try:
        with closing(open_database(path)) as database:
            session_id = session_id or _newest(database)
            events = read_session(
                _session(database, session_id), lambda child: _session(database, child)
            )
            return [*events, *_todos(database, session_id)]
    except DAMAGED as error:
        raise SessionUnreadable(
            f"{path} cannot be read as an opencode database: {error}",
            hint="Try again when opencode is idle, or run `opencode export` and read that file.",
        ) from error


def _newest(database: sqlite3.Connection) -> str:
    row = database.execute(
        "SELECT id FROM session ORDER BY parent_id IS NOT NULL, time_updated DESC LIMIT 1"
    ).fetchone()
    return text(row[0]) if row else ""


def _session(database: sqlite3.Connection, session_id: str) -> Session:
    row = database.execute("SELECT * FROM session WHERE id = ?", (session_id,)).fetchone()
    info: dict[str, Any] = dict(row) if row else {"id": session_id}
    parts: dict[str, list[dict[str, Any]]] = {}
    for message_id, data in _entries(database, "part", "message_id", session_id):
        parts.setdefault(message_id, []).append(data)
    messages: list[dict[str, Any]] = [
        {"info": {"id": message_id, **data}, "parts": parts.get(message_id, [])}
        for message_id, data in _entries(database, "message", "id", session_id)
    ]
    return Session(info={**info, "revert": decode_mapping(info.get("revert"))}, messages=messages)


def _entries(
    database: sqlite3.Connection, table: str, key: str, session_id: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    query = f"SELECT {key}, data FROM {table} WHERE session_id = ? ORDER BY id"  # noqa: S608
    for row in database.execute(query, (session_id,)):
        yield text(row[0]), decode_mapping(row[1])


def _todos(database: sqlite3.Connection, session_id: str) -> list[SessionEvent]:
    try:
        rows = database.execute(
            "SELECT content, status FROM todo WHERE session_id = ? ORDER BY position",
            (session_id,),
        ).fetchall()
    except sqlite3.OperationalError:
        return []
    return [TodoList(items=todo_items([dict(row) for row in rows], "content"))] if rows else []
