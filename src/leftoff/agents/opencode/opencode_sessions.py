"""Find opencode's sessions in its database."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from leftoff.agents.agent import FoundSession, no_sign_of_life, no_sub_sessions
from leftoff.agents.loose_values import count, is_within, text

DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""SQLite's message about a damaged file can quote bytes that are not text."""
_WAIT_SECONDS = 2.0

is_running = no_sign_of_life
sub_sessions = no_sub_sessions


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the sessions about a folder, without those of sub-agents, newest first."""
    for path in sorted(root.glob("opencode*.db")):
        for session_id, directory, touched_at in _list_sessions(path):
            if touched_at >= since and is_within(directory, folder):
                yield FoundSession(path=path, session_id=session_id, touched_at=touched_at)


def _list_sessions(path: Path) -> list[tuple[str, str, float]]:
    """List id, directory and last change of every main session, newest first."""
    try:
        with closing(open_database(path)) as database:
            rows = database.execute(
                "SELECT id, directory, time_updated FROM session WHERE parent_id IS NULL"
                " ORDER BY time_updated DESC"
            ).fetchall()
    except DAMAGED:
        return []
    return [(text(row[0]), text(row[1]), count(row[2]) / 1000) for row in rows]


def open_database(path: Path) -> sqlite3.Connection:
    """Open opencode's database for reading only.

    Without a write-ahead log the file is complete, and `immutable` keeps SQLite from creating a
    log. With one, opencode may be writing, and SQLite must respect its locks.
    """
    log = path.with_name(path.name + "-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    address = f"file:{quote(str(path.absolute()))}?{mode}"
    database = sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS)
    database.row_factory = sqlite3.Row
    # A byte that is not UTF-8 must not make its row unreadable.
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    return database
