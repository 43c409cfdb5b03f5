"""Check that the project's memory and features can be read."""

from collections.abc import Iterator
from pathlib import Path

from leftoff.errors import LeftoffError
from leftoff.knowledge import features, memory
from leftoff.store import Store, disk
from leftoff.store.log import SkippedLines
from leftoff.text.plural import format_count
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning


def check_memory(world: World) -> Iterator[DoctorFinding]:
    """Check every line of the memory, and all features."""
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
            f"{log} is not a regular file",
            why="leftoff cannot read the memory, and new entries go to the fallback folder.",
            do="Move it away; the next entry creates a new file.",
        )
    try:
        skipped = memory.count_unreadable(store)
    except OSError as error:
        return fault(
            "memory",
            f"{log} cannot be read: {error.strerror}",
            why="leftoff cannot use the memory.",
            do="Make it yours to read and write.",
        )
    if not skipped.count:
        return ok("memory", "Every entry can be read")
    return warning(
        "memory",
        f"{format_count(skipped.count, 'line')} of {log} cannot be read: {_name(skipped)}",
        why="leftoff skips these lines and uses all others.",
        do="Add what they said with `leftoff memory add`, then remove the lines. A line that a "
        "crash cut off was never confirmed as saved; just remove it.",
    )


def _features(store: Store) -> Iterator[DoctorFinding]:
    try:
        features.load(store)
    except (LeftoffError, OSError) as error:
        hint = error.hint if isinstance(error, LeftoffError) else ""
        yield fault(
            "features",
            str(error),
            why="You cannot start, add or ship features.",
            do=hint or "Make it yours to read and write.",
        )


def _name(skipped: SkippedLines) -> str:
    rest = skipped.count - len(skipped.first)
    return f"line {', '.join(map(str, skipped.first))}{f' and {rest} more' if rest else ''}"
