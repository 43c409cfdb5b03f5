"""Learn from a saved checkpoint, and warn if it repeats what failed before."""

from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError
from leftoff.knowledge.memory.api import learn
from leftoff.knowledge.memory.entry import MemoryEntry
from leftoff.knowledge.memory.repeats import find_repeat
from leftoff.store import Store

# Somebody who lists more has pasted a log.
_MOST_LOOKED_AT = 10


def take_lessons(store: Store, checkpoint: Checkpoint) -> list[str]:
    """Store what outlives a checkpoint; return a warning for each approach that failed before.

    The checkpoint is already on disk, so a problem here never fails its save.
    """
    try:
        warnings = _repeats(store, checkpoint)
        learn(store, checkpoint)
    except (LeftoffError, OSError) as error:
        return [f"Could not add its decisions and failed approaches to memory: {error}"]
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
    """Return whether the entry comes from the same session, or an earlier save of the name."""
    if checkpoint.session_id in entry.sources:
        return True
    revisions = (store.index().get(source) for source in entry.sources)
    return checkpoint.name is not None and any(
        each is not None and each.name == checkpoint.name for each in revisions
    )


def format_warning(entry: MemoryEntry) -> str:
    """Write the warning that an approach failed before."""
    why = f" — {entry.why}" if entry.why else ""
    return f"This failed before: {entry.text}{why} (leftoff memory show {entry.id})"
