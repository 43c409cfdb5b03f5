"""Learn from a saved checkpoint, warn if it repeats what failed, and retract what was cleared."""

import contextlib
from collections.abc import Collection, Iterable, Iterator

from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError
from leftoff.knowledge.memory.api import build_drafts, change, is_empty, learn, twin
from leftoff.knowledge.memory.entry import EntryDraft, MemoryEntry, Status
from leftoff.knowledge.memory.memory_log import LOG, read_said
from leftoff.knowledge.memory.repeats import find_repeat
from leftoff.store import CheckpointEntry, Store

# Somebody who lists more has pasted a log.
_MOST_LOOKED_AT = 10
# A session that autosaved more often is not searched for everything it said.
_MOST_REVISIONS = 500


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


def review_lessons(store: Store, ids: Iterable[str]) -> list[MemoryEntry]:
    """Retract what only cleared or undone checkpoints taught, and bring back what counts again.

    Pass the checkpoints whose state changed; the result is the entries that changed. Work that is
    done or dropped keeps what it taught.
    """
    if is_empty(store):
        return []
    index = store.index()
    slots = {found.slot for each in ids if (found := index.get(each))}
    revisions = [each for slot in slots for each in index.revisions(slot)[:_MOST_REVISIONS]]
    taught = {
        entry.id: entry
        for checkpoint in _load(store, revisions)
        for draft in build_drafts(checkpoint)
        if draft.text.strip() and (entry := twin(store, draft))
        if entry.status in {"active", "retracted"}
    }
    return [*_review(store, taught)] if taught else []


def _review(store: Store, taught: dict[str, MemoryEntry]) -> Iterator[MemoryEntry]:
    said = read_said(store.log_paths(LOG), taught)
    for entry in taught.values():
        status: Status = "active" if _is_supported(store, entry, said[entry.id]) else "retracted"
        if status != entry.status:
            yield change(store, entry.id, status=status)


def _is_supported(store: Store, entry: MemoryEntry, said: Iterable[MemoryEntry]) -> bool:
    """Return whether anything but cleared and undone checkpoints taught an entry."""
    index = store.index()
    found = [
        each
        for source in entry.sources
        for each in [index.get(source), *index.of_session(source, _MOST_REVISIONS + 1)]
        if each is not None
    ]
    if len(found) > _MOST_REVISIONS:
        return True
    # Saving gives an entry the time of its checkpoint. Anything else was added on its own.
    moments = {each.saved_at for each in found}
    if not all(line.at in moments for line in said):
        return True
    living = [each for each in found if _is_living(store, each)]
    return any(_teaches(store, checkpoint, entry) for checkpoint in _load(store, living))


def _is_living(store: Store, revision: CheckpointEntry) -> bool:
    """Return whether a revision is neither undone nor part of cleared work."""
    head = store.index().head(revision.slot)
    return revision.state != "undone" and head is not None and head.state != "cleared"


def _teaches(store: Store, checkpoint: Checkpoint, entry: MemoryEntry) -> bool:
    drafts = [each for each in build_drafts(checkpoint) if each.kind == entry.kind]
    return any(_is_same(store, draft, entry) for draft in drafts if draft.text.strip())


def _is_same(store: Store, draft: EntryDraft, entry: MemoryEntry) -> bool:
    found = twin(store, draft)
    return found is not None and found.id == entry.id


def _load(store: Store, revisions: Collection[CheckpointEntry]) -> Iterator[Checkpoint]:
    for each in revisions:
        # `leftoff list` reports checkpoints that cannot be read.
        with contextlib.suppress(LeftoffError, OSError):
            yield store.load(each)
