"""Dates and times as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.profiles.loose_times import read_moment


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-15 18:40", "2026-11-15T18:40:00", "2026/11/15 6:40 pm", "2026-11-15 18.40",
        "Nov 15, 2026 18:40", "November 15th, 2026 at 6:40 PM", "18:40 on 15 Nov 2026",
        "Sun, 15 Nov 2026, 18:40", "15-Nov-2026 18:40", "15.11.2026 um 18:40 Uhr",
        "15 novembre 2026 à 18h40", "15 de noviembre de 2026, 18:40", "2026年11月15日 18:40",
        "11/15/2026 18:40", "15/11/2026 18:40", "`2026-11-15 18:40`.",
    ],
)  # fmt: skip
def test_a_moment_is_read_in_any_usual_form(text: str) -> None:
    moment, is_whole = read_moment(text)

    assert moment is not None
    assert f"{moment.astimezone():%Y-%m-%d %H:%M}" == "2026-11-15 18:40"
    assert is_whole


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Nov 15, 2026 18:40 UTC", UTC),
        ("2026-11-15 18:40 (UTC+1)", timezone(timedelta(hours=1))),
        ("15.11.2026 18:40 -03:30", timezone(-timedelta(hours=3, minutes=30))),
    ],
)
def test_a_zone_counts(text: str, zone: timezone) -> None:
    assert read_moment(text) == (datetime(2026, 11, 15, 18, 40, tzinfo=zone), True)


@pytest.mark.parametrize("text", ["yesterday evening", "03/04/2026", "31.02.2026", "Nov 15"])
def test_what_names_no_certain_day_is_not_guessed(text: str) -> None:
    assert read_moment(text) == (None, False)


def test_more_words_are_not_overlooked() -> None:
    assert read_moment("2026-11-15 18:40, before the release")[1] is False


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    read_moment(text)
