"""Kill processes that save and write append-only files, again and again: sail_kills.py FOLDER N."""

import itertools
import os
import random
import signal
import sys
import time
from pathlib import Path

from leftoff.profiles.mirror import open_mirrors
from leftoff.projects import Project
from leftoff.store import Store
from stores import draft, project_at


def save_until_killed(project: Project, seed: int) -> None:
    """Save and mirror without end."""
    store = Store(project)
    for number in itertools.count():
        store.save(draft(f"work-{seed}-{number}", "text " * (seed % 40)))
        open_mirrors(["sail"]).export_changes(store)


def main() -> None:
    """Kill as often as asked."""
    project, kills = project_at(Path(sys.argv[1])), int(sys.argv[2])
    project.worktree.mkdir(parents=True, exist_ok=True)
    rng = random.Random(kills)  # noqa: S311 - no secret
    for seed in range(kills):
        child = os.fork()
        if child == 0:
            try:
                save_until_killed(project, seed)
            except BaseException as error:  # noqa: BLE001 - a child never runs the parent's code
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        time.sleep(rng.uniform(0.002, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
