from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff.store import Event, disk, events
from leftoff.store.events import Action
from stores import NOON


def event(number: int, action: Action, *ids: str, of: int | None = None) -> Event:
    return Event(
        id=f"e{number}", at=NOON, action=action, ids=list(ids), of=None if of is None else f"e{of}"
    )


def test_the_last_thing_that_happened_is_the_state() -> None:
    told = [event(1, "saved", "a", "b"), event(2, "resumed", "a"), event(3, "cleared", "a")]

    assert events.fold(told) == {"a": "cleared", "b": "open"}
    assert events.fold([]) == {}


def test_what_was_undone_never_happened() -> None:
    told = [
        event(1, "saved", "a"),
        event(2, "resumed", "a"),
        event(3, "cleared", "a"),
        event(4, "undone", of=3),
    ]

    assert events.fold(told) == {"a": "resumed"}


def test_a_save_that_was_undone_hides_its_revision_until_it_is_restored() -> None:
    told = [event(1, "saved", "a"), event(2, "undone", of=1)]

    assert events.fold(told) == {"a": "undone"}
    assert events.fold([*told, event(3, "restored", "a")]) == {"a": "open"}


def test_undoing_what_nobody_knows_changes_nothing() -> None:
    assert events.fold([event(1, "saved", "a"), event(2, "undone", of=9)]) == {"a": "open"}


ACTIONS = st.sampled_from(["saved", "resumed", "declined", "consumed", "cleared", "restored"])
LOGS = st.lists(st.tuples(ACTIONS, st.sampled_from("abc")), max_size=8)


@given(LOGS, st.data())
def test_the_same_event_told_twice_counts_once(
    steps: list[tuple[Action, str]], data: st.DataObject
) -> None:
    told = [event(number, action, one) for number, (action, one) in enumerate(steps)]
    again = data.draw(st.lists(st.sampled_from(told), max_size=4)) if told else []

    assert events.fold([*told, *again]) == events.fold(told)


def test_only_what_took_something_away_can_be_undone() -> None:
    undoable: list[Action] = ["consumed", "cleared", "declined", "restored"]
    final: list[Action] = ["saved", "resumed", "undone", "purged"]

    assert all(event(1, action).can_be_undone for action in undoable)
    assert not any(event(1, action).can_be_undone for action in final)
    overwrite = Event(id="e", at=NOON, action="saved", ids=["b"], replaced="a")
    assert overwrite.can_be_undone
    assert overwrite.brings_back == ["a"]


def test_a_log_is_read_on_from_where_it_was_left(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    events.append(log, event(1, "saved", "a"), durable=True)
    first, offset = events.read(log)
    events.append(log, event(2, "cleared", "a"), durable=False)

    assert [each.id for each in first] == ["e1"]
    assert [each.id for each in events.read(log, offset)[0]] == ["e2"]
    assert events.read(tmp_path / "none") == ([], 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=5))
def test_lines_that_are_no_events_are_passed_over(tmp_path: Path, garbage: list[bytes]) -> None:
    log = tmp_path / "events.jsonl"
    log.unlink(missing_ok=True)
    for number, line in enumerate(garbage):
        events.append(log, event(number, "saved", "a"), durable=False)
        with log.open("ab") as file:
            file.write(line + b"\n")

    told, offset = events.read(log)

    assert [each.id for each in told] == [f"e{number}" for number in range(len(garbage))]
    assert offset == (log.stat().st_size if garbage else 0)


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    events.append(log, event(1, "saved", "a"), durable=False)
    whole = log.stat().st_size
    with log.open("ab") as file:
        file.write(b'{"id":"e2","at":"2026-11-15T12:00:00Z","action":"clea')

    assert events.read(log)[1] == whole
    with log.open("ab") as file:
        file.write(b'red","ids":["a"]}\n')
    assert [each.id for each in events.read(log, whole)[0]] == ["e2"]


def test_a_line_too_long_for_an_event_is_skipped_and_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_CHUNK_BYTES", 256)
    monkeypatch.setattr(events, "_LONGEST_LINE_BYTES", 1024)
    log = tmp_path / "events.jsonl"
    first, last = event(1, "cleared", "a"), event(2, "cleared", "b")
    events.append(log, first, durable=False)
    with log.open("ab") as file:
        file.write(bytes(100_000) + b"\n")
    events.append(log, last, durable=False)
    whole = log.stat().st_size
    with log.open("ab") as file:
        file.write(bytes(100_000))
    limits: list[int] = []
    real = disk.read_from

    def read_from(path: Path, offset: int, *, limit: int) -> bytes:
        limits.append(limit)
        return real(path, offset, limit=limit)

    monkeypatch.setattr(disk, "read_from", read_from)

    assert events.read(log) == ([first, last], whole)
    assert max(limits) == 1024
