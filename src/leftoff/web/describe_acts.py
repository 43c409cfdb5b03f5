"""Say in words what can be undone and redone."""

import msgspec

from leftoff.threads.act_words import describe_act
from leftoff.workspace import Workspace


class DescribedAct(msgspec.Struct, frozen=True, kw_only=True):
    """An act and its description."""

    id: str
    text: str


def find_undoable(work: Workspace) -> DescribedAct | None:
    """Return the act that an undo would revert; one that changed files is left to the terminal."""
    act = work.store.index().find_undoable()
    if act is None or act.snapshots:
        return None
    return DescribedAct(id=act.act_id, text=describe_act(work.store.index(), act))


def find_redoable(work: Workspace) -> DescribedAct | None:
    """Return the act that a redo would bring back."""
    found = work.store.index().find_redoable()
    if found is None or found[1].snapshots:
        return None
    return DescribedAct(id=found[0].id, text=describe_act(work.store.index(), found[1]))
