"""The next revision of a thread keeps what earlier sessions left, until somebody handles it."""

from pathlib import Path
from typing import Any

import pytest

from leftoff.checkpoint import (
    NOTHING_NEXT,
    SCHEMA,
    Checkpoint,
    InFlight,
    LastFailure,
    NextAction,
    Todo,
    TrailStep,
)
from leftoff.store import Store
from leftoff.threads import persist
from leftoff.threads.continue_thread import continue_thread, has_news
from stores import NOON, compose

FAILURE = LastFailure(command="sh check.sh", error="no such file")


def _make(session: str, **fields: Any) -> Checkpoint:
    return Checkpoint(
        schema=SCHEMA,
        id="",
        saved_at=NOON,
        trigger="session-end",
        agent="codex",
        session_id=session,
        **fields,
    )


def _keep(head: Checkpoint, later: Checkpoint) -> Checkpoint:
    return continue_thread(head, later, Path("/nowhere"))


def test_a_failure_stays_through_later_sessions_that_do_not_run_the_command() -> None:
    second = _keep(_make("one", last_failure=FAILURE), _make("two"))
    again = _keep(second, _make("two"))
    third = _keep(again, _make("three"))

    for revision in (second, again, third):
        assert revision.last_failure == LastFailure(
            command="sh check.sh", error="no such file", session_id="one"
        )


@pytest.mark.parametrize(
    "later",
    [
        _make("one"),
        _make("two", commands=["sh check.sh"]),
        _make("two", trail=[TrailStep(tool="Bash", what="sh check.sh", exit=0)]),
    ],
    ids=["the session itself repaired it", "a later one ran it", "it is among the last calls"],
)
def test_a_failure_that_was_repaired_is_gone(later: Checkpoint) -> None:
    assert _keep(_make("one", last_failure=FAILURE), later).last_failure is None


def test_the_newest_failure_counts() -> None:
    newer = LastFailure(command="make", error="no rule")

    assert (
        _keep(_make("one", last_failure=FAILURE), _make("two", last_failure=newer)).last_failure
        == newer
    )


def _announce(text: str) -> NextAction:
    return NextAction(text=text, origin="inferred", source="proposal")


def test_an_announcement_after_a_save_in_mid_turn_is_news() -> None:
    head = _make("one", next_action=_announce(f"{NOTHING_NEXT} The agent said last: Half done."))

    assert has_news(head, _make("one", next_action=_announce("Write the tests.")), None)


def test_the_end_of_a_call_that_a_save_saw_is_news() -> None:
    cut_short = NextAction(text="Repeat the call: ls", origin="inferred", source="call")
    head = _make("one", in_flight=InFlight(tool="Bash", what="ls"), next_action=cut_short)

    assert has_news(head, _make("one", next_action=_announce("Write the tests.")), None)
    assert has_news(head, _make("one"), None)
    assert not has_news(head, _make("two"), None)


def test_an_announcement_at_the_end_overtakes_what_the_agent_was_doing() -> None:
    busy = NextAction(text="Continue. Most recently it ran ls.", origin="inferred", source="trail")

    end = _make("one", next_action=_announce("Write the tests."))
    assert has_news(_make("one", next_action=busy), end, None)


def test_other_words_of_the_agent_are_not() -> None:
    unknown = _announce(f"{NOTHING_NEXT} The agent said last: Half done.")
    known = _announce("Write the tests.")

    assert not has_news(_make("one", next_action=known), _make("one", next_action=unknown), None)
    assert not has_news(_make("one", next_action=unknown), _make("one", next_action=unknown), None)
    assert not has_news(
        _make("one", next_action=known), _make("one", next_action=_announce("Thanks.")), None
    )


BROKEN = LastFailure(command="pytest tests/test_cart.py -q", error="FAILED tests/test_cart.py::x")
REPAIR = NextAction(text="Fix what made it fail.", origin="inferred", source="failure")


@pytest.mark.parametrize(
    "later",
    [
        _make("two", also_ran=["python -m pytest tests"]),
        _make("two", commands=[".venv/bin/pytest"]),
        _make("two", trail=[TrailStep(tool="shell", what="pytest tests/test_cart.py -q | tail")]),
    ],
    ids=["more of it", "all of it", "with a pipe"],
)
def test_a_failure_that_a_later_session_covers_is_not_next(later: Checkpoint) -> None:
    head = _make("one", last_failure=BROKEN, next_action=REPAIR)

    revision = _keep(head, later)

    assert (revision.last_failure, revision.next_action) == (None, None)


def test_a_question_aside_is_not_the_last_request_of_a_later_session() -> None:
    planned = NextAction(text="Write the tests.", origin="inferred", source="announced")
    head = _make("one", summary="Add codes", intent="what's a decorator?", next_action=planned)

    revision = _keep(head, _make("two", intent="go on"))

    assert (revision.task, revision.intent, revision.requests) == ("Add codes", None, [])


def test_a_go_ahead_is_not_the_last_request_of_a_later_session() -> None:
    task, said = "Add a retry", "Next I will use it in client.py."
    head = _make("one", summary=task, intent="go on then", answers_to=said)

    assert _keep(head, _make("one", summary=task, intent="go on then")).answers_to == said
    later = _keep(head, _make("two", intent="continue"))
    assert (later.task, later.intent, later.answers_to) == (task, None, None)


def test_a_question_aside_in_a_later_session_keeps_what_was_announced() -> None:
    planned = NextAction(text="Wire it into cart.py.", origin="inferred", source="proposal")
    answered = NextAction(text=f"{NOTHING_NEXT} The agent said last: Yes.", origin="inferred")
    head = _make("one", next_action=planned)
    aside = _make("two", intent="what does flask do?", next_action=answered)
    other = _make("two", intent="write the docs of the cart", next_action=answered)

    kept = continue_thread(head, aside, Path("/nowhere"), is_idle=True).next_action
    replaced = continue_thread(head, other, Path("/nowhere"), is_idle=True).next_action

    assert kept == NextAction(text=planned.text, origin="inferred", source="announced")
    assert replaced == answered


@pytest.mark.parametrize("again", [(), ("Use Redis",)])
def test_an_overwrite_keeps_what_was_stated_and_is_not_stated_anew(
    store: Store, again: tuple[str, ...]
) -> None:
    said = {
        "summary": "Limit logins",
        "next_action": {"text": "Run pytest"},
        "decisions": [{"what": "Count in the database", "why": "deploys reset the counter"}],
        "blockers": ["No key for staging"],
    }
    persist.save(store, compose(said, store), name="limit-logins")
    new: dict[str, Any] = {"next_action": {"text": "Run ruff"}}
    if again:
        new["decisions"] = [{"what": each, "why": "it is there"} for each in again]
    persist.save(store, compose(new, store), name="limit-logins", overwrite=True)

    found = store.load(store.find("limit-logins"))

    assert found.next_action is not None
    assert found.next_action.text == "Run ruff"
    assert [each.what for each in found.decisions] == [*(again or ["Count in the database"])]
    assert found.blockers == ["No key for staging"]
    assert found.task == "Limit logins"


@pytest.mark.parametrize(
    ("new", "action"),
    [
        ({"done": ["Wrote limits.py"]}, "Run pytest"),
        ({"summary": "Limit logins", "done": ["Wrote limits.py"]}, "Run pytest"),
        ({"summary": "Send a mail at each login"}, None),
        ({"next_action": {"text": "Run ruff"}}, "Run ruff"),
    ],
)
def test_an_overwrite_keeps_the_next_action_as_long_as_the_task_is_the_same(
    store: Store, new: dict[str, Any], action: str | None
) -> None:
    said = {"summary": "Limit logins", "next_action": {"text": "Run pytest"}}
    persist.save(store, compose(said, store), name="limit-logins")
    persist.save(store, compose(new, store), name="limit-logins", overwrite=True)

    found = store.load(store.find("limit-logins"))

    assert found.task == new.get("summary", "Limit logins")
    assert (found.next_action.text if found.next_action else None) == action


HEADING = NextAction(text="Extend tests/test_cart.py.", origin="inferred", source="proposal")
CONTINUED = NextAction(
    text="Continue. Most recently the agent edited rounding.py.", origin="inferred", source="trail"
)


def test_what_was_announced_stays_next_for_a_session_that_only_continues() -> None:
    head = _make("one", summary="Round once", next_action=HEADING)
    later = _make("two", next_action=CONTINUED, files_modified=["rounding.py"])

    action = _keep(head, later).next_action

    assert action is not None
    assert action.text == "Extend tests/test_cart.py. Most recently the agent edited rounding.py."
    assert action.source == "announced"


def test_what_was_announced_is_over_once_its_file_was_edited() -> None:
    head = _make("one", summary="Round once", next_action=HEADING)
    later = _make("two", next_action=CONTINUED, files_modified=["tests/test_cart.py"])

    assert _keep(head, later).next_action == CONTINUED


def test_a_task_that_the_user_took_back_is_not_the_task_of_the_thread() -> None:
    head = _make("one", intent="Port the exporter to streams")
    asked = "Forget the exporter, write the importer instead"
    withdrawn = "(withdrawn) Port the exporter to streams"
    later = _make("one", summary="Write the importer instead", intent=asked, requests=[withdrawn])

    made = _keep(head, later)

    assert (made.summary, made.intent) == ("Write the importer instead", asked)
    assert made.requests == [withdrawn]


def test_a_prompt_that_waited_is_the_last_request_once_a_session_has_answered_it() -> None:
    head = _make(
        "one",
        summary="Add codes",
        intent="document all of them",
        pending_prompts=["bump the version to 1.4"],
    )

    revision = _keep(head, _make("two", intent="continue", files_modified=["setup.cfg"]))

    assert (revision.task, revision.intent) == ("Add codes", "bump the version to 1.4")
    assert revision.requests == ["document all of them", "bump the version to 1.4"]


TODOS = [Todo(text="Write it", status="completed"), Todo(text="Use it"), Todo(text="Document it")]
UNKNOWN = _announce(f"{NOTHING_NEXT} The agent said last: It is used now.")


def test_open_todos_come_next_if_a_session_without_a_list_announces_nothing() -> None:
    head = _make("one", todos=TODOS)

    action = _keep(head, _make("two", next_action=UNKNOWN, files_modified=["a.py"])).next_action

    assert action is not None
    assert action.text == (
        "Do what is left of the todos: Use it; Document it. The agent said last: It is used now."
    )


@pytest.mark.parametrize(
    ("head", "later"),
    [
        (_make("one", todos=TODOS, todos_old=True), _make("two", next_action=UNKNOWN)),
        (_make("one", todos=TODOS[:1]), _make("two", next_action=UNKNOWN)),
        (_make("one", todos=TODOS), _make("two", next_action=UNKNOWN, todos=TODOS[:1])),
    ],
    ids=["of another task", "all done", "a newer list"],
)
def test_todos_that_say_nothing_about_the_rest_do_not(head: Checkpoint, later: Checkpoint) -> None:
    assert _keep(head, later).next_action == UNKNOWN
