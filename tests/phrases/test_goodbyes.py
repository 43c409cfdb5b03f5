"""A message that is nothing but a goodbye, and others that only contain its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.phrases.match import is_goodbye


@pytest.mark.parametrize(
    "message",
    [
        *["goodnight", "exit", "/exit", "Logout!", " Good night. ", "bye bye", "ok bye"],
        *["Thanks, goodnight!", "Okay, thank you: see you tomorrow then.", "Great. Later, all!"],
        *["Gute Nacht", "Danke, bis morgen!", "Feierabend!"],
        *["Buenas noches", "Gracias. Hasta mañana.", "Merci, à demain !", "bonne nuit"],
        *["晚安", "好的，晚安", "谢谢！明天见。", "おやすみ", "また明日"],
    ],
)
def test_a_goodbye_is_recognised_whatever_surrounds_it(message: str) -> None:
    assert is_goodbye(message)


@pytest.mark.parametrize(
    "message",
    [
        *["", "ok", "thanks", "danke", "谢谢", "fix the exit code tomorrow's test"],
        *["say goodnight to the user", "later we refactor", "does bye work?", "exit 1"],
        *["bis morgen fertig", "退出 code", f"goodnight {'x' * 200}"],
    ],
)
def test_its_words_in_a_sentence_mean_nothing(message: str) -> None:
    assert not is_goodbye(message)


@given(st.text(max_size=300))
def test_any_text_can_be_asked_about(message: str) -> None:
    assert is_goodbye(f"{message} fix it now") is False
