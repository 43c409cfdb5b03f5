"""Measure what runs at a shell prompt, and the commands that look at everything."""

import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from bench import harness, stage, venv
from bench.harness import Figure, Program
from bench.stage import Stage

ROUNDS = 31
PROJECTS = 500
_PYTHON = "python -c pass"
# Saves in many projects in one process: starting leftoff for each would take minutes.
_FILL = """
import sys
from pathlib import Path
from leftoff import open_project
for name in sys.stdin.read().split():
    Path(name, ".git").mkdir(parents=True)
    for part, text in (("HEAD", "ref: refs/heads/main\\n"), ("objects", None), ("refs", None)):
        place = Path(name, ".git", part)
        place.mkdir() if text is None else place.write_text(text)
    with open_project(name, variables={"HOME": str(Path(name).parents[1])}) as project:
        project.save("csv-export", summary="Export orders as CSV", next_action="Run pytest")
        project.list_checkpoints()
"""


def figures() -> list[Figure]:
    """Measure everything in one run."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        here = stage.install(Stage(home=home, project=stage.new_project(home / "shop")))
        names = [str(home / "src" / f"p{number}") for number in range(PROJECTS)]
        subprocess.run([venv.python(), "-c", _FILL], input=" ".join(names), text=True, check=True)
        programs = {
            _PYTHON: _program(here, str(venv.python()), "-c", "pass"),
            "segment": _program(here, str(venv.leftoff()), "prompt-segment"),
            "status": _program(here, str(venv.leftoff()), "status"),
            "everywhere": _program(here, str(venv.leftoff()), "list", "--everywhere"),
        }
        save = ("save", "exporter", "--summary=Export orders as CSV", "--next=Run pytest", "-q")
        harness.run(_program(here, str(venv.leftoff()), *save))
        cases = {name: partial(harness.run, program) for name, program in programs.items()}
        took = harness.interleave(cases, ROUNDS)
        compare = partial(harness.compare, samples=took)
        return [
            compare(f"leftoff prompt-segment / {_PYTHON}", names=("segment", _PYTHON), limit=1.3),
            compare(f"leftoff status / {_PYTHON}", names=("status", _PYTHON)),
            compare(
                f"list --everywhere, {PROJECTS} projects / {_PYTHON}",
                names=("everywhere", _PYTHON),
            ),
        ]


def _program(here: Stage, *arguments: str) -> Program:
    return here.program(*arguments, given=Path(os.devnull))
