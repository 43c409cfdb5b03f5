"""Define the events of the store's log: one JSON line for each change to a checkpoint."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

import msgspec

Action = Literal[
    "saved", "resumed", "declined", "consumed", "cleared", "restored", "undone", "purged"
]
State = Literal["open", "resumed", "declined", "consumed", "cleared", "undone"]

# The state that each action puts its checkpoints in.
STATE_AFTER: dict[Action, State] = {
    "saved": "open",
    "resumed": "resumed",
    "declined": "declined",
    "consumed": "consumed",
    "cleared": "cleared",
    "restored": "open",
}
LISTED: frozenset[State] = frozenset({"open", "resumed", "declined"})
TRASHED: frozenset[State] = frozenset({"consumed", "cleared", "undone"})


class StoreEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log.

    `of` is the event that an undo reverts; `replaced` is the revision that a save replaced.
    """

    id: str
    at: datetime
    action: Action
    ids: list[str] = []
    name: str | None = None
    replaced: str | None = None
    of: str | None = None
    agent: str | None = None
    session_id: str | None = None

    @property
    def can_be_undone(self) -> bool:
        """Whether `undo` can revert this event: it hid, replaced or restored a checkpoint."""
        if self.action == "saved":
            return self.replaced is not None
        return self.action in {"consumed", "cleared", "declined", "restored"}

    @property
    def brings_back(self) -> list[str]:
        """The checkpoints that undoing this event shows again; purged ones cannot come back."""
        return self.ids if self.replaced is None else [self.replaced]


def fold(events: Iterable[StoreEvent]) -> dict[str, State]:
    """Return the state of each checkpoint after these events; repeated events count once."""
    # A line that was written but not synced is written again to the fallback.
    known = {event.id: event for event in events}
    reverted = {event.of for event in known.values() if event.action == "undone"}
    states: dict[str, State] = {}
    for event in known.values():
        if event.action == "undone":
            undone = known.get(event.of or "")
            # Undoing an overwrite hides its revision. Any other undone event counts as if it never
            # happened.
            if undone is not None and undone.action == "saved":
                states.update(dict.fromkeys(undone.ids, "undone"))
        elif event.action in STATE_AFTER and (event.id not in reverted or event.action == "saved"):
            states.update(dict.fromkeys(event.ids, STATE_AFTER[event.action]))
    return states


decode = msgspec.json.Decoder(StoreEvent).decode
