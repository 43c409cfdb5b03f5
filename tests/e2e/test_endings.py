"""A session leaves a checkpoint however it ends, and /clear hands over to the next session."""

import signal
from collections.abc import Callable

import pytest

from e2e.claude import Bench
from e2e.model import Model
from e2e.tui import Tui
from e2e.turns import say, write
from e2e.user import LAST_WORDS, NEXT, TASK, TOOLS, User, edits
from e2e.waiting import until


def _exit(tui: Tui) -> None:
    tui.send("/exit")
    tui.wait_for_end()


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(_exit, id="exit"),
        pytest.param(lambda tui: tui.signal(signal.SIGTERM), id="TERM"),
        pytest.param(lambda tui: tui.signal(signal.SIGHUP), id="HUP"),
        pytest.param(Tui.close_pane, id="closed pane"),
    ],
)
def test_every_end_of_the_interactive_program_leaves_a_checkpoint(
    bench: Bench, model: Model, user: User, end: Callable[[Tui], None]
) -> None:
    model.will(edits(bench), say(LAST_WORDS))
    tui = bench.tui(*TOOLS)
    tui.send(TASK)
    tui.wait_for_turns(1)

    end(tui)

    (checkpoint,) = user.saved("session-end")
    assert checkpoint["intent"] == TASK
    assert NEXT in checkpoint["next_action"]["text"]


STOPPED = {
    "Add a retry": signal.SIGINT,
    "Document the flags": signal.SIGTERM,
    "Rename the module": signal.SIGHUP,
}


def test_a_run_that_is_stopped_by_a_signal_leaves_a_checkpoint(
    bench: Bench, model: Model, user: User
) -> None:
    for task, number in STOPPED.items():
        made = write(bench.repo.folder / f"{number.name}.py", "DONE = 0\n")
        model.will(made, say("slow", stall=True))
        run = bench.start(task, *TOOLS)
        until(lambda: not model.turns_left, "the last turn")
        run.send(number)
        user.settled()

    saved = {each["intent"]: each["trigger"] for each in user.saved()}
    assert saved == dict.fromkeys(STOPPED, "session-end")


UNANSWERED = {
    "Write a parser for the dates": signal.SIGTERM,
    "Draw the login page": signal.SIGHUP,
}


def test_a_request_that_a_signal_left_unanswered_is_saved(
    bench: Bench, model: Model, user: User
) -> None:
    for task, number in UNANSWERED.items():
        model.will(say("slow", stall=True))
        run = bench.start(task)
        model.wait_for(task)
        run.send(number)
        user.settled()

    saved = {each["intent"]: each["trigger"] for each in user.saved()}
    assert saved == dict.fromkeys(UNANSWERED, "session-end")


def test_clear_hands_over_to_the_session_that_follows(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(edits(bench), say(LAST_WORDS))
    tui = bench.tui(*TOOLS)
    tui.send(TASK)
    tui.wait_for_turns(1)
    first = model.wait_for(TASK).session_id

    tui.send("/clear")
    tui.send("after clear")

    request = model.wait_for("after clear")
    assert request.session_id != first
    assert TASK in request.news
    assert NEXT in request.news
    assert [one["session_id"] for one in user.saved("session-end")] == [first]


def test_a_session_in_which_nothing_was_asked_warns_of_nothing_and_leaves_nothing(
    bench: Bench, user: User
) -> None:
    tui = bench.tui()
    assert "Settings Warning" not in tui.screen()

    _exit(tui)

    assert user.trouble() == []
    assert user.saved() == []


def test_a_goodbye_is_saved_at_once(bench: Bench, model: Model, user: User) -> None:
    model.will(edits(bench), say(LAST_WORDS), say("Good night."))
    tui = bench.tui(*TOOLS)
    tui.send(TASK)
    tui.wait_for_turns(1)
    tui.send("goodnight")
    tui.wait_for_turns(2)

    (checkpoint,) = user.saved("close")
    assert TASK in (checkpoint["intent"], checkpoint.get("summary"))
