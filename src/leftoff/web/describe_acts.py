"""Say in words what can be undone and redone on the page of a thread."""

import msgspec

from leftoff.store import StoreEvent, StoreIndex
from leftoff.threads.act_words import describe_act
from leftoff.workspace import Workspace


class DescribedAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act and its description."""

    id: str
    text: str


def find_undoable(work: Workspace, slot: str) -> DescribedAct | None:
    """Return the act that an undo would revert, if it is one of this thread."""
    index = work.store.index()
    act = index.find_undoable()
    if act is None or not _is_offered(index, act, slot):
        return None
    return DescribedAct(id=act.act_id, text=describe_act(index, act))


def find_redoable(work: Workspace, slot: str) -> DescribedAct | None:
    """Return the act that a redo would bring back, if it is one of this thread."""
    index = work.store.index()
    found = index.find_redoable()
    if found is None or not _is_offered(index, found[1], slot):
        return None
    return DescribedAct(id=found[0].id, text=describe_act(index, found[1]))


def _is_offered(index: StoreIndex, act: StoreEvent, slot: str) -> bool:
    """Return whether an act is of this thread; one that changed files is left to the terminal."""
    touched = (index.get(each) for each in act.ids)
    return not act.snapshots and any(each is not None and each.slot == slot for each in touched)
