"""Taking in: what other systems' files remember."""

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
"""Under which key an entry tells the id it has where it comes from."""


def import_entries(
    store: Store, drafts: Sequence[EntryDraft], *, status: Status = "active"
) -> list[MemoryEntry]:
    """Remember what other files hold; return what is new.

    What is known by the id that it has there, and says something else now, was reworded.
    """
    told = [draft for draft in drafts if draft.text.strip()]
    if is_empty(store) or not told:
        return add(store, told, status=status)
    new: list[EntryDraft] = []
    reworded: list[tuple[MemoryEntry, EntryDraft]] = []
    formers = _formers(store, told)
    with open_index(store) as index:
        index.sync()
        for draft in told:
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
    """Return the entries that came from files before, by the id they have there."""
    kinds = {draft.kind for draft in drafts if draft.extra.get(FORMER_ID)}
    found = entries(store, kinds=kinds, statuses=STATUSES) if kinds else []
    return {
        (entry.kind, former): entry
        for entry in reversed(found)
        if isinstance(former := entry.extra.get(FORMER_ID), str)
    }
