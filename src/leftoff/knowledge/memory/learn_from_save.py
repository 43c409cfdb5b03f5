"""Lessons: what a saved checkpoint teaches, and what it repeats of what failed before."""

from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError
from leftoff.knowledge.memory.api import learn
from leftoff.knowledge.memory.entry import MemoryEntry
from leftoff.knowledge.memory.repeats import find_repeat
from leftoff.store import Store

# One who lists more has pasted a log.
_MOST_LOOKED_AT = 10


def take_lessons(store: Store, checkpoint: Checkpoint) -> list[str]:
    """Remember what outlives a checkpoint; return a warning for each approach that failed before.

    The checkpoint is on disk already, so nothing that goes wrong here fails its save.
    """
    try:
        warnings = _repeats(store, checkpoint)
        learn(store, checkpoint)
    except (LeftoffError, OSError) as error:
        return [f"Its decisions and failed approaches are not in the memory: {error}"]
    return warnings


def _repeats(store: Store, checkpoint: Checkpoint) -> list[str]:
    found: dict[str, MemoryEntry] = {}
    for failed in checkpoint.failed[:_MOST_LOOKED_AT]:
        again = find_repeat(
            store, command=failed.what, files=checkpoint.files_modified, text=failed.what
        )
        if again is not None and not _is_its_own(store, again, checkpoint):
            found[again.id] = again
    return [format_warning(entry) for entry in found.values()]


def _is_its_own(store: Store, entry: MemoryEntry, checkpoint: Checkpoint) -> bool:
    """Say whether the same work told of it: this session, or an earlier revision of this name."""
    if checkpoint.session_id in entry.sources:
        return True
    revisions = (store.index().get(source) for source in entry.sources)
    return checkpoint.name is not None and any(
        each is not None and each.name == checkpoint.name for each in revisions
    )


def format_warning(entry: MemoryEntry) -> str:
    """Say that an approach failed before."""
    why = f" — {entry.why}" if entry.why else ""
    return f"This failed before: {entry.text}{why} (leftoff memory show {entry.id})"
