"""The event log: what happened to checkpoints after they were saved, one JSON line each."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.store import disk

Action = Literal[
    "saved", "resumed", "declined", "consumed", "cleared", "restored", "undone", "purged"
]
State = Literal["open", "resumed", "declined", "consumed", "cleared", "undone"]

# What each action makes of the checkpoints it names.
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


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log.

    `of` names the event that an undo reverts, `replaced` the revision that a save replaced.
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
        """Whether `undo` may revert it: whatever took something out of the user's sight."""
        if self.action == "saved":
            return self.replaced is not None
        return self.action in {"consumed", "cleared", "declined", "restored"}

    @property
    def brings_back(self) -> list[str]:
        """What is seen again, or otherwise, once it is undone; if purged, nothing can be."""
        return self.ids if self.replaced is None else [self.replaced]


def fold(events: Iterable[Event]) -> dict[str, State]:
    """Tell the state each checkpoint is in after these events, the same event told twice or not."""
    known = {event.id: event for event in events}
    reverted = {event.of for event in known.values() if event.action == "undone"}
    states: dict[str, State] = {}
    for event in known.values():
        if event.action == "undone":
            undone = known.get(event.of or "")
            # An overwrite undone hides its revision; anything else undone never happened.
            if undone is not None and undone.action == "saved":
                states.update(dict.fromkeys(undone.ids, "undone"))
        elif event.action in STATE_AFTER and (event.id not in reverted or event.action == "saved"):
            states.update(dict.fromkeys(event.ids, STATE_AFTER[event.action]))
    return states


_decoder = msgspec.json.Decoder(Event)
_CHUNK_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 64 << 20
_NO_END = 1 << 62


def append(log: Path, event: Event, *, durable: bool) -> tuple[int, int]:
    """Write an event to the end of the log; return where it begins and ends."""
    return disk.append(log, msgspec.json.encode(event), durable=durable)


def read(log: Path, offset: int = 0) -> tuple[list[Event], int]:
    """Read whole lines from an offset; return the events and the offset after them.

    A torn last line waits for the next reading; a line that is no event is skipped.
    """
    told: list[Event] = []
    for lines, end in chunks(log, offset, _NO_END):
        told += [event for line in lines if (event := parse(line))]
        offset = end
    return told, offset


def chunks(log: Path, offset: int, end: int = _NO_END) -> Iterator[tuple[list[bytes], int]]:
    """Yield the whole lines between two places of a log, a part at a time, and where each ends.

    A line that is too long to be an event is skipped, without being held in memory.
    """
    size = _CHUNK_BYTES
    while offset < end:
        data = disk.read_from(log, offset, limit=min(size, end - offset))
        whole = data.rfind(b"\n") + 1
        if not whole:
            if len(data) < size:
                return  # a torn last line
            if size < _LONGEST_LINE_BYTES:
                size *= 2  # a line that names thousands of checkpoints
                continue
            del data
            after = _end_of_line(log, offset + size, end)
            if after is None:
                return  # a torn last line
            offset, size = after, _CHUNK_BYTES
            yield [], offset
            continue
        offset += whole
        yield data[:whole].split(b"\n"), offset


def _end_of_line(log: Path, offset: int, end: int) -> int | None:
    """Return where the next line begins; None if there is none."""
    while offset < end:
        data = disk.read_from(log, offset, limit=min(_CHUNK_BYTES, end - offset))
        found = data.find(b"\n")
        if found >= 0:
            return offset + found + 1
        if not data:
            return None
        offset += len(data)
    return None


def parse(line: bytes) -> Event | None:
    """Read one line; None if it is no event."""
    try:
        return _decoder.decode(line) if line.strip() else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
