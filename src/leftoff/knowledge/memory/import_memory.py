"""Import what the files of other systems remember."""

from collections.abc import Iterable, Sequence

from leftoff.knowledge.memory.api import add, change, entries, is_empty, open_index
from leftoff.knowledge.memory.entry import (
    STATUSES,
    EntryDraft,
    MemoryEntry,
    Status,
    cut_words,
    id_of,
)
from leftoff.store import Store

FORMER_ID = "former_id"
"""The key under which an entry keeps its id from the other system."""


def import_entries(
    store: Store, drafts: Sequence[EntryDraft], *, status: Status = "active"
) -> list[MemoryEntry]:
    """Import entries from other files; return those that are new.

    An entry with a known id from the other system but different words was reworded there.
    """
    kept = [draft for draft in drafts if draft.text.strip()]
    if is_empty(store) or not kept:
        return add(store, kept, status=status)
    new: list[EntryDraft] = []
    reworded: list[tuple[MemoryEntry, EntryDraft]] = []
    formers = _formers(store, kept)
    with open_index(store) as index:
        index.sync()
        for draft in kept:
            former = draft.extra.get(FORMER_ID)
            twin = index.get(id_of(draft.kind, cut_words(draft.text)))
            other = formers.get((draft.kind, former)) or index.get(former) if former else None
            if twin is None and other is not None and other.kind == draft.kind:
                reworded.append((other, draft))
            elif twin is None or twin.id != former:
                new.append(draft)
    for entry, draft in reworded:
        change(store, entry.id, text=draft.text, why=draft.why or None)
    return add(store, new, status=status)


def _formers(store: Store, drafts: Iterable[EntryDraft]) -> dict[tuple[str, str], MemoryEntry]:
    """Return the entries imported earlier, by their ids in the other system."""
    kinds = {draft.kind for draft in drafts if draft.extra.get(FORMER_ID)}
    found = entries(store, kinds=kinds, statuses=STATUSES) if kinds else []
    return {
        (entry.kind, former): entry
        for entry in reversed(found)
        if isinstance(former := entry.extra.get(FORMER_ID), str)
    }
