"""Measure snapshots relative to `git status`, and beside a shadow repository as other tools keep.

A shadow repository has its own index and takes the whole worktree: `git add --all`, `git commit`.
"""

import itertools
import os
import random
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from bench import venv
from bench.harness import CACHE, Figure, call, compare, interleave
from leftoff.context import find_project
from leftoff.git.object_store import ObjectStore
from leftoff.projects.project import Project
from leftoff.snapshots.shelf import Shelf
from leftoff.snapshots.take import Reason, take_snapshot

ROUNDS = 15
_FOLDERS, _FILES = 500, 100
_TURNS, _EDITED, _BYTES = 1_000, 5, 20_000
_STATUS = "status --porcelain=v2 --untracked-files=all".split()
_WORDS = "total cart item price order export import return class self value none list".split()


def figures() -> list[Figure]:
    """Measure the time of a snapshot in a large repository, and the size of many."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="snapshots-") as folder:
        os.environ |= venv.environment(Path(folder))
        try:
            return [*_measure_time(Path(folder)), *_measure_size(Path(folder))]
        finally:
            os.chdir(CACHE)


def _git(place: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=place, check=True, stdout=subprocess.DEVNULL)


def _begin(place: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _git(place, "init", "--quiet")
    _git(place, "add", "--all")
    _git(place, "-c", "user.name=a", "-c", "user.email=a", "commit", "--quiet", "--message=All")
    return find_project(place)


class _Shadow:
    """A second repository over the same worktree."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._place, self.folder = project.worktree, folder
        self._git("init", "--quiet")
        self.take()

    def take(self) -> None:
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message=Turn")

    def _git(self, *words: str) -> None:
        where = (f"--git-dir={self.folder}", f"--work-tree={self._place}")
        _git(self._place, *where, "-c", "user.name=a", "-c", "user.email=a", *words)


def _take(project: Project) -> None:
    assert take_snapshot(project, Reason(trigger="turn")) is not None


def _measure_time(folder: Path) -> list[Figure]:
    names = (f"folder{n // _FILES}/file{n % _FILES}.txt" for n in range(_FOLDERS * _FILES))
    project = _begin(folder / "large", {name: f"{name}\n" for name in names})
    shadow = _Shadow(project, folder / "large-shadow")
    numbers = itertools.count()
    changed = project.worktree / "folder7" / "file7.txt"

    def edit(work: Callable[[], object]) -> Callable[[], object]:
        def edit_first() -> object:
            changed.write_text(f"{next(numbers)}\n", encoding="utf-8")
            return work()

        return edit_first

    changed.write_text("changed\n", encoding="utf-8")
    os.utime(changed, (1_000_000, 1_000_000))
    _take(project)
    samples = interleave(
        {
            "status": lambda: call(lambda: _git(project.worktree, *_STATUS)),
            "nothing": lambda: call(lambda: _take(project)),
            "one": lambda: call(edit(lambda: _take(project))),
            "shadow": lambda: call(edit(shadow.take)),
        },
        ROUNDS,
    )
    return [
        compare("snapshot, 1 of 50,000 changed / git status", samples, ("one", "status"), 2.5),
        compare("snapshot, nothing changed / git status", samples, ("nothing", "status"), 1.5),
        compare("  a shadow repository, 1 changed / git status", samples, ("shadow", "status")),
    ]


def _measure_size(folder: Path) -> list[Figure]:
    """Compare what a thousand turns take on disk with their distinct contents, compressed."""
    chance = random.Random(5)  # noqa: S311 - not a secret
    texts = {f"src/file{n}.py": _lines(chance) for n in range(_EDITED)}
    project = _begin(folder / "turns", {each: "\n".join(text) for each, text in texts.items()})
    shadow = _Shadow(project, folder / "turns-shadow")
    compressed = 0
    for turn in range(_TURNS):
        for name, lines in texts.items():
            lines[chance.randrange(len(lines))] = f"turn {turn} {chance.random()}"
            content = "\n".join(lines).encode()
            compressed += len(zlib.compress(content))
            (project.worktree / name).write_bytes(content)
        _take(project)
        shadow.take()
    shelf = Shelf(project.store)
    shelf.objects.pack()
    other = ObjectStore(shadow.folder)
    return [
        Figure(
            what="1,000 turns, 5 files of 20 KB: store / compressed contents",
            value=shelf.size() / compressed,
            limit=3.0,
        ),
        Figure(what="  a shadow repository", value=other.size() / compressed),
    ]


def _lines(chance: random.Random) -> list[str]:
    lines: list[str] = []
    while sum(map(len, lines)) < _BYTES:
        lines.append(" ".join(chance.choices(_WORDS, k=8)))
    return lines
