"""Kill a mirror at every step it takes on disk; the next one finishes the work exactly once.

Run as a program, because it forks: `quoindying.py FOLDER mirror`.
"""

import re
from pathlib import Path

import deaths
from deaths import Death, Trial
from leftoff.profiles import cost_ledger
from leftoff.profiles.mirror import open_mirrors
from leftoff.session import prompt_queue
from leftoff.session.prompt_files import FilePrompt
from leftoff.store import Store
from stores import NOON, draft, project_at, view


def _prepare(place: Path) -> None:
    """Save once and mirror it, then do more that is not mirrored yet."""
    project = project_at(place)
    project.worktree.mkdir(parents=True)
    store = Store(project)
    store.save(draft("first-task", "First", session_id="s1"))
    open_mirrors(["quoin"]).export_changes(store)
    store.record("resumed", [store.find("first-task").id])
    store.save(draft("second-task", "Second", session_id="s2"))
    store.save(draft("second-task", "Second again", session_id="s2"), overwrite=True)
    prompt_queue.import_prompts(store, [FilePrompt(text="a prompt", written_at="", at=NOON)], "s2")
    store.close()


def _follow(place: Path) -> None:
    store = Store(project_at(place))
    followed = open_mirrors(["quoin"]).export_changes(store)
    store.close()
    assert not followed.problems, followed.problems


def _look(place: Path) -> object:
    project = project_at(place)
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


def _check(place: Path, death: Death) -> None:
    """The next mirror makes up for it, and nothing is there twice."""
    _follow(place)
    assert (found := _look(place)) == death.after, (death.at, found, death.after)


TRIALS = {"mirror": Trial(_prepare, _follow, _look, _check, anew=True)}


if __name__ == "__main__":
    deaths.main(TRIALS)
