"""Requests and answers are kept word for word while the context fills up."""

import pytest

from leftoff.session import records
from leftoff.store import Store
from talk import Talk


@pytest.mark.accept(51)
def test_requests_are_kept_word_for_word_once_the_context_fills_up(
    talk: Talk, store: Store
) -> None:
    talk.work(percent=59)
    talk.fire("UserPromptSubmit", prompt="before the buffer")
    talk.say("ok", percent=62)
    talk.fire("UserPromptSubmit", prompt="use port 8081, not 8080")
    talk.say("I will use port 8081.", percent=63)
    talk.fire("Stop")

    buffer = records.load(store, "claude", talk.session_id).buffer
    assert [(each.asked, each.answered) for each in buffer] == [
        ("use port 8081, not 8080", "I will use port 8081.")
    ]
