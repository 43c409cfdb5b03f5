"""Killed at any step, and several processes at once: nothing that was acknowledged is lost."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from leftoff import memory
from leftoff.memory import Draft
from leftoff.store import Store
from programs import run, run_together, with_our_path
from stores import project_at

_DYING = """
    import sys
    from pathlib import Path
    import deaths
    from leftoff import memory
    from leftoff.memory import Draft
    from leftoff.store import Store
    from stores import project_at

    folder, at, halfway = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "half"
    store = Store(project_at(folder))
    deaths._arm(at, halfway=halfway)
    new = memory.add(store, [Draft(kind="decision", text=f"New {number}") for number in range(3)])
    sys.stdout.write(f"{len(new)}\\n")
    sys.stdout.flush()
    import os
    os._exit(0)
"""


@pytest.mark.accept(164)
@pytest.mark.parametrize("how", ["whole", "half"])
def test_killed_at_any_step_of_adding_nothing_is_lost_and_the_memory_works_on(
    quick_folder: Path, how: str
) -> None:
    template = quick_folder / "template"
    memory.add(Store(project_at(template)), [Draft(kind="decision", text="Old")])
    kills = 0
    for at in itertools.count(1):
        folder = quick_folder / "crashed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        code = _killed_at(folder, at, how)
        store = Store(project_at(folder))
        texts = {entry.text for entry in memory.entries(store)}
        assert "Old" in texts
        assert code < 0 or texts == {"Old", "New 0", "New 1", "New 2"}
        memory.add(store, [Draft(kind="decision", text=f"New {number}") for number in range(4)])
        assert len(memory.entries(store)) == 5
        if code == 0:
            break
        kills += 1
    assert kills >= (10 if how == "whole" else 1)


def _killed_at(folder: Path, at: int, how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_DYING), str(folder), str(at), how],
        env=with_our_path(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.returncode


@pytest.mark.accept(155)
def test_two_processes_that_add_200_each_leave_all_400(quick_folder: Path) -> None:
    program = """
        from leftoff import memory
        from leftoff.memory import Draft
        for turn in range(200):
            told = [
                Draft(kind="decision", text=f"Of {number}: {turn}", sources=[f"session-{number}"]),
                Draft(kind="rule", text=f"Shared {turn}", sources=[f"session-{number}"]),
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
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "hard link"])
def test_what_is_planted_in_its_place_is_never_written_through(
    quick_folder: Path, name: str, what: str
) -> None:
    project = project_at(quick_folder)
    project.store.mkdir(parents=True)
    mine = quick_folder / "mine"
    mine.write_text("mine", encoding="utf-8")
    plant(project.store / name, what, mine)
    program = """
        from leftoff import memory
        from leftoff.memory import Draft
        memory.add(store, [Draft(kind="rule", text="No globals")])
        memory.add(store, [Draft(kind="rule", text="No globals", sources=["again"])])
        assert [entry.sources for entry in memory.entries(store)] == [["again"]]
        assert memory.repeated(store, command="git push") is None
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
