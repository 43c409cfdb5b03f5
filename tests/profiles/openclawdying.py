"""Kill a mirror, or whoever notes something, at every step on disk; the next one makes up for it.

Run as a program, because it forks: `openclawdying.py mirror|note FOLDER`.
"""

import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from deaths import _arm, _in_child
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.profile import BufferedExchange, SessionNews
from leftoff.projects import Project
from leftoff.store import Store
from leftoff.wal import notes
from stores import NOON, draft, project_at

SAID = SessionNews(
    agent="claude",
    session_id="s1",
    event="prompt",
    percent=65.0,
    buffer=[BufferedExchange(at=NOON, asked="use semicolons")],
)


def _prepare(project: Project) -> None:
    """Save once and mirror it, then do more that is not mirrored yet."""
    project.worktree.mkdir(parents=True)
    store = Store(project)
    store.save(draft("first-task", "First"))
    open_mirrors(["openclaw"]).export_changes(store)
    store.record("cleared", [store.find("first-task").id])
    store.save(draft("second-task", "Second"))
    for number in range(2):
        store.save(draft(None, f"Autosave {number}", session_id="s1", reason="context 71%"))
    notes.add(store, "value", "port 8080", path=_notes(project))
    store.close()


def _follow(project: Project) -> None:
    store = Store(project)
    followed = open_mirrors(["openclaw"]).export_changes(store, session=SAID)
    store.close()
    assert not followed.problems, followed.problems


def _note(project: Project) -> None:
    store = Store(project)
    notes.add(store, "correction", "use semicolons", path=_notes(project))
    store.close()


def _dying(project: Project, work: Callable[[Project], None], at: int, *, halfway: bool) -> None:
    _arm(at, halfway=halfway)
    work(project)


def _notes(project: Project) -> Path:
    return project.worktree / "memory" / "SESSION-STATE.md"


def _seen(project: Project) -> dict[str, list[str]]:
    """Tell all that lies in the workspace, without the times that differ."""
    found = (path for path in project.worktree.rglob("*") if path.is_file())
    return {
        str(path.relative_to(project.worktree)): [
            line[20:] if line.startswith("- [") else line
            for line in path.read_text("utf-8").splitlines()
            if not line.startswith(("**Created:", "**Started:", "**Project:"))
        ]
        for path in found
    }


def main(work: Callable[[Project], None], folder: Path) -> None:
    """Kill at every step; compare with what is there when nobody dies."""
    _run(folder / "whole", work, at=None)
    wanted = _seen(project_at(folder / "whole"))
    deaths = 0
    for halfway in (False, True):
        for at in itertools.count(1):
            lived = _run(folder / "now", work, at=at, halfway=halfway)
            found = _seen(project_at(folder / "now"))
            assert found == wanted, f"step {at}, halfway {halfway}:\n{found}\n{wanted}"
            shutil.rmtree(folder / "now")
            if lived:
                break
            deaths += 1
    sys.stdout.write(f"{deaths}\n")


def _run(
    folder: Path, work: Callable[[Project], None], *, at: int | None, halfway: bool = False
) -> bool:
    project = project_at(folder)
    os.environ["OPENCLAW_WORKSPACE"] = str(project.worktree)
    _prepare(project)
    if at is None:
        work(project)
        return True
    lived = _in_child(lambda: _dying(project, work, at, halfway=halfway))
    work(project)
    return lived


if __name__ == "__main__":
    main({"mirror": _follow, "note": _note}[sys.argv[1]], Path(sys.argv[2]))
