"""What is prepared for the next prompt, and which prompts are kept."""

import json
import time

import pytest

from leftoff import context, statusline
from leftoff.hooks import replies
from leftoff.session import prompt_queue
from leftoff.store import Store
from talk import Talk


@pytest.mark.accept(108)
@pytest.mark.parametrize(
    ("percent", "expected"), [(69.99, ""), (70.0, "context at 70.00% — consider")]
)
def test_advice_lies_ready_from_the_threshold_on(talk: Talk, percent: float, expected: str) -> None:
    talk.work(percent=percent)

    talk.fire("Stop")

    reply = talk.waiting_reply()
    assert expected in reply
    assert bool(reply) == bool(expected)


@pytest.mark.accept(108)
@pytest.mark.parametrize(
    ("percent", "expected"),
    [(84.99, ""), (85.0, "context at 85.00% — consider"), (90.0, "context at 90.00% — compact")],
)
def test_a_later_threshold_of_advice_keeps_the_stronger_one_silent_as_well(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, percent: float, expected: str
) -> None:
    monkeypatch.setenv("LEFTOFF_ADVISE_AT", "85")
    talk.work(percent=percent)

    talk.fire("Stop")

    reply = talk.waiting_reply()
    assert expected in reply
    assert bool(reply) == bool(expected)


def test_advice_is_given_once_per_step_of_the_ladder(talk: Talk) -> None:
    talk.work(percent=71)
    talk.fire("Stop")
    first = talk.waiting_reply()
    talk.fire("UserPromptSubmit", prompt="go on with the form")
    talk.say("Done.", percent=72)
    talk.fire("Stop")
    second = talk.waiting_reply()
    talk.say("Done again.", percent=91)
    talk.fire("Stop")
    third = talk.waiting_reply()

    assert "consider" in first
    assert second == ""
    assert "compact or start fresh" in third


def test_advice_that_came_too_late_for_a_prompt_is_given_with_the_next(talk: Talk) -> None:
    talk.work(percent=71)
    talk.post("Stop")

    talk.fire("UserPromptSubmit", prompt="go on with the form")

    assert "consider" in talk.waiting_reply()


def test_advice_that_is_laid_again_after_a_prompt_came_is_not_given_twice(talk: Talk) -> None:
    talk.work(percent=71)
    talk.fire("PostToolUse", tool_name="Edit")
    talk.say("Done.", percent=72)
    talk.post("Stop")

    talk.fire("UserPromptSubmit", prompt="go on with the form")

    assert talk.waiting_reply() == ""


def test_advice_by_the_status_line_is_given_once(talk: Talk) -> None:
    talk.work(percent=69)
    usage = {"input_tokens": 710_000}
    use = {"current_usage": usage, "context_window_size": 1_000_000}
    fields = {"session_id": talk.session_id, "cwd": str(talk.folder), "context_window": use}
    statusline.show(json.dumps(fields).encode(), now=time.time())
    talk.fire("Stop")
    first = talk.waiting_reply()
    talk.fire("UserPromptSubmit", prompt="go on with the form")

    assert "context at 71.00%" in first
    assert talk.waiting_reply() == ""


def test_advice_goes_where_the_session_goes(talk: Talk) -> None:
    talk.work(percent=71)
    talk.fire("Stop")
    (talk.folder / "web").mkdir()

    talk.fire("Stop", cwd=str(talk.folder / "web"))

    ready = replies.below(context.state_folder(), talk.folder)
    assert [path.parent.name for path in ready] == ["web"]


def test_after_a_compaction_advice_begins_anew(talk: Talk) -> None:
    talk.work(percent=91)
    talk.fire("Stop")
    talk.fire("UserPromptSubmit", prompt="go on with the form")
    talk.say("Compacted.", percent=5)
    talk.fire("Stop")
    talk.say("Full again.", percent=92)

    talk.fire("Stop")

    assert "compact or start fresh" in talk.waiting_reply()


@pytest.mark.accept(109)
def test_prompts_are_kept_when_the_context_is_nearly_full(talk: Talk, store: Store) -> None:
    talk.work(percent=95)
    talk.fire("Stop")

    talk.fire("UserPromptSubmit", prompt="also rename the button")

    assert [prompt.text for prompt in prompt_queue.list_pending(store)] == [
        "also rename the button"
    ]


def test_prompts_are_not_kept_while_there_is_room(talk: Talk, store: Store) -> None:
    talk.work(percent=94.9)
    talk.fire("Stop")

    talk.fire("UserPromptSubmit", prompt="also rename the button")

    assert prompt_queue.list_pending(store) == []
