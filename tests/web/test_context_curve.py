"""The curve shows the context use at each save, with the ladder as it is set."""

from datetime import UTC, datetime, timedelta

import msgspec

from leftoff.checkpoint import SCHEMA, Checkpoint, ContextUse, new_id
from leftoff.config import Settings
from leftoff.web.context_curve import draw_curve, list_steps

START = datetime(2026, 11, 1, 9, tzinfo=UTC)


def saved(number: int, percent: float | None, session: str) -> Checkpoint:
    moment = START + timedelta(minutes=number)
    use = ContextUse(percent=percent) if percent is not None else None
    return Checkpoint(
        schema=SCHEMA, id=new_id(moment), saved_at=moment, trigger="idle", session_id=session,
        context=use,
    )  # fmt: skip


def test_each_session_is_a_line_of_its_own() -> None:
    found = [saved(2, 96, "a"), saved(0, 20, "a"), saved(1, None, "a"), saved(3, 12, "b")]
    places = {each.saved_at: 10.0 * number for number, each in enumerate(found)}

    curve = draw_curve(found, places, Settings())

    assert curve is not None
    assert [[point.percent for point in line] for line in curve.lines] == [[20, 96], [12]]
    assert [point.y for point in curve.points] == [80, 4, 88]


def test_a_session_that_died_is_drawn_where_it_died_and_not_where_it_was_found() -> None:
    died, found_at = START, START + timedelta(days=2)
    late = msgspec.structs.replace(
        saved(0, 54, "a"), saved_at=found_at, as_of=died, trigger="recovered"
    )

    # Something else happened at the moment when it was found.
    curve = draw_curve([late], {died: 20.0, found_at: 90.0}, Settings())

    assert curve is not None
    assert [(point.x, point.at) for point in curve.points] == [(20, died)]


def test_without_any_known_use_there_is_no_curve() -> None:
    only = saved(0, None, "a")

    assert draw_curve([only], {only.saved_at: 50.0}, Settings()) is None


def test_equal_steps_are_one_and_those_that_never_happen_are_left_out() -> None:
    steps = list_steps(Settings(advise_at=80, autosave_at=80, urge_at=100, buffer_at=0))

    assert [(step.percent, step.meaning) for step in steps] == [
        (80, "automatic save, advice to save"),
        (90, "advice to compact or start fresh"),
        (95, "prompts are captured"),
    ]
