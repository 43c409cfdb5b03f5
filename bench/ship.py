"""Measure ship relative to the git commands it cannot avoid: add, commit, push."""

import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import harness, venv
from bench.harness import CACHE, Case, Figure, Program, Sample, compare, interleave
from leftoff.config import Settings
from leftoff.context import find_project
from leftoff.ship.outcome import Options
from leftoff.ship.ship_steps import ship
from leftoff.store import Store

ROUNDS = 41
FILES = 200
# Ship also saves a checkpoint, keeps the code in a snapshot and reads the messages of the branch:
# nine more calls of git, where the bare commands make three.
_MOST = 3.5

_BARE = (("add", "--all"), ("commit", "--quiet", "--message=More"), ("push", "--quiet", "origin"))
# The minimum that a Python program must do: start, and run git three times.
_MINIMAL = "import subprocess\n" + "\n".join(
    f"subprocess.run(('git', *{words!r}), check=True)" for words in _BARE
)


def figures() -> list[Figure]:
    """Measure a ship of one changed file, in this process and as a separate program."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="ship-") as folder:
        try:
            return _measure(Path(folder))
        finally:
            os.chdir(CACHE)


def _measure(folder: Path) -> list[Figure]:
    os.environ |= venv.environment(folder)
    places = {name: _Place(folder / name) for name in ("bare", "inside", "minimal", "program")}
    minimal = (str(venv.python()), "-I", "-c", _MINIMAL)
    program = (str(venv.leftoff()), "ship", "--no-pr", "--message=More")
    cases: dict[str, Case] = {
        "bare": places["bare"].inside(_run_bare),
        "inside": places["inside"].inside(_ship),
        "minimal": places["minimal"].program(*minimal),
        "program": places["program"].program(*program),
    }
    samples = interleave(cases, ROUNDS)
    return [
        compare("ship --no-pr / git add, commit, push", samples, ("inside", "bare"), _MOST),
        compare("  as programs, with Python's start", samples, ("program", "minimal")),
    ]


class _Place:
    """A project with its own remote, in which a file changes before each run."""

    def __init__(self, folder: Path) -> None:
        self.project, remote = folder / "shop", folder / "remote.git"
        self.project.mkdir(parents=True)
        self._git("init", "--quiet", "--bare", str(remote))
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("remote", "add", "origin", str(remote))
        # Background housekeeping would slow down the next run, whichever it is.
        self._git("config", "gc.auto", "0")
        self._git("-C", str(remote), "config", "receive.autogc", "false")
        for number in range(FILES):
            (self.project / f"file{number}.py").write_text(f"x = {number}\n" * 50, encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message=Begin")
        self._git("push", "--quiet", "--set-upstream", "origin", "main")
        self._numbers = itertools.count()

    def change(self) -> None:
        """Change one file."""
        (self.project / "file7.py").write_text(f"x = {next(self._numbers)}\n", encoding="utf-8")

    def inside(self, work: Callable[[Path], object]) -> Case:
        """Return a case that runs in this process."""

        def case() -> Sample:
            self.change()
            os.chdir(self.project)
            return harness.call(lambda: work(self.project))

        return case

    def program(self, *arguments: str) -> Case:
        """Return a case that starts a program."""
        environment = venv.environment(self.project.parent)
        started = Program(
            arguments=arguments,
            environment=environment,
            folder=self.project,
            printed=self.project.parent / "printed.txt",
        )

        def case() -> Sample:
            self.change()
            return harness.run(started)

        return case

    def _git(self, *arguments: str) -> None:
        subprocess.run(("git", *arguments), cwd=self.project, check=True)


def _run_bare(project: Path) -> None:
    for words in _BARE:
        subprocess.run(("git", *words), cwd=project, check=True, capture_output=True)


def _ship(project: Path) -> None:
    store = Store(find_project(project))
    report = ship(store, Settings(), Options(message="More", pull_request=False))
    store.close()
    assert report.is_new, report.steps
    assert report.pushed, report.steps


if __name__ == "__main__":
    print(harness.table("ship", figures()))
