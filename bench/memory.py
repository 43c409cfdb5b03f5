"""Measure the memory with 100,000 entries, relative to 100: `python -m bench.memory`."""

import itertools
import random
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

from bench import harness
from bench.harness import Figure, Sample
from leftoff.checkpoint import SCHEMA, Checkpoint, Decision, Failure
from leftoff.context import read_environment
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, MemoryEntry, id_of
from leftoff.knowledge.memory.memory_log import line_of
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.threads import autosaves, memory_briefing

FEW, MANY = 100, 100_000
ROUNDS, SAVES = 61, 41
_BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
_WORDS = "cache token parser stream pool retry index router worker queue schema lock build".split()
_KINDS: tuple[memory.Kind, ...] = ("decision", "decision", "failure", "success", "pattern")

_QUESTIONS: dict[str, Callable[[Store], object]] = {
    "briefing": lambda store: memory_briefing.render(memory_briefing.gather(store)),
    "list of 50": lambda store: memory.entries(store, limit=50),
    "search": lambda store: memory.search(store, "cache pool"),
    "repeated": lambda store: memory.find_repeat(
        store, command="make -C core bench", text="retry the stream parser in a worker"
    ),
}


def figures() -> list[Figure]:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = (_made(Path(folder) / str(count), count) for count in (FEW, MANY))
        rebuilt = _rebuilding(many)
        return [*_asking(few, many), *_adding(few, many), rebuilt]


def _made(folder: Path, count: int) -> Store:
    """Create a memory with this many entries, and a few rules at its far end."""
    store = Store(
        Project(
            environment=read_environment(),
            root=folder,
            worktree=folder,
            store=folder / "store",
            fallback=folder / "fallback",
        )
    )
    memory.add(store, [EntryDraft(kind="rule", text=f"Rule {number}") for number in range(5)])
    chance = random.Random(count)  # noqa: S311 - not a secret
    with (store.project.store / "memory.jsonl").open("ab") as log:
        log.writelines(line_of(_entry(chance, number)) + b"\n" for number in range(count))
    memory.entries(store, limit=1)
    return store


def _entry(chance: random.Random, number: int) -> MemoryEntry:
    kind = chance.choice(_KINDS)
    text = f"{' '.join(chance.choices(_WORDS, k=6))} {number}"
    return MemoryEntry(
        id=id_of(kind, text),
        at=_BEGAN + timedelta(minutes=10 * number),
        kind=kind,
        text=text,
        why=" ".join(chance.choices(_WORDS, k=8)),
        sources=[f"session-{number // 20}"],
        files=[f"src/{chance.choice(_WORDS)}.py"],
    )


def _asking(few: Store, many: Store) -> list[Figure]:
    found = []
    for name, ask in _QUESTIONS.items():
        took = harness.interleave(
            {
                "few": partial(harness.call, partial(ask, few)),
                "many": partial(harness.call, partial(ask, many)),
            },
            ROUNDS,
        )
        limit = 1.5 if name == "briefing" else None
        found.append(
            harness.compare(f"{name} at {MANY:,} / at {FEW}", took, ("many", "few"), limit)
        )
    return found


def _adding(few: Store, many: Store) -> list[Figure]:
    """Save with and without a decision and a failure that are new each time."""
    number = itertools.count()

    def save(store: Store, *, teaches: bool) -> Sample:
        draft = _checkpoint(next(number), teaches=teaches)
        return harness.call(partial(autosaves.autosave, store, draft, None, is_noted=True))

    took = harness.interleave(
        {
            "bare": partial(save, few, teaches=False),
            "few": partial(save, few, teaches=True),
            "many": partial(save, many, teaches=True),
        },
        SAVES,
    )
    name = "autosave with a new decision and failure"
    return [
        harness.compare(f"{name} at {MANY:,} / at {FEW}", took, ("many", "few"), 2),
        harness.compare(f"{name} / without them", took, ("few", "bare")),
    ]


def _checkpoint(number: int, *, teaches: bool) -> Checkpoint:
    what = f"approach {number} with the {_WORDS[number % len(_WORDS)]}"
    return Checkpoint(
        schema=SCHEMA,
        id="",
        saved_at=_BEGAN,
        trigger="context",
        session_id=f"session-{number}",
        summary="Work on the parser",
        decisions=[Decision(what=f"Keep {what}", why="quick")] if teaches else [],
        failed=[Failure(what=f"Try {what}", why="slow")] if teaches else [],
    )


def _rebuilding(many: Store) -> Figure:
    (many.project.store / "memory.sqlite").unlink()
    took = [harness.call(partial(memory.entries, many, limit=1)).wall]
    size = (many.project.store / "memory.sqlite").stat().st_size / 1e6
    return Figure(
        what=f"rebuild of the index of {MANY:,} entries",
        value=median(took),
        unit="s",
        note=f"{size:.0f} MB",
    )


if __name__ == "__main__":
    print(harness.table("memory", figures()))
    sys.exit(0)
