"""An index file always has what it needs to be complete."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from leftoff.store import disk
from leftoff.store.database import Database, IndexAway

SCHEMA = "CREATE TABLE things (name TEXT);"


_OPENED: list[Database] = []


@pytest.fixture(autouse=True)
def _close_all() -> Iterator[None]:
    """Close every database: newer Pythons warn of those left open."""
    yield
    while _OPENED:
        _OPENED.pop().db.close()


def opened(path: Path, *, is_only_asked: bool = False) -> Database:
    made = Database(path, SCHEMA, 7, is_whole=lambda _: True, is_only_asked=is_only_asked)
    _OPENED.append(made)
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


def test_a_file_that_is_there_is_written_anew_where_it_is(path: Path) -> None:
    first = opened(path)
    first.db.execute("INSERT INTO things VALUES ('one')")
    inode = path.stat().st_ino

    second = opened(path)
    second.recreate()

    assert path.stat().st_ino == inode
    assert second.db.execute("SELECT * FROM things").fetchall() == []
    # Who had it open before sees what it is now.
    assert first.db.execute("SELECT * FROM things").fetchall() == []


def test_what_was_cached_of_the_file_before_is_never_taken_for_it(path: Path) -> None:
    """The count of changes may come out as it was; it begins elsewhere each time."""
    first = opened(path)
    first.db.execute("INSERT INTO things VALUES ('old')")
    assert first.db.execute("SELECT name FROM things").fetchall() == [("old",)]

    second = opened(path)
    second.recreate()
    second.db.execute("INSERT INTO things VALUES ('new')")

    assert first.db.execute("SELECT name FROM things").fetchall() == [("new",)]


@pytest.mark.parametrize("at", range(1, 8))
def test_the_journal_stays_until_the_file_is_empty(
    path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Whatever fails while it is written anew: never the old file without its journal."""
    opened(path).db.close()
    journal = path.with_name("index.sqlite-journal")
    journal.write_bytes(b"all that can repair it")
    before = path.read_bytes()
    calls = 0

    def failing(name: str) -> None:
        real = getattr(os, name)

        def call(*given: object, **more: object) -> object:
            nonlocal calls
            calls += 1
            if calls == at:
                raise OSError(5, "Input/output error")
            return real(*given, **more)

        monkeypatch.setattr(os, name, call)

    for name in ("ftruncate", "unlink", "write", "lseek", "fsync"):
        failing(name)
    with pytest.raises(OSError, match="Input/output"):
        disk.rewrite(path, before, once_empty=journal.unlink)
    monkeypatch.undo()

    data = path.read_bytes()
    assert (data == before and journal.exists()) or not data.startswith(b"SQLite format 3\0")
    again = opened(path)
    assert again.db.execute("SELECT * FROM things").fetchall() == []


def test_one_that_is_only_asked_is_neither_made_nor_renewed(path: Path) -> None:
    with pytest.raises(IndexAway):
        opened(path, is_only_asked=True)
    assert not path.exists()
    opened(path).db.close()

    asked = opened(path, is_only_asked=True)
    path.unlink()

    with pytest.raises(IndexAway):
        asked.safely(lambda: asked.db.execute("SELECT * FROM things"), sync=lambda: None)
    assert not path.exists()


def test_where_there_is_no_room_the_file_is_read_anyway(path: Path) -> None:
    database = opened(path)
    database.db.execute("INSERT INTO things VALUES ('one')")
    fails = iter([True, False])

    def work() -> list[tuple[str]]:
        if next(fails):
            raise sqlite3.OperationalError("database or disk is full")
        return database.db.execute("SELECT name FROM things").fetchall()

    assert database.safely(work, sync=lambda: None) == [("one",)]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM things").fetchone() == (1,)


@pytest.mark.parametrize("when", ["before the question", "during it"])
def test_an_index_that_was_written_anew_is_brought_up_to_date_before_it_answers(
    path: Path, when: str
) -> None:
    first = opened(path)
    first.db.execute("INSERT INTO things VALUES ('one')")
    others = [opened(path)]

    def ask() -> list[str]:
        if when == "during it" and others:
            others.pop().recreate()
        return [name for (name,) in first.db.execute("SELECT name FROM things")]

    def take_in_anew() -> None:
        first.db.execute("INSERT INTO things VALUES ('one')")

    if when == "before the question":
        others.pop().recreate()

    assert first.safely(ask, sync=take_in_anew) == ["one"]
