"""A question about where things stand joins nothing, and a "no" leaves the thread alone."""

import pytest

from leftoff.checkpoint import Checkpoint
from leftoff.store import LISTED, Store
from talk import Talk

TASK = "Create a css file for the shop in style.css"
OTHER = "add a LICENSE file, MIT"
QUESTIONS = [
    "where did we stop?", "where were we", "so where are we?", "what was I working on?",
    "wo waren wir?", "où en était-on ?", "¿dónde lo dejamos?", "上次做到哪里了？",
    "どこまでやったっけ？",
]  # fmt: skip
REFUSALS = [
    "no, please not that today",
    "no",
    "not now, thanks",
    "nein, heute nicht",
    "no, gracias",
]


@pytest.fixture
def later(talk: Talk) -> Talk:
    """Return the session after one that left a thread behind."""
    talk.ask(TASK)
    talk.edit("style.css")
    talk.say("I wrote style.css. Next I will link it from templates/base.html.")
    talk.fire("SessionEnd", reason="other")
    later = Talk(talk.folder, "session-2")
    later.start()
    return later


def heads(store: Store) -> dict[str | None, Checkpoint]:
    found = [store.load(entry) for entry in store.index().heads([*LISTED], 99)]
    return {each.task: each for each in found}


def exchange(talk: Talk, asked: str, answered: str) -> None:
    talk.fire("UserPromptSubmit", prompt=asked)
    talk.ask(asked)
    talk.say(answered)
    talk.fire("Stop", last_assistant_message=answered)


def write_license(talk: Talk, asked: str = OTHER) -> None:
    talk.fire("UserPromptSubmit", prompt=asked)
    talk.ask(asked)
    talk.edit("LICENSE")
    talk.say("I wrote LICENSE. Next I will commit it.")
    talk.fire("SessionEnd", reason="other")


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        *((question, "") for question in QUESTIONS),
        *((QUESTIONS[0], refusal) for refusal in REFUSALS),
    ],
)
def test_other_work_after_a_question_about_where_it_stopped_is_a_thread_of_its_own(
    later: Talk, store: Store, question: str, refusal: str
) -> None:
    before = heads(store)[TASK]
    exchange(later, question, "You stopped after writing style.css. Shall I go on?")
    if refusal:
        exchange(later, refusal, "All right. What shall I do instead?")
    write_license(later)

    found = heads(store)

    assert {*found} == {TASK, OTHER}
    assert found[TASK] == before
    assert (found[OTHER].name, found[OTHER].requests) == ("add-license-file", [])


@pytest.mark.parametrize(
    ("question", "agreed"),
    [
        *((question, "yes") for question in QUESTIONS),
        *((QUESTIONS[0], agreed) for agreed in ("continue", "ok, let's go on", "do the next step")),
    ],
)
def test_agreeing_after_such_a_question_joins_the_thread(
    later: Talk, store: Store, question: str, agreed: str
) -> None:
    exchange(later, question, "You stopped after writing style.css. Shall I go on?")
    write_license(later, agreed)

    assert {task: each.session_id for task, each in heads(store).items()} == {TASK: "session-2"}


def test_work_without_waiting_for_an_answer_belongs_to_the_thread(
    later: Talk, store: Store
) -> None:
    write_license(later, "where did we stop?")

    assert {*heads(store)} == {TASK}


@pytest.mark.parametrize("how", ["prompt", "command"])
def test_a_session_that_joined_leaves_the_thread_if_the_user_declines_it(
    later: Talk, store: Store, how: str
) -> None:
    before = heads(store)[TASK]
    exchange(later, "continue", "You stopped after writing style.css.")
    assert store.index().find_open_thread("session-2") is not None
    if how == "prompt":
        exchange(later, "no, please not that today", "All right.")
    else:
        store.record("declined", [before.id], session=("claude", "session-2"))
    write_license(later)

    found = heads(store)

    assert {*found} == {TASK, OTHER}
    assert found[TASK] == before
    assert store.find(before.name or "").state == "declined"


@pytest.mark.parametrize("session", [("claude", "session-3"), None])
def test_a_decline_elsewhere_takes_no_session_out(
    later: Talk, store: Store, session: tuple[str, str] | None
) -> None:
    exchange(later, "continue", "You stopped after writing style.css.")
    store.record("declined", [heads(store)[TASK].id], session=session)
    write_license(later, "and the license")

    assert {*heads(store)} == {TASK}


def test_a_no_that_answers_the_agent_stays_in_the_thread(later: Talk, store: Store) -> None:
    exchange(later, "continue", "Shall I minify it, too?")
    exchange(later, "no", "All right.")
    write_license(later, "and the license")

    assert {*heads(store)} == {TASK}
