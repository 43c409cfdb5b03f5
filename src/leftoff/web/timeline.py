"""Lay out what happened in a thread: one lane for each agent, and one for the code."""

import itertools
import math
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.snapshots.shelf import Snapshot, describe_reason
from leftoff.store import BY_HAND_OVER, CheckpointEntry, StoreEvent

CODE = "code"
YOU = "you"
_MINUTE = 60.0
# Marks at the same moment are drawn beside each other.
_LEAST_STEP = 0.35
_LONG_PAUSE = 4 * 3600.0
_MARGIN = 2.5
_SAVES = {"precompact": "compaction", "recovered": "crash", "ship": "ship"}
_WORDS = {
    "manual": "Saved",
    "precompact": "Saved before a compaction",
    "context": "Saved as the context filled up",
    "close": "Saved when you said goodbye",
    "idle": "Saved after a pause",
    "long-command": "Saved before a long command",
    "session-end": "Saved at the end of the session",
    "recovered": "The session died; its work was recovered",
    "ship": "Shipped",
    "import": "Imported",
}
_ACTIONS = {
    "consumed": ("done", "Marked as done"),
    "cleared": ("ended", "Cleared"),
    "dropped": ("ended", "Dropped"),
    "declined": ("ended", "Declined"),
    "restored": ("resume", "Restored"),
}


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    at: datetime
    kind: str
    lane: str
    text: str
    session: str | None = None
    id: str = ""


class PlacedMark(msgspec.Struct, frozen=True, kw_only=True):
    """A mark and where it is drawn, in percent of the width."""

    mark: Mark
    x: float


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """The time between the first and the last mark of a session."""

    left: float
    width: float
    session: str


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent did, or what happened to the code."""

    name: str
    marks: list[PlacedMark]
    bars: list[Bar]


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """A long time in which nothing happened; it is drawn shorter than it was."""

    x: float
    text: str


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """All lanes, and the place of every moment."""

    lanes: list[Lane]
    pauses: list[Pause]
    places: dict[datetime, float]
    marks: list[Mark]


def collect_marks(
    revisions: Iterable[CheckpointEntry],
    events: Iterable[StoreEvent],
    checkpoints: Iterable[Checkpoint],
    snapshots: Iterable[Snapshot],
) -> list[Mark]:
    """Return everything that happened in a thread, oldest first."""
    found = [
        *(_mark_save(each) for each in revisions if each.state != "undone"),
        *(mark for each in events if (mark := _mark_event(each)) is not None),
        *_mark_commits(checkpoints),
        *(_mark_snapshot(each) for each in snapshots),
    ]
    return sorted(found, key=lambda mark: mark.at)


def _mark_save(entry: CheckpointEntry) -> Mark:
    trigger = entry.trigger or "manual"
    kind = _SAVES.get(trigger, "autosave" if entry.is_autosave else "save")
    return Mark(
        # A session is found dead later than it died.
        at=entry.as_of if kind == "crash" else entry.saved_at,
        kind=kind,
        lane=entry.agent or YOU,
        text=_WORDS.get(trigger, "Saved"),
        session=entry.session_id,
        id=entry.id,
    )


def _mark_event(event: StoreEvent) -> Mark | None:
    lane, session = event.agent or YOU, event.session_id
    if event.action == "resumed":
        is_handed = event.trigger == BY_HAND_OVER
        kind = "handover" if is_handed else "resume"
        text = f"Handed over to {event.agent}" if is_handed else "Resumed"
        return Mark(at=event.at, kind=kind, lane=lane, text=text, session=session)
    if event.action in _ACTIONS:
        kind, text = _ACTIONS[event.action]
        return Mark(at=event.at, kind=kind, lane=lane, text=text, session=session)
    return None


def _mark_commits(checkpoints: Iterable[Checkpoint]) -> Iterable[Mark]:
    """Yield a mark where HEAD was another commit than at the save before."""
    before: str | None = None
    for each in sorted(checkpoints, key=lambda each: each.id):
        commit = each.last_commit
        if before is not None and each.head not in {None, before} and commit is not None:
            text = f"Commit {commit.sha[:8]} {commit.subject}".strip()
            yield Mark(at=each.saved_at, kind="commit", lane=CODE, text=text)
        before = each.head or before


def _mark_snapshot(snapshot: Snapshot) -> Mark:
    text = f"Snapshot {snapshot.short_id} {describe_reason(snapshot)}"
    return Mark(at=snapshot.at, kind="snapshot", lane=CODE, text=text, session=snapshot.session)


def lay_out(marks: Sequence[Mark]) -> Timeline:
    """Place all marks on one axis, on which long pauses are shortened."""
    moments = sorted({mark.at for mark in marks})
    places = _place(moments)
    names = [*dict.fromkeys(mark.lane for mark in marks if mark.lane != CODE)]
    names += [CODE] if any(mark.lane == CODE for mark in marks) else []
    return Timeline(
        lanes=[_make_lane(name, marks, places) for name in names],
        pauses=_find_pauses(moments, places),
        places=places,
        marks=[*marks],
    )


def _place(moments: Sequence[datetime]) -> dict[datetime, float]:
    """Return a place for each moment; the logarithm makes a day ten times as wide as a minute."""
    steps = [0.0]
    for before, after in itertools.pairwise(moments):
        seconds = (after - before).total_seconds()
        steps.append(steps[-1] + max(_LEAST_STEP, math.log1p(seconds / _MINUTE)))
    if not steps[-1]:
        return dict.fromkeys(moments, 50.0)
    scale = (100 - 2 * _MARGIN) / steps[-1]
    return {
        moment: round(_MARGIN + step * scale, 2)
        for moment, step in zip(moments, steps, strict=False)
    }


def _make_lane(name: str, marks: Sequence[Mark], places: dict[datetime, float]) -> Lane:
    own = [PlacedMark(mark=mark, x=places[mark.at]) for mark in marks if mark.lane == name]
    sessions: dict[str, list[float]] = {}
    for each in own:
        if each.mark.session and name != CODE:
            sessions.setdefault(each.mark.session, []).append(each.x)
    bars = [
        Bar(left=min(found), width=round(max(found) - min(found), 2), session=session)
        for session, found in sessions.items()
    ]
    return Lane(name=name, marks=own, bars=bars)


def _find_pauses(moments: Sequence[datetime], places: dict[datetime, float]) -> list[Pause]:
    return [
        Pause(x=round((places[before] + places[after]) / 2, 2), text=_format_pause(seconds))
        for before, after in itertools.pairwise(moments)
        if (seconds := (after - before).total_seconds()) >= _LONG_PAUSE
    ]


def _format_pause(seconds: float) -> str:
    return f"{seconds / 3600:.0f} h" if seconds < 86_400 else f"{seconds / 86_400:.0f} d"
