"""Count what a project's store says about its work: threads, sessions, saves, context and time.

Nothing here is estimated. Times are a lower bound: the time between two moments at which a session
was seen counts only if it is short, because a longer one may have been a pause.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import msgspec

from leftoff.checkpoint import AUTOMATIC
from leftoff.errors import LeftoffError
from leftoff.session import records
from leftoff.store import CheckpointEntry, Store

# Between two saves of one working session there is rarely more.
_LONGEST_GAP = timedelta(minutes=30)
_MOST_CHECKPOINTS = 100_000
_DIED, _COMPACTED = "recovered", "precompact"
LADDER = ((0, "below 60 %"), (60, "60 to 70 %"), (70, "70 to 90 %"), (90, "90 % and more"))
"""The steps of the context ladder, and what to call them."""

OnCheckpoint = Callable[[int], None]


class TimeKept(msgspec.Struct, frozen=True, kw_only=True):
    """How many hours at least were spent in how many sessions."""

    hours: float = 0.0
    sessions: int = 0


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a project since a day."""

    since: datetime
    until: datetime
    threads: dict[str, int]
    """The threads with a save in this time, by their state now."""
    agents: dict[str, int]
    """The sessions with a save in this time, by agent."""
    triggers: dict[str, int]
    """The saves, by why they were made."""
    saves_by_day: list[int]
    context_by_day: list[float]
    """The highest context use that a save recorded each day; 0 if none did."""
    peaks: dict[str, int]
    """The sessions, by how full their context got."""
    compactions: int
    """How many compactions hooks saw, or transcripts hold."""
    automatic: TimeKept
    """Sessions that only automatic saves kept."""
    recovered: TimeKept
    """Those of them that died without a save, and were recovered."""

    @property
    def saves(self) -> int:
        """How many saves there were."""
        return sum(self.triggers.values())

    @property
    def by_hand(self) -> int:
        """How many of them somebody asked for."""
        return sum(count for why, count in self.triggers.items() if why not in AUTOMATIC)


class _SessionSeen(msgspec.Struct, kw_only=True):
    """What the saves of one session say."""

    agent: str
    moments: list[datetime]
    triggers: set[str]
    peak: float | None = None
    compactions: int = 0


class _State(msgspec.Struct, frozen=True):
    compactions: int = 0


class _Transcript(msgspec.Struct, frozen=True):
    """The part of what was read of a transcript that is counted here."""

    state: _State = _State()


_transcript_decoder = msgspec.json.Decoder(_Transcript)


def read_stats(store: Store, *, days: int, on_checkpoint: OnCheckpoint | None = None) -> Stats:
    """Read the checkpoints of the last days, and count."""
    until = store.now()
    since = until - timedelta(days=days)
    entries = [
        each
        for each in store.index().newest(_MOST_CHECKPOINTS)
        if each.saved_at >= since and each.state != "undone" and each.problem is None
    ]
    percents = _read_percents(store, entries, on_checkpoint)
    sessions = _group_sessions(store, entries, percents)
    alone = [each for each in sessions if each.triggers <= AUTOMATIC]
    peaks = Counter(_step(each.peak) for each in sessions if each.peak is not None)
    return Stats(
        since=since,
        until=until,
        threads=_count_threads(store, entries),
        agents=dict(Counter(each.agent for each in sessions).most_common()),
        triggers=dict(Counter(each.trigger or "manual" for each in entries).most_common()),
        saves_by_day=_count_by_day(entries, since, days),
        context_by_day=_find_peaks(entries, percents, since, days),
        peaks={label: peaks[label] for _, label in LADDER},
        compactions=sum(each.compactions for each in sessions),
        automatic=_add_time(alone),
        recovered=_add_time(each for each in alone if _DIED in each.triggers),
    )


def _count_threads(store: Store, entries: Iterable[CheckpointEntry]) -> dict[str, int]:
    heads = [store.index().head(slot) for slot in {each.slot for each in entries}]
    return dict(Counter(head.state for head in heads if head is not None))


def _read_percents(
    store: Store, entries: Sequence[CheckpointEntry], on_checkpoint: OnCheckpoint | None
) -> dict[str, float]:
    """Return the context use that each checkpoint recorded; only its file has it."""
    found: dict[str, float] = {}
    for number, entry in enumerate(entries, 1):
        try:
            use = store.load(entry).context
        except (LeftoffError, OSError):
            continue
        if use is not None and use.percent is not None:
            found[entry.id] = use.percent
        if on_checkpoint is not None:
            on_checkpoint(number)
    return found


def _group_sessions(
    store: Store, entries: Iterable[CheckpointEntry], percents: dict[str, float]
) -> list[_SessionSeen]:
    found: dict[tuple[str, str], _SessionSeen] = {}
    for entry in entries:
        if not entry.session_id:
            continue
        key = (entry.agent or "unknown", entry.session_id)
        seen = found.setdefault(key, _SessionSeen(agent=key[0], moments=[], triggers=set()))
        seen.moments.append(entry.as_of)
        seen.triggers.add(entry.trigger or "manual")
        seen.compactions += entry.trigger == _COMPACTED
        if entry.id in percents:
            seen.peak = max(seen.peak or 0.0, percents[entry.id])
    for (agent, session_id), seen in found.items():
        record = records.load(store, agent, session_id)
        seen.moments += [each for each in (record.begun_at, record.seen_at) if each is not None]
        # A hook saves nothing before a compaction if nothing has changed since the last save.
        seen.compactions = max(seen.compactions, record.compactions, _count_compactions(record))
    return list(found.values())


def _count_compactions(record: records.SessionRecord) -> int:
    """Return how many compactions a session's transcript had when it was last read."""
    try:
        return _transcript_decoder.decode(record.memory).state.compactions
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0


def _add_time(sessions: Iterable[_SessionSeen]) -> TimeKept:
    spans = [_measure(each.moments) for each in sessions]
    total = sum(spans, timedelta())
    return TimeKept(hours=round(total.total_seconds() / 3600, 1), sessions=len(spans))


def _measure(moments: Sequence[datetime]) -> timedelta:
    """Add up the short gaps between the moments at which a session was seen."""
    gaps = (after - before for before, after in pairwise(sorted(moments)))
    return sum((gap for gap in gaps if gap <= _LONGEST_GAP), timedelta())


def _step(percent: float) -> str:
    return [label for least, label in LADDER if percent >= least][-1]


def _count_by_day(entries: Iterable[CheckpointEntry], since: datetime, days: int) -> list[int]:
    counts = [0] * days
    for entry in entries:
        counts[_count_day(entry, since, days)] += 1
    return counts


def _find_peaks(
    entries: Iterable[CheckpointEntry], percents: dict[str, float], since: datetime, days: int
) -> list[float]:
    peaks = [0.0] * days
    for entry in entries:
        day = _count_day(entry, since, days)
        peaks[day] = max(peaks[day], percents.get(entry.id, 0.0))
    return peaks


def _count_day(entry: CheckpointEntry, since: datetime, days: int) -> int:
    return min((entry.saved_at - since).days, days - 1)
