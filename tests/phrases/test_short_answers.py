"""Go-aheads ask for nothing new, and rules say how to work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.phrases.short_answers import find_rules, is_go_ahead


@pytest.mark.parametrize(
    "message",
    [
        *["continue", "Yes!", "ok thanks", "5", "option 1", "let's go with option 1", "y", ""],
        *["lets do option B please", "sounds good, proceed", "go on with step 2", "thank you"],
        *["weiter", "Danke, mach weiter", "nimm Variante 2", "oui, continue", "sí, adelante"],
        *["はい、お願いします", "好的，继续", "ok, weiter so"],
    ],
)
def test_a_go_ahead_is_recognized_in_every_language(message: str) -> None:
    assert is_go_ahead(message)


@pytest.mark.parametrize(
    "message",
    [
        *["fix it", "commit this", "What is 2+2?", "go ahead, including the rename"],
        *["ok lets get a pr up for this", "weiter mit den Tests", f"yes {'x' * 100}"],
    ],
)
def test_a_message_that_asks_for_something_is_not_one(message: str) -> None:
    assert not is_go_ahead(message)


@pytest.mark.parametrize(
    ("message", "rules"),
    [
        ("Port it. Stop after each slice.", ["Stop after each slice."]),
        ("no Node 14\nUse bun.", ["no Node 14"]),
        ("If no issues, merge.", ["If no issues, merge."]),
        (
            "Kein Node 14. Nach jedem Schritt stoppen.",
            ["Kein Node 14.", "Nach jedem Schritt stoppen."],
        ),
        ("Why don't we use x?", []),
        ("Fix the form.", []),
    ],
)
def test_rules_are_found_as_they_were_written(message: str, rules: list[str]) -> None:
    assert find_rules(message) == rules


@given(st.text(max_size=100))
def test_any_text_can_be_asked_about(message: str) -> None:
    assert is_go_ahead(f"{message} fix the parser") is False
