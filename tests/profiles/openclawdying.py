"""Kill a mirror or a note at every step on disk; the next process finishes the work exactly once.

Run as a program, because it forks: `openclawdying.py FOLDER mirror|note`.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import deaths
from deaths import Death, Trial
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.profile import BufferedExchange, SessionNews
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.wal import working_notes
from stores import NOON, draft, project_at

SAID = SessionNews(
    agent="claude",
    session_id="s1",
    event="prompt",
    percent=65.0,
    buffer=[BufferedExchange(at=NOON, asked="use semicolons")],
)


def _prepare(place: Path) -> None:
    """Save once and mirror it, then do more that is not mirrored yet."""
    project = _project(place)
    project.worktree.mkdir(parents=True)
    store = Store(project)
    store.save(draft("first-task", "First"))
    open_mirrors(["openclaw"]).export_changes(store)
    store.record("cleared", [store.find("first-task").id])
    store.save(draft("second-task", "Second"))
    for number in range(2):
        store.save(draft(None, f"Autosave {number}", session_id="s1", reason="context 71%"))
    working_notes.add(store, "value", "port 8080", path=_notes(project))
    store.close()


def _project(place: Path) -> Project:
    os.environ["OPENCLAW_WORKSPACE"] = str(project_at(place).worktree)
    return project_at(place)


def _follow(place: Path) -> None:
    store = Store(_project(place))
    followed = open_mirrors(["openclaw"]).export_changes(store, session=SAID)
    store.close()
    assert not followed.problems, followed.problems


def _note(place: Path) -> None:
    project = _project(place)
    store = Store(project)
    working_notes.add(store, "correction", "use semicolons", path=_notes(project))
    store.close()


def _notes(project: Project) -> Path:
    return project.worktree / "memory" / "SESSION-STATE.md"


def _look(place: Path) -> dict[str, list[str]]:
    """Tell all that lies in the workspace, without the times that differ."""
    project = _project(place)
    found = (path for path in project.worktree.rglob("*") if path.is_file())
    return {
        str(path.relative_to(project.worktree)): [
            line[20:] if line.startswith("- [") else line
            for line in path.read_text("utf-8").splitlines()
            if not line.startswith(("**Created:", "**Started:", "**Project:"))
        ]
        for path in found
    }


def _check(place: Path, death: Death, work: Callable[[Path], None]) -> None:
    """The next one makes up for it, and nothing is there twice."""
    work(place)
    assert (found := _look(place)) == death.after, (death.at, found, death.after)


TRIALS = {
    name: Trial(_prepare, work, _look, partial(_check, work=work), anew=True)
    for name, work in {"mirror": _follow, "note": _note}.items()
}


if __name__ == "__main__":
    deaths.main(TRIALS)
