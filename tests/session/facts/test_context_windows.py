"""The context window of a model is known, or reported as unknown."""

import pytest

from leftoff.session.facts.report import window_of


@pytest.mark.parametrize(
    ("model", "tokens", "window"),
    [
        ("claude-sonnet-4-5-20250929", 0, 200_000),
        ("claude-sonnet-4-5[1m]", 0, 1_000_000),
        ("claude-opus-5-5", 0, 1_000_000),
        ("claude-opus-4-5-20251101", 250_000, 1_000_000),
        ("gemini-2.5-flash", 0, 1_048_576),
        ("gpt-5.4", 0, 272_000),
        ("o3", 0, 200_000),
        ("some-new-model", 10, 0),
    ],
)
def test_the_window_of_a_model(model: str, tokens: int, window: int) -> None:
    assert window_of(model, tokens) == window
