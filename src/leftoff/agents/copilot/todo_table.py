"""Rebuild Copilot's todos: a table changed by SQL or, in older versions, a checklist.

The session's database is not in the event log, so its statements are replayed in memory on a table
of the same shape.
"""

import re
import sqlite3
from contextlib import closing
from typing import Any

import msgspec

from leftoff.agents.loose_values import cut, text
from leftoff.agents.stream import TodoItem
from leftoff.agents.tool_calls import todo_items

_TABLE = """
CREATE TABLE todos (
    id TEXT PRIMARY KEY, title TEXT, description TEXT, status TEXT DEFAULT 'pending',
    created_at TEXT, updated_at TEXT
);
CREATE TABLE todo_deps (todo_id TEXT, depends_on TEXT);
"""
_COLUMNS = ("id", "title", "status")
_ALLOWED = frozenset(
    (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_TRANSACTION,
    )
)
_STEPS = 100_000
_MOST = 200
_LONGEST = 500
_BOX = re.compile(r"^\s*(?:[-*]|\d+\.)\s*\[(.)\]\s*(.+?)\s*$", re.MULTILINE)
_BOXES = {" ": "pending", "x": "completed", "X": "completed"}


class Replayed(msgspec.Struct, frozen=True):
    """The todo table after a statement."""

    rows: list[list[str]]

    @property
    def items(self) -> tuple[TodoItem, ...]:
        """The rows as todos."""
        return todo_items([dict(zip(_COLUMNS, row, strict=False)) for row in self.rows], "title")


def replay(rows: list[Any], statements: str) -> Replayed | None:
    """Apply the agent's statements to the known todos; None if they cannot be applied."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as table:
        try:
            return Replayed(_replay(table, rows, statements))
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            return None


def checklist(markdown: str) -> tuple[TodoItem, ...]:
    """Parse todos written as checkboxes; a mark other than x means in progress."""
    entries = [
        {"title": words, "status": _BOXES.get(mark, "in_progress")}
        for mark, words in _BOX.findall(markdown)
    ]
    return todo_items(entries, "title")


def _replay(table: sqlite3.Connection, rows: list[Any], statements: str) -> list[list[str]]:
    table.executescript(_TABLE)
    table.executemany("INSERT INTO todos (id, title, status) VALUES (?, ?, ?)", rows)
    # The SQL comes from a model: it may change only these two tables, and only for a short time.
    table.set_authorizer(_authorise)
    table.set_progress_handler(lambda: 1, _STEPS)
    for statement in _split(statements):
        table.execute(statement)
    table.set_authorizer(None)
    found = table.execute("SELECT id, title, status FROM todos ORDER BY rowid LIMIT ?", (_MOST,))
    return [[cut(text(value), _LONGEST) for value in row] for row in found]


def _authorise(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _split(statements: str) -> list[str]:
    found, held = [], ""
    for piece in statements.split(";"):
        held += piece + ";"
        if sqlite3.complete_statement(held):
            found.append(held)
            held = ""
    return [*found, held.rstrip(";")] if held.strip("; \n") else found
