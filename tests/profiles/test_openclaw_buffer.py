"""The working buffer contains every exchange once, word for word, however often it is reported."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.profiles.openclaw.buffer_file import add_exchanges
from leftoff.profiles.profile import BufferedExchange
from stores import NOON

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(lambda text: text or "x")
TRICKY = st.sampled_from(
    ["## 2026-11-15T12:00:00Z Human", "## 2026-11-15T12:00:00Z Agent (summary)", "---", "# x\n\n"]
)
SAID = st.lists(
    st.tuples(WORDS | TRICKY, st.just("") | WORDS | TRICKY), min_size=1, max_size=6
).map(
    lambda pairs: [
        BufferedExchange(at=NOON + timedelta(seconds=n), asked=asked, answered=answered)
        for n, (asked, answered) in enumerate(pairs)
    ]
)


@pytest.mark.accept(51)
@given(SAID)
def test_reported_one_by_one_or_twice_the_buffer_is_the_same(said: list[BufferedExchange]) -> None:
    text = ""
    for number in range(1, len(said) + 1):
        asked = BufferedExchange(at=said[number - 1].at, asked=said[number - 1].asked)
        text = add_exchanges(text, [*said[: number - 1], asked], NOON)
        text = add_exchanges(text, said[:number], NOON)
        assert add_exchanges(text, said[:number], NOON + timedelta(hours=1)) == text

    assert text == add_exchanges("", said, NOON)
    assert text.count(" Human\n") >= len(said)


@pytest.mark.accept(51)
@given(SAID)
def test_what_was_asked_is_there_word_for_word(said: list[BufferedExchange]) -> None:
    text = add_exchanges("", said, NOON)

    for each in said:
        asked = each.asked.replace("\r\n", "\n").strip("\n")
        assert asked in text or f"\\{asked}" in text


def test_only_the_newest_are_reported_and_the_earlier_ones_stay() -> None:
    said = [
        BufferedExchange(at=NOON + timedelta(seconds=n), asked=f"request {n}") for n in range(50)
    ]
    text = ""
    for number in range(1, 51):
        text = add_exchanges(text, said[max(0, number - 20) : number], NOON)

    assert [f"request {n}\n" in text for n in range(50)] == [True] * 50


def test_another_filling_of_the_context_starts_anew() -> None:
    text = add_exchanges("", [BufferedExchange(at=NOON, asked="first")], NOON)
    later = NOON + timedelta(days=1)
    text = add_exchanges(text, [BufferedExchange(at=later, asked="second")], later)

    assert "first" not in text
    assert "**Started:** 2026-11-16T12:00:00Z" in text


def test_what_a_person_added_stays() -> None:
    text = add_exchanges("", [BufferedExchange(at=NOON, asked="first")], NOON)
    edited = text.replace("---\n", "---\n\nMind the semicolons.\n")
    second = BufferedExchange(at=NOON + timedelta(seconds=1), asked="second")
    again = add_exchanges(edited, [BufferedExchange(at=NOON, asked="first"), second], NOON)

    assert "Mind the semicolons." in again
    assert again.index("first") < again.index("second")
