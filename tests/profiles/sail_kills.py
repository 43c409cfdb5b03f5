"""Kill processes that save and write append-only files, again and again: sail_kills.py FOLDER N."""

import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import deaths
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import Project
from leftoff.store import Store
from stores import draft, project_at

# One acknowledgement.
_SEVERAL_BYTES = 5


def save_until_killed(seed: int, tell: Callable[[str], None], *, project: Project) -> None:
    """Save and mirror without end."""
    store = Store(project)
    for number in itertools.count():
        store.save(draft(f"work-{seed}-{number}", "text " * (seed % 40)))
        open_mirrors(["sail"]).export_changes(store)
        tell("saved")


def main() -> None:
    """Kill as often as asked; print how many saves came through."""
    project, kills = project_at(Path(sys.argv[1])), int(sys.argv[2])
    project.worktree.mkdir(parents=True, exist_ok=True)
    saved = deaths.kill_at_any_moment(
        partial(save_until_killed, project=project),
        lambda _: None,
        kills=kills,
        together=1,
        several=_SEVERAL_BYTES,
    )
    sys.stdout.write(str(len(saved)))


if __name__ == "__main__":
    main()
