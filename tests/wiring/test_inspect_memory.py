"""Doctor checks every line of the memory, and the features."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.knowledge import features, memory
from leftoff.store import Store
from leftoff.wiring.findings import DoctorFinding, World
from leftoff.wiring.inspect_project import check_memory
from leftoff.wiring.install_places import Places


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(find_project(Repo(tmp_path / "repo").folder))
    yield store
    store.close()


def look(store: Store, places: Places) -> list[DoctorFinding]:
    return list(check_memory(World(places=places, project=store.project)))


def log_of(store: Store) -> Path:
    memory.add(store, [memory.EntryDraft(kind="rule", text="Run ruff")])
    return store.project.store / "memory.jsonl"


def test_a_project_that_remembers_nothing_has_nothing_to_check(
    store: Store, places: Places
) -> None:
    assert look(store, places) == []


def test_a_sound_memory_is_reported(store: Store, places: Places) -> None:
    log_of(store)

    assert [each.level for each in look(store, places)] == ["ok"]


def test_lines_that_cannot_be_read_are_counted_and_named(store: Store, places: Places) -> None:
    log = log_of(store)
    at = '"id":"1","at":"2026-11-16T00:00:00Z"'
    lines = [
        "not JSON",
        "",
        "[1]",
        f'{{"action":"said","kind":"nonsense","text":"x",{at}}}',
        f'{{"action":"of a newer version",{at}}}',
        f'{{"action":"changed",{at}}}',
    ]
    log.write_text(log.read_text() + "\n".join(lines) + '\n{"action":"sa')

    (found,) = look(store, places)

    assert found.level == "warning"
    assert found.what == f"3 lines of {log} cannot be read: lines 2, 4, 5"
    assert "leftoff memory add" in found.do


def test_something_else_in_the_place_of_the_log_is_broken(store: Store, places: Places) -> None:
    log = log_of(store)
    log.unlink()
    log.mkdir()

    assert [(each.check, each.level) for each in look(store, places)] == [("memory", "broken")]


def test_features_that_cannot_be_read_are_reported_with_the_way_out(
    store: Store, places: Places
) -> None:
    features.add(store, features.ItemDraft(name="Export orders"))
    (store.project.store / "features.json").write_text("{")

    (found,) = look(store, places)

    assert (found.check, found.level) == ("features", "broken")
    assert found.do
