"""Plan the event that undoes the newest act, or redoes what was undone last."""

from datetime import datetime

from leftoff.store.index import StoreIndex
from leftoff.store.layout import StoreEvent, build_event


def plan_undo(index: StoreIndex, now: datetime) -> tuple[StoreEvent, StoreEvent] | None:
    """Return the newest act, and the event that undoes it."""
    act = index.find_undoable()
    if act is None:
        return None
    hides = list_hidden(index, act)
    if act.act is not None:
        # The events of the act say what it saved; that may be too much for one line.
        own = {*act.ids}
        later = [each for each in hides if each not in own]
        return act, build_event(now, "undone", [], of=act.act, hides=later)
    touched = [*act.ids, *([act.replaced] if act.replaced else [])]
    return act, build_event(now, "undone", touched, of=act.id, hides=hides)


def plan_redo(index: StoreIndex, now: datetime) -> tuple[StoreEvent, StoreEvent] | None:
    """Return the act that was undone last, and the event that brings it back."""
    found = index.find_redoable()
    if found is None:
        return None
    undone, act = found
    saved = [] if act.act is not None else act.ids
    touched = [*dict.fromkeys([*saved, *undone.ids, *undone.hides])]
    return act, build_event(now, "redone", touched, of=undone.id)


def list_hidden(index: StoreIndex, act: StoreEvent) -> list[str]:
    """Return the revisions that undoing an act hides.

    Autosaves continue from the newest revision. Undoing a save therefore also hides the later
    autosaves of the same work; otherwise what was saved would still be shown.
    """
    if act.action != "saved":
        return []
    if act.trigger == "import" and act.act is not None:
        # Imported checkpoints are as old as their files: what is newer does not come from them.
        return act.ids
    found = [entry for each in act.ids if (entry := index.get(each))]
    later = [
        each.id
        for entry in found
        for each in index.revisions(entry.slot)
        if each.id > entry.id and each.state != "undone"
    ]
    return [*act.ids, *later]
