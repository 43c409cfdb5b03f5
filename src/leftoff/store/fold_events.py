"""Derive from the events the state of each checkpoint, and the acts to undo or redo."""

from collections.abc import Iterable, Iterator

from leftoff.store.layout import STATE_AFTER, State, StoreEvent


def list_undoable(newest_first: Iterable[StoreEvent]) -> Iterator[StoreEvent]:
    """Yield the acts that are in force, newest first; of one with several events, the newest."""
    redone: set[str | None] = set()
    reverted: set[str | None] = set()
    for event in newest_first:
        if event.action == "redone":
            redone.add(event.of)
        elif event.action == "undone":
            reverted.update({event.of} if event.id not in redone else ())
        elif event.is_act and event.act_id not in reverted:
            reverted.add(event.act_id)
            yield event


def list_redoable(newest_first: Iterable[StoreEvent]) -> Iterator[StoreEvent]:
    """Yield the undo events that can be reverted, newest first: those after the last new act."""
    redone: set[str | None] = set()
    for event in newest_first:
        if event.action == "redone":
            redone.add(event.of)
        elif event.action == "undone":
            if event.id not in redone:
                yield event
        elif event.is_act:
            return


def fold_events(events: Iterable[StoreEvent]) -> dict[str, State]:
    """Return the state of each checkpoint after these events; repeated events count once."""
    # A line that was written but not synced is written again to the fallback.
    known = {event.id: event for event in events}
    redone = {event.of for event in known.values() if event.action == "redone"}
    reverted = {
        event.of for event in known.values() if event.action == "undone" and event.id not in redone
    }
    together = _list_together(known.values())
    states: dict[str, State] = {}
    for event in known.values():
        if event.action == "undone":
            if event.id not in redone:
                states.update(dict.fromkeys(_list_hidden(event, known, together), "undone"))
        elif event.action in STATE_AFTER and (
            event.act_id not in reverted or event.action == "saved"
        ):
            states.update(dict.fromkeys(event.ids, STATE_AFTER[event.action]))
    return states


def list_reverted(events: Iterable[StoreEvent]) -> set[str | None]:
    """Return the ids of the events that an undo reverted and no redo brought back."""
    known = [*events]
    redone = {event.of for event in known if event.action == "redone"}
    return {event.of for event in known if event.action == "undone" and event.id not in redone}


def _list_together(events: Iterable[StoreEvent]) -> dict[str, list[str]]:
    """Return what each act with several events saved.

    An undo of it does not repeat these ids. An import may have saved thousands, and the events of a
    checkpoint are read again whenever its state changes.
    """
    together: dict[str, list[str]] = {}
    for event in events:
        if event.act is not None and event.action == "saved":
            together.setdefault(event.act, []).extend(event.ids)
    return together


def _list_hidden(
    event: StoreEvent, known: dict[str, StoreEvent], together: dict[str, list[str]]
) -> list[str]:
    """Return the revisions that an undo hides; any other undone event just never happened."""
    if event.hides or event.of in together:
        return [*event.hides, *together.get(event.of or "", [])]
    # Version 0.1 did not record what an undo hides.
    undone = known.get(event.of or "")
    return undone.ids if undone is not None and undone.action == "saved" else []
