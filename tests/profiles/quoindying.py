"""Kill a mirror at every step it takes on disk; the next one makes up for it, and no more.

Run as a program, because it forks: `quoindying.py FOLDER`.
"""

import itertools
import re
import shutil
import sys
from pathlib import Path

from deaths import _arm, _in_child
from leftoff import prompts
from leftoff.profiles import cost_ledger
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects import Project
from leftoff.promptfile import FilePrompt
from leftoff.store import Store
from stores import NOON, draft, project_at, view


def _prepare(project: Project) -> None:
    """Save once and mirror it, then do more that is not mirrored yet."""
    project.worktree.mkdir(parents=True)
    store = Store(project)
    store.save(draft("first-task", "First", session_id="s1"))
    open_mirrors(["quoin"]).export_changes(store)
    store.record("resumed", [store.find("first-task").id])
    store.save(draft("second-task", "Second", session_id="s2"))
    store.save(draft("second-task", "Second again", session_id="s2"), overwrite=True)
    prompts.take_in(store, [FilePrompt(text="a prompt", told_at="", at=NOON)], "s2")
    store.close()


def _follow(project: Project) -> None:
    store = Store(project)
    followed = open_mirrors(["quoin"]).export_changes(store)
    store.close()
    assert not followed.problems, followed.problems


def _dying(project: Project, at: int, *, halfway: bool) -> None:
    _arm(at, halfway=halfway)
    _follow(project)


def _seen(project: Project) -> object:
    root = project.worktree / ".workflow_artifacts"
    # A name in the trash that was reserved for nothing is empty, and the next one has a number.
    found = [path for path in root.rglob("*") if path.is_file() and path.stat().st_size]
    names = (str(path.relative_to(root)) for path in found)
    files = sorted(re.sub(r"(trash/.*)-\d\.txt", r"\1.txt", name) for name in names)
    store = Store(project)
    try:
        listed = view(store)
    finally:
        store.close()
    # What a dead process left half done is hidden, and no file of anyone's.
    kept = [each for each in files if not each.endswith(".leftoff")]
    return kept, [row.note for row in cost_ledger.rows(root)], listed


def main(folder: Path) -> None:
    """Kill at every step; compare with what is there when nobody dies."""
    _prepare(project_at(folder / "whole"))
    _follow(project_at(folder / "whole"))
    wanted = _seen(project_at(folder / "whole"))
    deaths = 0
    for halfway in (False, True):
        for at in itertools.count(1):
            project = project_at(folder / "now")
            _prepare(project)
            lived = _in_child(lambda at=at, h=halfway, p=project: _dying(p, at, halfway=h))  # type: ignore[misc]
            _follow(project)
            found = _seen(project)
            assert found == wanted, f"step {at}, halfway {halfway}:\n{found}\n{wanted}"
            shutil.rmtree(folder / "now")
            deaths += not lived
            if lived:
                break
    sys.stdout.write(f"{deaths}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
