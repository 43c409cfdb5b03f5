"""What the store says is counted, and time is a lower bound."""

from datetime import timedelta

import msgspec
import pytest

from leftoff.checkpoint import ContextUse
from leftoff.session import records
from leftoff.store import Store
from leftoff.threads.usage_stats import read_stats
from stores import Clock, draft


@pytest.fixture
def saved(store: Store, clock: Clock) -> Store:
    """Save in three sessions: one by hand, one automatically, one that died."""
    plan = (
        ("by-hand", "s1", [("manual", 0, 30.0), ("session-end", 10, 50.0)]),
        (
            "alone",
            "s2",
            [("context", 60, 72.0), ("precompact", 20, 95.0), ("session-end", 40, 10.0)],
        ),
        ("died", "s3", [("recovered", 60, None), ("recovered", 15, None)]),
    )
    for name, session, saves in plan:
        for trigger, minutes, percent in saves:
            clock.move(minutes=minutes)
            use = ContextUse(percent=percent) if percent else None
            made = draft(name, agent="claude", session_id=session, context=use)
            store.save(msgspec.structs.replace(made, trigger=trigger), overwrite=True)
    return store


def test_saves_threads_and_sessions_are_counted(saved: Store) -> None:
    found = read_stats(saved, days=30)

    assert (found.saves, found.by_hand) == (7, 1)
    assert found.threads == {"open": 3}
    assert found.agents == {"claude": 3}
    assert sum(found.saves_by_day) == found.saves_by_day[-1] == 7


def test_only_short_gaps_of_sessions_without_a_save_by_hand_are_time(saved: Store) -> None:
    found = read_stats(saved, days=30)

    # 20 minutes of s2 (the 40 are a pause), 15 of s3.
    assert (found.automatic.hours, found.automatic.sessions) == (0.6, 2)
    assert (found.recovered.hours, found.recovered.sessions) == (0.3, 1)


def test_context_use_is_the_peak_of_each_session(saved: Store) -> None:
    found = read_stats(saved, days=30)

    assert found.peaks == {"below 60 %": 1, "60 to 70 %": 0, "70 to 90 %": 0, "90 % and more": 1}
    assert found.context_by_day[-1] == 95.0
    assert found.compactions == 1


def test_a_compaction_counts_once_also_if_nothing_was_saved_before_it(saved: Store) -> None:
    for session, memory in (
        ("s1", b'{"state":{"compactions":2}}'),
        ("s2", b'{"state":{"compactions":1}}'),
        ("s3", b'{"state":"odd"}'),
    ):
        record = records.SessionRecord(agent="claude", session_id=session)
        records.keep(saved, msgspec.structs.replace(record, memory=msgspec.Raw(memory)))

    assert read_stats(saved, days=30).compactions == 3


def test_what_is_older_or_undone_does_not_count(saved: Store, clock: Clock) -> None:
    saved.undo()
    assert read_stats(saved, days=30).saves < 7
    clock.now += timedelta(days=40)

    assert read_stats(saved, days=30).saves == 0
