"""Find the SQLite databases that a test leaves open.

Otherwise the garbage collector meets such a database in some later test, which then fails for a
reason of its own on Python 3.13.
"""

import contextlib
import sqlite3
import traceback
from pathlib import Path

_TESTS = Path(__file__).resolve().parent
_ROOTS = (f"{_TESTS}/", f"{_TESTS.parent / 'src'}/")
_WATCHERS = {__file__, f"{_TESTS / 'conftest.py'}"}

_opened: list[tuple[sqlite3.Connection, str]] = []


def note_opened(connection: object) -> None:
    """Remember a new connection, and the lines that opened it."""
    assert isinstance(connection, sqlite3.Connection)
    _opened.append((connection, _find_place()))


def _find_place() -> str:
    """Return the lines of this project that led here, innermost first."""
    found = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_stack(None))
    return " < ".join(
        f"{path.removeprefix(f'{_TESTS.parent}/')}:{line}"
        for path, line in found
        if path.startswith(_ROOTS) and path not in _WATCHERS
    )


def close_forgotten() -> list[str]:
    """Close the connections that are still open, and return where they were opened."""
    found = [(connection, place) for connection, place in _opened if _is_open(connection)]
    _opened.clear()
    for connection, _ in found:
        # Only the thread that opened a connection may close it.
        with contextlib.suppress(sqlite3.ProgrammingError):
            connection.close()
    return [place for _, place in found]


def _is_open(connection: sqlite3.Connection) -> bool:
    try:
        return connection.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False
