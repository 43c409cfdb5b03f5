"""Add to the memory, query it, and change its entries."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from leftoff.checkpoint import Checkpoint
from leftoff.errors import UsageError
from leftoff.knowledge.memory.entry import (
    KINDS,
    STATUSES,
    EntryChange,
    EntryDraft,
    Kind,
    MemoryEntry,
    NoSuchEntry,
    Status,
    apply_change,
    cut_words,
    entry_of,
    id_of,
    merge_repeat,
)
from leftoff.knowledge.memory.memory_log import (
    LOG,
    MemoryIndex,
    Overlay,
    about,
    decode_line,
    line_of,
)
from leftoff.store import Store, log
from leftoff.store.database import IndexAway
from leftoff.store.search_text import match_expression

# The number of decisions in view; older ones stay in the log, where search finds them.
MOST_DECISIONS = 50
# Shorter prefixes match too much to be a deliberate choice.
_SHORTEST_PREFIX = 4


@contextlib.contextmanager
def open_index(store: Store) -> Iterator[MemoryIndex]:
    """Open the index of a project's memory."""
    index = MemoryIndex(store.find_cache_path("memory.sqlite"), store.log_paths(LOG))
    try:
        yield index
    finally:
        index.close()


def _load_known(store: Store, ids: Iterable[str]) -> Overlay:
    """Look up the current state of some entries; a save never waits for an index to be built."""
    logs = store.log_paths(LOG)
    index = MemoryIndex.at_hand(store.find_cache_path("memory.sqlite"), logs)
    if index is None:
        return about(logs, ids)
    try:
        overlay = index.with_few_news()
        if overlay is not None:
            found = {each: overlay.get(each) for each in ids}
            return Overlay(found.get)
    # The index cannot be asked right now; the log has everything.
    except IndexAway:
        pass
    finally:
        index.close()
    return about(logs, ids)


def is_sound(store: Store) -> bool:
    """Return whether the index matches the log; this reads all of the log."""
    if is_empty(store):
        return True
    with open_index(store) as index:
        return index.is_sound()


def rebuild(store: Store) -> None:
    """Rebuild the index."""
    with open_index(store) as index:
        index.rebuild()


def is_empty(store: Store) -> bool:
    """Return whether the memory was never written to, without opening anything."""
    return not any(path.exists() for path in store.log_paths(LOG))


def waiting_in(store: Store) -> Path | None:
    """Return the folder with entries that could not be written to the store, if there is one."""
    aside = store.log_paths(LOG)[1:]
    return next((path.parent for path in aside if path.exists()), None)


def count_unreadable(store: Store) -> log.SkippedLines:
    """Count the unreadable lines of the store's log; a torn last line does not count yet."""
    return log.count_skipped(store.log_paths(LOG)[0], decode_line)


def add(
    store: Store, drafts: Iterable[EntryDraft], *, status: Status = "active"
) -> list[MemoryEntry]:
    """Store entries durably; return those that are new.

    A known entry gains a source, and becomes active if it was queued. A rejected or superseded
    entry does not come back.
    """
    entries = [entry_of(draft, now=store.now(), status=status) for draft in drafts]
    if not entries:
        return []
    new: dict[str, MemoryEntry] = {}
    lines: list[bytes] = []
    overlay = _load_known(store, [entry.id for entry in entries])
    for entry in entries:
        known = overlay.get(entry.id)
        merged = entry if known is None else merge_repeat(known, entry)
        if merged == known:
            continue
        overlay.put(merged)
        lines.append(line_of(entry))
        if known is None or known.status != merged.status or known.id in new:
            new[merged.id] = merged
    if lines:
        store.append_line(LOG, b"\n".join(lines))
    return list(new.values())


def learn(store: Store, *checkpoints: Checkpoint) -> list[MemoryEntry]:
    """Remember the decisions and failed approaches of saved checkpoints; return the new entries."""
    drafts = [draft for checkpoint in checkpoints for draft in build_drafts(checkpoint)]
    return add(store, [draft for draft in drafts if draft.text.strip()])


def build_drafts(checkpoint: Checkpoint) -> Iterator[EntryDraft]:
    """Yield what a checkpoint teaches: its decisions and failed approaches."""
    # A session saves the same state many times; it counts as one source.
    sources = [checkpoint.session_id or checkpoint.id]
    for decision in checkpoint.decisions:
        yield EntryDraft(
            kind="decision",
            at=checkpoint.saved_at,
            text=decision.what,
            why=decision.why,
            alternatives=decision.alternatives,
            impact=decision.impact,
            feature=checkpoint.feature,
            sources=sources,
        )
    for failure in checkpoint.failed:
        # A failing test or a push without a remote is not an approach to avoid.
        if failure.origin == "observed":
            continue
        yield EntryDraft(
            kind="failure",
            at=checkpoint.saved_at,
            text=failure.what,
            why=failure.why,
            feature=checkpoint.feature,
            sources=sources,
            files=checkpoint.files_modified[:_FILES],
        )


# Files in use when an approach failed; more than a few say nothing about the failure.
_FILES = 10


def entries(
    store: Store,
    *,
    kinds: Iterable[Kind] | None = None,
    statuses: Iterable[Status] = ("active",),
    feature: str | None = None,
    limit: int | None = None,
) -> list[MemoryEntry]:
    """Return entries, most recently added first."""
    if is_empty(store):
        return []
    with open_index(store) as index:
        index.sync()
        return index.newest(_list_kinds(kinds), statuses, feature=feature, limit=limit)


def count_waiting_rules(store: Store) -> int:
    """Return how many rules wait for review; those that a file switches off do not."""
    waiting = entries(store, kinds=("rule",), statuses=("queued",))
    return sum(FORMER_ID not in each.extra for each in waiting)


def _list_kinds(kinds: Iterable[Kind] | None) -> list[Kind]:
    return list(KINDS if kinds is None else dict.fromkeys(kinds))


def from_source(store: Store, source: str) -> list[MemoryEntry]:
    """Return all entries from a session or checkpoint, whatever their status, newest first."""
    if is_empty(store):
        return []
    with open_index(store) as index:
        index.sync()
        return index.from_source(source)


def overview(store: Store, limits: Mapping[Kind, int]) -> dict[Kind, list[MemoryEntry]]:
    """Return the newest active entries of several kinds at once, newest first."""
    if is_empty(store):
        return {kind: [] for kind in limits}
    with open_index(store) as index:
        index.sync()
        return {
            kind: index.newest([kind], ["active"], limit=limit) for kind, limit in limits.items()
        }


def search(
    store: Store,
    words: str,
    *,
    kinds: Iterable[Kind] | None = None,
    statuses: Iterable[Status] = ("active",),
    limit: int | None = 20,
) -> list[MemoryEntry]:
    """Find entries by words, newest first; all words must occur, the last one may be a prefix."""
    match = match_expression(words)
    if not match or is_empty(store):
        return []
    with open_index(store) as index:
        index.sync()
        return index.search(f"{match} AND {among(_list_kinds(kinds), statuses)}", limit=limit)


def among(kinds: Iterable[str], statuses: Iterable[str]) -> str:
    """Narrow a full-text query to kinds and statuses."""
    asked = (("kind", kinds), ("status", statuses))
    return " AND ".join(
        f"({' OR '.join(f'{column} : {value}' for value in values)})" for column, values in asked
    )


def twin(store: Store, draft: EntryDraft) -> MemoryEntry | None:
    """Return the entry with the same words, whatever its status."""
    if is_empty(store):
        return None
    entry_id = id_of(draft.kind, cut_words(draft.text))
    return _load_known(store, [entry_id]).get(entry_id)


def find(store: Store, entry_id: str) -> MemoryEntry:
    """Return the entry with this id or id prefix, or raise with the ids that exist."""
    key = entry_id.strip().lower()
    found = [] if is_empty(store) else _matches(store, key)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(entry.id for entry in found[:5])
        raise NoSuchEntry(f"Several entries begin with '{key}': {ids}", hint="Type more of the id.")
    if 0 < len(key) < _SHORTEST_PREFIX:
        raise NoSuchEntry(
            f"'{entry_id}' is too short to identify an entry.",
            hint=f"Type at least {_SHORTEST_PREFIX} characters of the id.",
        )
    raise NoSuchEntry(
        f"The memory has no entry '{entry_id}'",
        hint="`leftoff memory list --all` lists them all.",
    )


def _matches(store: Store, key: str) -> list[MemoryEntry]:
    with open_index(store) as index:
        index.sync()
        exact = index.get(key)
        if exact is not None:
            return [exact]
        return index.with_prefix(key) if len(key) >= _SHORTEST_PREFIX else []


def change(  # noqa: PLR0913 - one keyword for each thing that can change
    store: Store,
    entry_id: str,
    *,
    status: Status | None = None,
    text: str | None = None,
    why: str | None = None,
    by: str | None = None,
) -> MemoryEntry:
    """Approve, edit, reject or supersede an entry; the log keeps its previous state."""
    known = find(store, entry_id)
    change = EntryChange(
        id=known.id,
        at=store.now(),
        status=status,
        text=None if text is None else _check_words(store, known, text),
        why=None if why is None else cut_words(why),
        by=_find_successor(store, known, by) if status == "superseded" else None,
    )
    new = apply_change(known, change)
    if new != known:
        store.append_line(LOG, line_of(change))
    return new


def _check_words(store: Store, known: MemoryEntry, text: str) -> str:
    words = cut_words(text)
    if not words:
        raise UsageError("The new text is empty.")
    other = twin(store, EntryDraft(kind=known.kind, text=words))
    if other is not None and other.id != known.id:
        raise UsageError(
            f"Entry {other.id} already says the same.",
            hint=f"Run `leftoff memory supersede {known.id} {other.id}` to keep just one.",
        )
    return words


def _find_successor(store: Store, known: MemoryEntry, by: str | None) -> str:
    if not by:
        raise UsageError("Name the entry that replaces it.", hint="Pass the id of the new entry.")
    successor = find(store, by)
    if successor.id == known.id:
        raise UsageError("An entry cannot replace itself.")
    if successor.superseded_by == known.id:
        raise UsageError(
            f"Entry {successor.id} was superseded by this one.",
            hint=f"Run `leftoff memory approve {successor.id}` first to restore it.",
        )
    return successor.id


# --- importing what the files of other systems remember ---


FORMER_ID = "former_id"
"""The key under which an entry keeps its id from the other system."""


def import_entries(
    store: Store, drafts: Sequence[EntryDraft], *, status: Status = "active", is_edit: bool = False
) -> list[MemoryEntry]:
    """Import entries from other files; return those that are new.

    An entry with a known id from the other system but different words was reworded there. With
    `is_edit`, somebody edited one of leftoff's files, and its details replace those known here.
    """
    kept = [draft for draft in drafts if draft.text.strip()]
    if is_empty(store) or not kept:
        return add(store, kept, status=status)
    new: list[EntryDraft] = []
    reworded: list[tuple[MemoryEntry, EntryDraft]] = []
    edited: list[tuple[MemoryEntry, EntryDraft]] = []
    formers = _find_formers(store, kept)
    with open_index(store) as index:
        index.sync()
        for draft in kept:
            former = draft.extra.get(FORMER_ID)
            twin = index.get(id_of(draft.kind, cut_words(draft.text)))
            other = formers.get((draft.kind, former)) or index.get(former) if former else None
            if twin is None and other is not None and other.kind == draft.kind:
                reworded.append((other, draft))
            elif twin is not None and is_edit:
                edited.append((twin, draft))
            elif twin is None or twin.id != former:
                new.append(draft)
    for entry, draft in reworded:
        change(store, entry.id, text=draft.text, why=draft.why or None)
    for entry, draft in [*edited, *reworded]:
        _adopt_details(store, entry, draft)
    return add(store, [*new, *(draft for _, draft in edited)], status=status)


def _adopt_details(store: Store, known: MemoryEntry, draft: EntryDraft) -> None:
    """Replace what is known about an entry with what a draft says; what it omits stays."""
    said = entry_of(draft, now=store.now(), status=known.status)
    change = EntryChange(
        id=known.id,
        at=store.now(),
        why=said.why or None,
        feature=said.feature,
        impact=said.impact,
        alternatives=said.alternatives,
        files=said.files,
        relations=said.relations,
    )
    if apply_change(known, change) != known:
        store.append_line(LOG, line_of(change))


def _find_formers(store: Store, drafts: Iterable[EntryDraft]) -> dict[tuple[str, str], MemoryEntry]:
    """Return the entries imported earlier, by their ids in the other system."""
    kinds = {draft.kind for draft in drafts if draft.extra.get(FORMER_ID)}
    found = entries(store, kinds=kinds, statuses=STATUSES) if kinds else []
    return {
        (entry.kind, former): entry
        for entry in reversed(found)
        if isinstance(former := entry.extra.get(FORMER_ID), str)
    }
