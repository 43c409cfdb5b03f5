"""harness: a process that dies while it writes leaves whole files, and the next one goes on."""

import json
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import features, memory
from leftoff.context import find_project
from leftoff.profiles.mirror import open_mirrors
from leftoff.store import Store
from profiles.mirror import dying
from stores import draft


@pytest.mark.accept(164)
def test_killed_at_any_step_every_file_is_whole_and_nothing_is_told_twice(
    cli: Cli, repo: Repo
) -> None:
    home = repo.folder / ".claude-harness"
    cli.ok("config", "set", "mirror", "harness", "--project")
    cli.ok("save", "first-work", "--summary", "First", "--decision", "Begin :: it is time")
    store = Store(find_project(repo.folder))
    for number in range(300):
        store.save(draft(f"work-{number}", f"Work {number}", session_id=f"s-{number}"))
        memory.add(store, [memory.Draft(kind="failure", text=f"Approach {number}")])
        features.add(store, features.Draft(name=f"Feature {number}"))
        is_killed = dying.is_killed(repo.folder, "harness", after=number * 3)
        for path in home.rglob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
        if not is_killed:
            break
        assert open_mirrors(["harness"]).export_changes(store).problems == []
        assert _told(home) == {
            "approaches": [f"Approach {n}" for n in range(number + 1)],
            "features": [f"Feature {n}" for n in range(number + 1)],
            "sessions": ["first-work", *sorted(f"s-{n}" for n in range(number + 1))],
            "summary": f"Work {number}",
        }
    else:
        pytest.fail("900 steps were not enough")
    assert len(features.load(store).features) == number + 1
    assert len(store.index().newest(1000)) == number + 2
    store.close()
    assert number > 5


def _told(home: Path) -> dict[str, object]:
    def read(path: str) -> dict[str, list[dict[str, str]]]:
        found: dict[str, list[dict[str, str]]] = json.loads((home / path).read_text("utf-8"))
        return found

    progress = json.loads((home / "claude-progress.json").read_text("utf-8"))
    failures = read("memory/procedural/failures.json")["entries"]
    return {
        "approaches": [each["approach"] for each in failures],
        "features": [each["name"] for each in read("features/active.json")["features"]],
        "sessions": sorted(path.parent.name for path in home.glob("sessions/*/checkpoint.json")),
        "summary": progress["lastSession"]["summary"],
    }
