"""Measure mirrors: a save with all five and with none, and the import of many files."""

import itertools
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import harness, venv
from bench.harness import CACHE, Figure, Program, Sample

ROUNDS = 30
IMPORTED = 10_000
_TASKS = 400
_PROFILES = "guardz,openclaw,sail,quoin,harness"

_NATIVE = """## Status
checkpoint save (voluntary)

## Current stage
implement

## Active task
{task}

## Branch
feat/{task}

## Last user intent
Make number {number} retry with backoff and keep it idempotent.

## In-flight artifacts
- current-plan.md: /w/.workflow_artifacts/{task}/current-plan.md
- architecture.md: (none found)
- latest critic-response: (none found)
- latest review: (none found)
- session-state: (none found)

## Open questions
- Is number {number} deduplicated for a day or a week?

## Decisions made
(none)

## Unfinished work
- T-{number} wire it up

## Restore hint
Run /checkpoint --restore in a fresh session to resume task '{task}'.
"""


def mirrored_saves() -> list[Figure]:
    """Compare saves as a user makes them, with all mirrors and with none."""
    folder = CACHE / "mirrors"
    shutil.rmtree(folder, ignore_errors=True)
    numbers = itertools.count()
    cases: dict[str, Callable[[], Sample]] = {}
    for name, mirrors in (("none", ""), ("five", _PROFILES)):
        project = _project(folder / name)
        if mirrors:
            harness.run(_leftoff(project, "config", "set", "mirror", mirrors, "--project"))
        cases[name] = partial(_save, project, numbers)
    took = harness.interleave(cases, ROUNDS)
    shutil.rmtree(folder)
    what = "leftoff save with five mirrors / with none"
    return [harness.compare(what, took, ("five", "none"), limit=2.5)]


def _save(project: Path, numbers: Iterator[int]) -> Sample:
    number = next(numbers)
    words = ("--summary", f"Work number {number}", "--next", "Run pytest", "--done", "Wrote app.py")
    return harness.run(_leftoff(project, "save", f"work-{number}", *words))


def imports() -> list[Figure]:
    """Import many quoin files, and measure the time and memory."""
    project = _project(CACHE / "import")
    _write_natives(project / ".workflow_artifacts" / "memory" / "checkpoints")
    program = _leftoff(project, "import", "--from", "quoin")
    sample = harness.run(program)
    kept = len(list((project / ".git" / "leftoff" / "checkpoints").rglob("*.json")))
    again = harness.run(program)
    shutil.rmtree(project / ".git" / "leftoff")
    peak = harness.peak_megabytes(program, venv.python())
    shutil.rmtree(project.parent, ignore_errors=True)
    return [
        Figure(
            what=f"import of {IMPORTED:,} quoin checkpoints: kept",
            value=kept,
            unit="",
            limit=IMPORTED,
            is_floor=True,
            note=f"{kept / sample.wall:,.0f} a second; a second run {again.wall:.1f} s",
        ),
        Figure(what="peak memory of that import", value=peak, unit="MB", limit=120),
    ]


def _write_natives(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(IMPORTED):
        task = f"task-number-{number % _TASKS}"
        day = f"2026-{1 + number // _TASKS // 28 % 12:02d}-{1 + number // _TASKS % 28:02d}"
        text = _NATIVE.format(task=task, number=number)
        (folder / f"{day}-{task}.md").write_text(text, encoding="utf-8")


def _project(folder: Path) -> Path:
    project = folder / "project"
    shutil.rmtree(folder, ignore_errors=True)
    project.mkdir(parents=True)
    environment = venv.environment(folder)
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=project, env=environment, check=True)
    return project


def _leftoff(project: Path, *words: str) -> Program:
    return Program(
        arguments=(str(venv.leftoff()), *words),
        environment=venv.environment(project.parent),
        folder=project,
    )


def figures() -> list[Figure]:
    """Measure everything about profiles."""
    return [*mirrored_saves(), *imports()]
