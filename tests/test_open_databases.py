"""A test that leaves a database open fails, and not a later one."""

import sqlite3

import pytest

from open_databases import close_forgotten


def test_a_database_left_open_is_found_with_its_place_and_closed() -> None:
    forgotten = sqlite3.connect(":memory:")

    (place,) = close_forgotten()

    assert place.startswith("tests/test_open_databases.py:")
    assert close_forgotten() == []
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        forgotten.execute("SELECT 1")


def test_a_closed_database_is_not_reported() -> None:
    sqlite3.connect(":memory:").close()

    assert close_forgotten() == []
