"""Create stores of any size that look like years of work, and keep them for later runs."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from bench.harness import CACHE
from leftoff.checkpoint import (
    SCHEMA,
    Checkpoint,
    Commit,
    Decision,
    FileRef,
    NextAction,
    Todo,
    encode,
    new_id,
)
from leftoff.context import find_project
from leftoff.projects.project import Project
from leftoff.store import StoreEvent
from leftoff.store.layout import Area

RARE, COMMON, PAIR = "quokka", "checkpoint", ("harbour", "lantern")
BRANCH = "feat/branch-10"

# Increase this number whenever existing stores no longer fit the code.
_EDITION = 2
_NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
_YEARS = 4
_SYLLABLES = "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no".split()


def made(count: int, *, threads: int = 0) -> Project:
    """Return a project with this many checkpoints, from the cache if possible.

    They are revisions of this many threads; without a number, they look like those of 0.1.
    """
    folder = CACHE / f"store-{count}-{_EDITION}{f'-{threads}' if threads else ''}"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "home").mkdir(parents=True)
        project = folder / "project"
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        _fill(find_project(project), count, threads)
        (folder / "ready").touch()
    return find_project(folder / "project")


def home_of(project: Project) -> Path:
    """Return the home folder of the user who owns the project."""
    return project.root.parent / "home"


def _fill(project: Project, count: int, threads: int) -> None:
    area = Area(project.store)
    area.prepare()
    checkpoints = _checkpoints(project, count)
    with area.log.open("wb") as log:
        for checkpoint in _into_threads(checkpoints, threads) if threads else checkpoints:
            path = area.path_of(checkpoint.id)
            path.parent.mkdir(exist_ok=True, mode=0o700)
            path.write_bytes(encode(checkpoint))
            for event in _events(checkpoint):
                log.write(msgspec.json.encode(event) + b"\n")
    # The dates end some time ago, like those of a store that was not used for a while.
    for shard in area.checkpoints.iterdir():
        os.utime(shard, (_NOW.timestamp() - 86400,) * 2)


def _checkpoints(project: Project, count: int) -> Iterator[Checkpoint]:
    chance = random.Random(count)  # noqa: S311 - not a secret
    words = [_word(chance) for _ in range(4000)]
    step = timedelta(days=365 * _YEARS) / count
    for number in range(count):
        moment = _NOW - timedelta(days=365 * _YEARS) + step * number
        yield _checkpoint(project, chance, words, number, moment, is_last=number == count - 1)


def _into_threads(checkpoints: Iterator[Checkpoint], count: int) -> Iterator[Checkpoint]:
    """Make each checkpoint a revision of one of some threads, which are worked on in turn."""
    first: dict[int, Checkpoint] = {}
    for number, checkpoint in enumerate(checkpoints):
        opened = first.setdefault(number % count, checkpoint)
        yield msgspec.structs.replace(
            checkpoint, thread=opened.id, name=f"work-{number % count}", summary=opened.summary
        )


def _checkpoint(  # noqa: PLR0913 - made in one place
    project: Project,
    chance: random.Random,
    words: list[str],
    number: int,
    moment: datetime,
    *,
    is_last: bool,
) -> Checkpoint:
    def said(length: int) -> str:
        return " ".join(chance.choices(words, k=length))

    is_named = is_last or number % 3 == 0
    odd = [RARE] if number == 60 else []
    odd += [PAIR[0]] if number % 50 == 0 else []
    odd += [PAIR[1]] if number % 75 == 0 else []
    return Checkpoint(
        schema=SCHEMA,
        id=new_id(moment),
        saved_at=moment,
        trigger="manual" if is_named else "precompact",
        # A third of the names are used again, as a new revision.
        name=("newest" if is_last else f"work-{number // 9 * 2}-{words[number % 99]}")
        if is_named
        else None,
        agent=("claude", "codex", "gemini")[number % 3],
        session_id=f"session-{number // 5}",
        worktree=str(project.root),
        branch=f"feat/branch-{number % 40}",
        head="0" * 40,
        last_commit=Commit(sha="0" * 40, subject=said(6)),
        summary=f"{said(8)} {COMMON}",
        left_off=" ".join([said(20), *odd]),
        done=[said(10) for _ in range(3)],
        next_action=NextAction(text=said(10)),
        decisions=[Decision(what=said(6), why=said(9))],
        notes=[said(12)],
        files_modified=[f"src/{word}.py" for word in chance.choices(words, k=5)],
        files=[FileRef(path=f"src/{words[number % 99]}.py", size=1200, mtime=1.5e9)],
        todos=[Todo(text=said(5)) for _ in range(3)],
    )


def _events(checkpoint: Checkpoint) -> Iterator[StoreEvent]:
    at = checkpoint.saved_at
    yield StoreEvent(
        id=new_id(at),
        at=at,
        action="saved",
        ids=[checkpoint.id],
        name=checkpoint.name,
        thread=checkpoint.thread,
    )
    if checkpoint.id.endswith("0"):
        yield StoreEvent(id=new_id(at), at=at, action="cleared", ids=[checkpoint.id])
    elif checkpoint.id.endswith("1"):
        yield StoreEvent(id=new_id(at), at=at, action="resumed", ids=[checkpoint.id])


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=chance.randrange(2, 5)))
