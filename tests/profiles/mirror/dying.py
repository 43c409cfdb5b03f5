"""Kill a mirror at every step it takes on disk; the next one finishes the work exactly once.

Run as a program, because it forks: `dying.py FOLDER guardz|harness`.
"""

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import deaths
from deaths import Death, Trial
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.knowledge import features, memory
from leftoff.profiles.mirror import open_mirrors
from leftoff.store import Store
from stores import draft


def _open(place: Path) -> Store:
    """Open the store of the repository in a folder, as a user whose home is beside it."""
    os.environ["HOME"] = str(place / "home")
    return Store(find_project(place / "repo"))


def _prepare(place: Path, profile: str) -> None:
    """Save once and mirror it, then do more that is not mirrored yet."""
    Repo.begun(place / "repo")
    store = _open(place)
    _work(store, 0)
    open_mirrors([profile]).export_changes(store)
    _work(store, 1)
    store.close()


def _work(store: Store, number: int) -> None:
    store.save(draft(f"work-{number}", f"Work {number}", session_id=f"s-{number}"))
    memory.add(store, [memory.EntryDraft(kind="failure", text=f"Approach {number}")])
    features.add(store, features.ItemDraft(name=f"Feature {number}"))


def _follow(place: Path, profile: str) -> None:
    store = _open(place)
    followed = open_mirrors([profile]).export_changes(store)
    store.close()
    assert not followed.problems, followed.problems


def _check(place: Path, death: Death, profile: str) -> None:
    """Each file is whole, and the next mirror reports everything once."""
    for path in place.rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    if not death.lived:
        _follow(place, profile)
    look = _LOOKS[profile]
    assert look(place) == death.after == _WANTED[profile](2), (death.at, look(place))
    store = _open(place)
    _work(store, 2)
    store.close()
    _follow(place, profile)
    assert look(place) == _WANTED[profile](3), (death.at, look(place))


def _look_at_guardz(place: Path) -> dict[str, Any]:
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(place / "repo"))
    folder = place / "home" / ".claude" / "projects" / munged / "memory"
    page = (folder / "MEMORY.md").read_text(encoding="utf-8")
    return {
        "files": sorted(path.name for path in folder.glob("checkpoint-*.md")),
        "listed": sorted(re.findall(r"- \*\*(.+?)\*\*", page)),
    }


def _look_at_harness(place: Path) -> dict[str, Any]:
    home = place / "repo" / ".claude-harness"

    def read(path: str) -> Any:
        return json.loads((home / path).read_text("utf-8"))

    failures = read("memory/procedural/failures.json")["entries"]
    return {
        "approaches": [each["approach"] for each in failures],
        "features": [each["name"] for each in read("features/active.json")["features"]],
        "sessions": sorted(path.parent.name for path in home.glob("sessions/*/checkpoint.json")),
        "summary": read("claude-progress.json")["lastSession"]["summary"],
    }


_LOOKS = {"guardz": _look_at_guardz, "harness": _look_at_harness}
# The files must show so many pieces of work.
_WANTED: dict[str, Callable[[int], dict[str, Any]]] = {
    "guardz": lambda count: {
        "files": [f"checkpoint-work-{n}.md" for n in range(count)],
        "listed": [f"work-{n}" for n in range(count)],
    },
    "harness": lambda count: {
        "approaches": [f"Approach {n}" for n in range(count)],
        "features": [f"Feature {n}" for n in range(count)],
        "sessions": [f"s-{n}" for n in range(count)],
        "summary": f"Work {count - 1}",
    },
}
TRIALS = {
    profile: Trial(
        prepare=partial(_prepare, profile=profile),
        act=partial(_follow, profile=profile),
        look=look,
        check=partial(_check, profile=profile),
        anew=True,
    )
    for profile, look in _LOOKS.items()
}


if __name__ == "__main__":
    deaths.main(TRIALS)
