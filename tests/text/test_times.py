import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leftoff.errors import UsageError
from leftoff.text import times

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.accept(32)
@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-86_400, "just now"), (0, "just now"), (59.9, "just now"), (60, "1m ago"),
        (5 * 60, "5m ago"), (3599, "59m ago"), (3600, "1h ago"), (3 * 3600, "3h ago"),
        (86_399, "23h ago"), (86_400, "1d ago"), (2 * 86_400, "2d ago"), (86_400_000, "1000d ago"),
    ],
)  # fmt: skip
def test_ages_are_short(seconds: float, text: str) -> None:
    assert times.age(seconds) == text


@pytest.mark.usefixtures("berlin")
def test_people_see_their_own_time() -> None:
    assert times.local(NOW) == "2026-11-15 13:00"
    assert times.local(NOW.replace(month=7)) == "2026-07-15 14:00"


@pytest.mark.usefixtures("berlin")
def test_a_date_is_a_day_of_the_user() -> None:
    start = times.moment("2026-11-15", now=NOW)
    end = times.moment("2026-11-15", now=NOW, is_end=True)

    assert start == datetime(2026, 11, 14, 23, 0, tzinfo=UTC)
    assert end == datetime(2026, 11, 15, 22, 59, 59, 999_999, tzinfo=UTC)
    assert times.moment("2026-11-15T10:00+00:00", now=NOW, is_end=True).hour == 10


@pytest.mark.parametrize(
    ("text", "back"),
    [("90d", timedelta(days=90)), (" 12 h ", timedelta(hours=12)), ("2w", timedelta(days=14)),
     ("5m", timedelta(minutes=5)), ("0d", timedelta(0))],
)  # fmt: skip
def test_spans_go_back_from_now(text: str, back: timedelta) -> None:
    assert times.ago(text, now=NOW) == times.moment(text, now=NOW) == NOW - back


@settings(deadline=None)
@given(number=st.integers(0, 999_999), unit=st.sampled_from("mhdw"))
def test_no_span_leaves_the_time_that_ids_can_express(number: int, unit: str) -> None:
    moment = times.ago(f"{number}{unit}", now=NOW)

    assert 1970 <= moment.year <= 2026
    assert len(f"{moment:%Y%m%d}") == 8


@settings(deadline=None)
@given(st.datetimes())
def test_no_date_outgrows_what_the_index_counts_in(moment: datetime) -> None:
    found = times.moment(moment.isoformat(), now=NOW)

    assert 0 <= int(found.timestamp() * 1000) << 20 < 1 << 63


@settings(deadline=None)
@given(st.text(max_size=12))
def test_anything_else_is_refused_in_a_sentence(text: str) -> None:
    try:
        times.moment(text, now=NOW)
    except UsageError as error:
        assert error.message.endswith("is neither a date nor a span of time.")  # noqa: PT017 - either way is right


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (NOW, True),
        (datetime.max.replace(tzinfo=UTC), False),
        (datetime.min.replace(tzinfo=UTC), False),
        (datetime(9999, 12, 31), False),  # noqa: DTZ001 - as a file may have it
    ],
)
def test_a_date_far_away_is_not_a_moment(moment: datetime, *, expected: bool) -> None:
    assert times.is_plausible(moment) is expected


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("text", "zone", "hour"),
    [("2026-11-15T12:00:00Z", UTC, 12), ("2026-11-15T12:00:00.5+02:00", UTC, 10),
     ("2026-11-15 12:00", UTC, 12), ("2026-11-15 12:00", None, 11), ("20261115T12Z", None, 12)],
)  # fmt: skip
def test_a_moment_without_a_zone_is_in_the_one_that_is_meant(
    text: str, zone: tzinfo | None, hour: int
) -> None:
    found = times.parse(text, zone=zone)

    assert found is not None
    assert found.astimezone(UTC).hour == hour


@given(st.text(max_size=30) | st.datetimes().map(datetime.isoformat))
@example("0001-01-01T00:00")
@example("9999-12-31T23:59")
def test_whatever_the_text_a_moment_has_a_zone_or_is_none(text: str) -> None:
    for zone in (UTC, None):
        found = times.parse(text, zone=zone)
        assert found is None or found.tzinfo is not None
