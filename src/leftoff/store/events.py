"""Define the events of the store's log: one JSON line for each change to a checkpoint."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

import msgspec

Action = Literal[
    "saved", "resumed", "declined", "consumed", "cleared", "dropped", "restored", "undone",
    "redone", "purged",
]  # fmt: skip
State = Literal["open", "resumed", "declined", "consumed", "cleared", "dropped", "undone"]

# The state that each action puts its checkpoints in.
STATE_AFTER: dict[Action, State] = {
    "saved": "open",
    "resumed": "resumed",
    "declined": "declined",
    "consumed": "consumed",
    "cleared": "cleared",
    "dropped": "dropped",
    "restored": "open",
}
LISTED: frozenset[State] = frozenset({"open", "resumed", "declined"})
TRASHED: frozenset[State] = frozenset({"consumed", "cleared", "dropped", "undone"})
# The actions that a person or agent takes on purpose, besides saving.
_ACTS: frozenset[Action] = frozenset(
    {"resumed", "declined", "consumed", "cleared", "dropped", "restored"}
)


class StoreEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log.

    `of` is the event that an undo or redo reverts; `replaced` is the revision that a save replaced.
    `hides` are the revisions that undoing a save hides: its own, and later autosaves of the work.
    `trigger` is why a checkpoint was saved; None means on purpose.
    """

    id: str
    at: datetime
    action: Action
    ids: list[str] = []
    name: str | None = None
    replaced: str | None = None
    of: str | None = None
    hides: list[str] = []
    trigger: str | None = None
    agent: str | None = None
    session_id: str | None = None

    @property
    def is_act(self) -> bool:
        """Whether somebody did this on purpose, so that `undo` can revert it.

        Autosaves are not acts: `undo` must revert what you did last, not what a hook did since.
        """
        if self.action != "saved":
            return self.action in _ACTS
        if self.trigger == "import":
            # An edit of a native file. A whole import is no single act.
            return self.replaced is not None
        return self.trigger == "ship" or (self.trigger is None and self.name is not None)

    @property
    def is_step(self) -> bool:
        """Whether it is an act, or the undo or redo of one."""
        return self.is_act or self.action in {"undone", "redone"}


def list_undoable(newest_first: Iterable[StoreEvent]) -> Iterator[StoreEvent]:
    """Yield the acts that are in force, newest first."""
    redone: set[str | None] = set()
    reverted: set[str | None] = set()
    for event in newest_first:
        if event.action == "redone":
            redone.add(event.of)
        elif event.action == "undone":
            reverted.update({event.of} if event.id not in redone else ())
        elif event.is_act and event.id not in reverted:
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


def fold(events: Iterable[StoreEvent]) -> dict[str, State]:
    """Return the state of each checkpoint after these events; repeated events count once."""
    # A line that was written but not synced is written again to the fallback.
    known = {event.id: event for event in events}
    redone = {event.of for event in known.values() if event.action == "redone"}
    reverted = {
        event.of for event in known.values() if event.action == "undone" and event.id not in redone
    }
    states: dict[str, State] = {}
    for event in known.values():
        if event.action == "undone":
            if event.id not in redone:
                states.update(dict.fromkeys(_list_hidden(event, known), "undone"))
        elif event.action in STATE_AFTER and (event.id not in reverted or event.action == "saved"):
            states.update(dict.fromkeys(event.ids, STATE_AFTER[event.action]))
    return states


def _list_hidden(event: StoreEvent, known: dict[str, StoreEvent]) -> list[str]:
    """Return the revisions that an undo hides; any other undone event just never happened."""
    if event.hides:
        return event.hides
    # Version 0.1 did not record what an undo hides.
    undone = known.get(event.of or "")
    return undone.ids if undone is not None and undone.action == "saved" else []


decode = msgspec.json.Decoder(StoreEvent).decode
