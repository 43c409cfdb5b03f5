"""Taking in: what other systems' files remember."""

from collections.abc import Iterable, Sequence

from leftoff.memory.api import add, change, entries, is_empty, opened
from leftoff.memory.entry import STATUSES, Draft, Entry, Status, cut_words, id_of
from leftoff.store import Store

FORMER_ID = "former_id"
"""Under which key an entry tells the id it has where it comes from."""


def take_in(store: Store, drafts: Sequence[Draft], *, status: Status = "active") -> list[Entry]:
    """Remember what other files hold; return what is new.

    What is known by the id that it has there, and says something else now, was reworded.
    """
    told = [draft for draft in drafts if draft.text.strip()]
    if is_empty(store) or not told:
        return add(store, told, status=status)
    new: list[Draft] = []
    reworded: list[tuple[Entry, Draft]] = []
    formers = _formers(store, told)
    with opened(store) as index:
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


def _formers(store: Store, drafts: Iterable[Draft]) -> dict[tuple[str, str], Entry]:
    """Return the entries that came from files before, by the id they have there."""
    kinds = {draft.kind for draft in drafts if draft.extra.get(FORMER_ID)}
    found = entries(store, kinds=kinds, statuses=STATUSES) if kinds else []
    return {
        (entry.kind, former): entry
        for entry in reversed(found)
        if isinstance(former := entry.extra.get(FORMER_ID), str)
    }
