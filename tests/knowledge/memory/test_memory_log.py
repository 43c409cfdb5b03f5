"""Adding to the memory needs no index, and still recognizes what is known."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft
from leftoff.knowledge.memory.memory_log import MemoryIndex, about
from leftoff.store import Store


def index_of(store: Store) -> Path:
    return store.project.store / "memory.sqlite"


@pytest.fixture
def filled(store: Store) -> Store:
    for number in range(20):
        memory.add(store, [EntryDraft(kind="rule", text=f"Rule {number}")])
    entries = memory.entries(store)
    memory.change(store, entries[0].id, text="Reworded")
    memory.change(store, entries[1].id, status="rejected")
    index_of(store).unlink()
    return store


def test_adding_makes_no_index(filled: Store) -> None:
    memory.add(filled, [EntryDraft(kind="rule", text="Something new")])

    assert not index_of(filled).exists()
    assert len(memory.entries(filled)) == 20


@pytest.mark.parametrize("known", ["Rule 3", "Rule 18", "Rule 19", "Reworded"])
def test_what_is_known_is_known_without_an_index(filled: Store, known: str) -> None:
    assert memory.add(filled, [EntryDraft(kind="rule", text=known)]) == []
    assert not index_of(filled).exists()


def test_lines_about_some_entries_show_the_same_as_all_lines(filled: Store) -> None:
    log = filled.project.store / "memory.jsonl"
    ids = [memory.id_of("rule", text) for text in ("Rule 3", "Rule 18", "Rule 19", "Reworded")]

    overlay = about([log], ids)

    assert [overlay.get(each) for each in ids[:3]] == [
        memory.find(filled, each) for each in ids[:3]
    ]
    assert overlay.get(ids[3]) == memory.find(filled, ids[2])


LACKS = {
    "the newest entries": "DELETE FROM entries WHERE seq > 5",
    "the first entry": "DELETE FROM entries WHERE seq = 1",
    "an entry in between": "DELETE FROM entries WHERE seq = 7",
    "every entry": "DELETE FROM entries",
    "its count": "DELETE FROM tally",
}


@pytest.mark.parametrize("what", LACKS)
def test_an_index_that_lacks_entries_is_detected_when_it_is_opened(
    filled: Store, what: str
) -> None:
    before = memory.entries(filled)
    with closing(sqlite3.connect(index_of(filled))) as db:
        db.execute(LACKS[what])
        db.commit()

    assert memory.entries(filled) == before


def test_the_check_at_opening_does_not_count_every_entry(filled: Store) -> None:
    memory.entries(filled)
    with closing(sqlite3.connect(index_of(filled))) as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {MemoryIndex.tables.check}")]

    assert any("SEARCH entries" in step for step in plan)
    assert not [step for step in plan if step.startswith("SCAN entries")]
