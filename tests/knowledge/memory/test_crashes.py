"""Kills at any step, and several processes at once, lose nothing that was acknowledged."""

import json
import os
from pathlib import Path

import pytest

from deaths import count_kills
from knowledge.memory import dying
from leftoff.knowledge import memory
from leftoff.store import Store
from programs import run, run_together
from stores import project_at


@pytest.mark.slow("kills at every step")
@pytest.mark.accept(164)
def test_killed_at_any_step_of_adding_nothing_is_lost_and_the_memory_works_on(
    quick_folder: Path,
) -> None:
    kills = count_kills(dying, "add", quick_folder)

    assert kills["steps"] >= 2
    assert kills["writes"] >= 1


@pytest.mark.accept(155)
def test_two_processes_that_add_200_each_leave_all_400(quick_folder: Path) -> None:
    program = """
        from leftoff.knowledge import memory
        from leftoff.knowledge.memory import EntryDraft
        sources = [f"session-{number}"]
        for turn in range(200):
            told = [
                EntryDraft(kind="decision", text=f"Of {number}: {turn}", sources=sources),
                EntryDraft(kind="rule", text=f"Shared {turn}", sources=sources),
            ]
            memory.add(store, told)
            if turn % 20 == 0:
                memory.entries(store)
    """

    run_together(program, quick_folder, 2)

    store = Store(project_at(quick_folder))
    own = {entry.text for entry in memory.entries(store, kinds=["decision"])}
    assert own == {f"Of {number}: {turn}" for number in range(2) for turn in range(200)}
    shared = memory.entries(store, kinds=["rule"])
    assert len(shared) == 200
    assert all(sorted(entry.sources) == ["session-0", "session-1"] for entry in shared)
    rebuilt = memory.entries(store)
    (store.project.store / "memory.sqlite").unlink()
    assert memory.entries(store) == rebuilt
    lines = (store.project.store / "memory.jsonl").read_bytes().splitlines()
    assert all(json.loads(line) for line in lines)


@pytest.mark.accept(129)
@pytest.mark.parametrize("name", ["memory.jsonl", "memory.sqlite", "memory.lock"])
def test_what_is_planted_in_its_place_is_never_written_through(
    quick_folder: Path, name: str
) -> None:
    mine = quick_folder / "mine"
    mine.write_text("mine", encoding="utf-8")
    for what in ("link", "pipe", "folder", "hard link"):
        project = project_at(quick_folder / "planted" / what)
        project.store.mkdir(parents=True)
        plant(project.store / name, what, mine)
    program = """
        from leftoff.knowledge import memory
        from leftoff.knowledge.memory import EntryDraft
        for place in (folder / "planted").iterdir():
            store = Store(project_at(place))
            memory.add(store, [EntryDraft(kind="rule", text="No globals")])
            memory.add(store, [EntryDraft(kind="rule", text="No globals", sources=["again"])])
            assert [entry.sources for entry in memory.entries(store)] == [["again"]], place
            assert memory.find_repeat(store, command="git push") is None, place
            store.close()
    """

    run(program, quick_folder)

    assert mine.read_text(encoding="utf-8") == "mine"


def plant(path: Path, what: str, target: Path) -> None:
    if what == "link":
        path.symlink_to(target)
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.hardlink_to(target)
