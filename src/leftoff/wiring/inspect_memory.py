"""Checks of what outlives checkpoints: the memory and the features."""

from collections.abc import Iterator
from pathlib import Path

from leftoff.errors import LeftoffError
from leftoff.knowledge import features, memory
from leftoff.store import Store, disk
from leftoff.store.log import SkippedLines
from leftoff.text.plural import format_count
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning


def check_memory(world: World) -> Iterator[DoctorFinding]:
    """Check that every line of the memory and all features can be read."""
    if world.project is None or not world.project.store.is_dir():
        return
    store = Store(world.project)
    try:
        if not memory.is_empty(store):
            yield _memory(store, world.project.store / "memory.jsonl")
        yield from _features(store)
    finally:
        store.close()


def _memory(store: Store, log: Path) -> DoctorFinding:
    if log.exists() and not disk.is_regular(log):
        return fault(
            "memory",
            f"{log} is no regular file",
            why="What is remembered cannot be read, and new entries wait in the fallback.",
            do="Put it away: the next entry makes a new one.",
        )
    try:
        skipped = memory.count_unreadable(store)
    except OSError as error:
        return fault(
            "memory",
            f"{log} cannot be read: {error.strerror}",
            why="Nothing is remembered then.",
            do="Make it yours to read and write.",
        )
    if not skipped.count:
        return ok("memory", "Every entry can be read")
    return warning(
        "memory",
        f"{format_count(skipped.count, 'line')} of {log} cannot be read: {_name(skipped)}",
        why="What they said is not told; all other entries are.",
        do="Say it again with `leftoff memory add`, then remove the lines; a line cut off by a "
        "crash was never acknowledged and can go.",
    )


def _features(store: Store) -> Iterator[DoctorFinding]:
    try:
        features.load(store)
    except (LeftoffError, OSError) as error:
        hint = error.hint if isinstance(error, LeftoffError) else ""
        yield fault(
            "features",
            str(error),
            why="No feature can be started, noted or shipped.",
            do=hint or "Make it yours to read and write.",
        )


def _name(skipped: SkippedLines) -> str:
    rest = skipped.count - len(skipped.first)
    return f"line {', '.join(map(str, skipped.first))}{f' and {rest} more' if rest else ''}"
