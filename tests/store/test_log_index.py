"""An index is compared with its source files, and a wrong one is found."""

import contextlib
import re
import sqlite3
from contextlib import closing

import pytest

from leftoff.store import Query, Store
from leftoff.store.database import Rows
from stores import draft, names_listed, view

LIES = {
    "another name": "UPDATE checkpoints SET name = 'other', slot = 'other' WHERE name = 'name-1'",
    "another state": "UPDATE checkpoints SET state = 'cleared' WHERE name = 'name-1'",
    "no head": "UPDATE checkpoints SET is_head = 0",
    "an event less": "DELETE FROM events WHERE seq = 1",
    "other words": "UPDATE words SET text = 'lies'",
}


@pytest.fixture
def filled(store: Store) -> Store:
    for number in range(5):
        store.save(draft(f"name-{number}"))
    store.record("cleared", [store.find("name-4").id])
    view(store)
    return store


def lie(store: Store, statement: str) -> None:
    with closing(sqlite3.connect(store.project.store / "index.sqlite")) as db:
        db.execute(statement)
        db.commit()


def test_a_correct_index_is_sound(filled: Store) -> None:
    assert filled.index().is_sound()


@pytest.mark.parametrize("how", LIES)
def test_an_index_that_lies_is_found_and_built_anew(filled: Store, how: str) -> None:
    before = view(filled)
    lie(filled, LIES[how])

    assert not filled.index().is_sound()
    filled.index().rebuild()

    assert filled.index().is_sound()
    assert view(filled) == before


EMPTYING = (
    "DELETE FROM checkpoints",
    "DELETE FROM checkpoints WHERE name = 'name-1'",
    "UPDATE tally SET checkpoints = 3",
    "DELETE FROM events",
)


@pytest.mark.parametrize("statement", EMPTYING)
def test_an_index_that_lacks_rows_is_detected_when_it_is_opened(
    filled: Store, statement: str
) -> None:
    before = view(filled)
    filled.close()
    lie(filled, statement)

    assert view(filled) == before


def test_that_there_is_nothing_is_never_taken_on_trust(filled: Store) -> None:
    """Even an index that agrees with itself may know nothing of files that are there."""
    listed = names_listed(filled)
    filled.close()
    lie(filled, "DELETE FROM checkpoints")
    lie(filled, "UPDATE tally SET checkpoints = 0")
    lie(filled, "UPDATE shards SET mtime = (SELECT mtime FROM shards)")

    assert names_listed(filled) == listed
    assert filled.find("name-2").name == "name-2"


LACKS = {
    "a checkpoint": "DELETE FROM checkpoints WHERE name = 'name-1'",
    "every checkpoint": "DELETE FROM checkpoints",
    "the newest event": "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)",
    "its counts": "DELETE FROM tally",
}


@pytest.mark.parametrize("what", LACKS)
def test_an_index_that_lacks_something_is_rebuilt_when_it_is_opened(
    filled: Store, what: str
) -> None:
    seen = view(filled)
    filled.close()
    lie(filled, LACKS[what])

    assert view(filled) == seen
    assert filled.index().is_sound()


def test_an_index_that_is_up_to_date_is_asked_without_reading_every_checkpoint(
    filled: Store,
) -> None:
    asked: list[str] = []
    db = filled.open_index()._db  # noqa: SLF001 - only this connection sees its queries
    db.set_trace_callback(asked.append)
    names_listed(filled)
    filled.find("name-2")
    filled.search(Query(words="word"))
    db.set_trace_callback(None)

    queries = {each for each in asked if each.lstrip().startswith("SELECT")}
    plans = {each: [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {each}")] for each in queries}
    scanned = {query: plan for query, plan in plans.items() if any(map(_GROWING_SCAN.match, plan))}
    assert any("unlogged" in query for query in queries)
    assert scanned == {}


# The index by_problem has only the unreadable checkpoints.
_GROWING_SCAN = re.compile(r"SCAN (checkpoints|events|targets)\b(?! USING INDEX by_problem)")


def test_what_is_half_written_when_a_transaction_fails_is_not_kept() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("CREATE TABLE notes (id INTEGER)")
        with contextlib.suppress(KeyError), Rows(db).transaction():
            db.execute("INSERT INTO notes VALUES (1)")
            raise KeyError

        assert db.execute("SELECT count(*) FROM notes").fetchone() == (0,)
