"""Doctor compares the indexes with the files, and rebuilds those that differ."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.knowledge import memory
from leftoff.store import Store
from leftoff.wiring.findings import DoctorFinding, World
from leftoff.wiring.inspect_project import check_index
from leftoff.wiring.install_places import Places
from stores import draft, fresh_view


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(find_project(Repo(tmp_path / "repo").folder))
    for number in range(3):
        store.save(draft(f"name-{number}"))
    store.index()
    memory.add(store, [memory.EntryDraft(kind="rule", text="Run ruff")])
    memory.entries(store)
    yield store
    store.close()


def look(store: Store, places: Places) -> list[DoctorFinding]:
    return list(check_index(World(places=places, project=store.project)))


def lie(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def test_correct_indexes_are_sound(store: Store, places: Places) -> None:
    assert [finding.level for finding in look(store, places)] == ["ok", "ok"]


def test_a_wrong_index_is_reported_and_rebuilt(store: Store, places: Places) -> None:
    before = fresh_view(store.project)
    lie(store.project.store / "index.sqlite", "UPDATE checkpoints SET state = 'cleared'")

    index, remembered = look(store, places)

    assert (index.level, remembered.level) == ("warning", "ok")
    assert "it was rebuilt" in index.what
    assert fresh_view(store.project) == before
    assert [finding.level for finding in look(store, places)] == ["ok", "ok"]


def test_a_wrong_index_of_the_memory_is_reported_and_rebuilt(store: Store, places: Places) -> None:
    lie(store.project.store / "memory.sqlite", "UPDATE entries SET status = 'rejected'")
    assert memory.entries(store) == []

    index, remembered = look(store, places)

    assert (index.level, remembered.level) == ("ok", "warning")
    assert [entry.text for entry in memory.entries(store)] == ["Run ruff"]


def test_a_project_without_a_store_has_no_index(places: Places, tmp_path: Path) -> None:
    project = find_project(Repo(tmp_path / "empty").folder)

    assert list(check_index(World(places=places, project=project))) == []
