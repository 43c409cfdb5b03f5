"""Thanks, goodbyes, remarks and questions aside say nothing about the work."""

from datetime import UTC, datetime, timedelta

import pytest

from gitrepo import Repo
from leftoff.checkpoint import NOTHING_NEXT, Checkpoint
from leftoff.store import LISTED, Store
from talk import Talk

ASKED = "Create the exporter in src/e.py"
QUESTION = "Should I also document the CSV format in README.md?"
PARTINGS = ["not now, thanks. bye", "no thanks, bye!", "thanks. bye", "nein, danke. tschüss"]


def exchange(talk: Talk, asked: str, answered: str) -> None:
    talk.fire("UserPromptSubmit", prompt=asked)
    talk.ask(asked)
    talk.say(answered)
    talk.fire("Stop", last_assistant_message=answered)


def end(talk: Talk, store: Store) -> Checkpoint:
    talk.fire("SessionEnd", reason="other")
    (found,) = [store.load(entry) for entry in store.index().heads([*LISTED], 99)]
    return found


def action(found: Checkpoint) -> str:
    return found.next_action.text if found.next_action else ""


@pytest.mark.parametrize("parting", PARTINGS)
def test_a_goodbye_is_never_the_task(talk: Talk, store: Store, parting: str) -> None:
    exchange(talk, "where were we?", "Nothing is open. Shall I run the tests and see?")
    talk.ask("yes")
    talk.edit("README.md")
    talk.say(f"The tests pass. {QUESTION}")
    exchange(talk, parting, "Bye!")

    found = end(talk, store)

    assert found.task == "Edit README.md"
    assert found.name == "edit-readme"
    assert parting not in [found.summary, found.intent, *found.requests]


@pytest.mark.parametrize("parting", PARTINGS)
def test_a_goodbye_is_no_request_and_may_decline_a_question(
    talk: Talk, store: Store, parting: str
) -> None:
    talk.ask(ASKED)
    talk.edit("src/e.py")
    talk.say(f"It is written. {QUESTION}")
    exchange(talk, parting, "Bye!")

    found = end(talk, store)

    assert (found.task, found.intent, found.requests) == (ASKED, ASKED, [])
    is_declined = parting != "thanks. bye"
    assert action(found).startswith(NOTHING_NEXT if is_declined else f"Ask the user: {QUESTION}")


@pytest.mark.parametrize("refusal", ["no", "no thanks", "not now", "nein", "rather not today"])
def test_a_question_that_was_declined_is_not_asked_again(
    talk: Talk, store: Store, refusal: str
) -> None:
    talk.ask(ASKED)
    talk.edit("src/e.py")
    talk.say(f"It is written. {QUESTION}")
    exchange(talk, refusal, "All right.")

    found = end(talk, store)

    assert "Ask the user: Should" not in action(found)
    assert found.intent == ASKED


@pytest.mark.parametrize("aside", ["explain csv.writer", "please tell me what csv.writer does"])
@pytest.mark.parametrize("remark", ["nice", "cool, thanks", "great!", "ok", "super, danke", "好的"])
def test_small_talk_after_the_work_does_not_replace_what_was_said_about_it(
    talk: Talk, store: Store, aside: str, remark: str
) -> None:
    exchange(talk, "please make src/e.py quote commas", "I suggest csv.writer.")
    talk.fire("UserPromptSubmit", prompt="sure, go ahead")
    talk.ask("sure, go ahead")
    talk.edit("src/e.py")
    exchange_said = "Started on csv.writer in src/e.py."
    talk.say(exchange_said)
    talk.fire("Stop", last_assistant_message=exchange_said)
    exchange(talk, aside, "It is an object that converts rows into delimited strings.")
    exchange(talk, remark, "Thanks!")
    exchange(talk, "good night", "Good night!")

    found = end(talk, store)

    assert found.left_off == exchange_said
    assert exchange_said in action(found)
    # The last request is still a question, but no remark.
    assert found.intent == aside
    assert (found.task, found.requests) == ("please make src/e.py quote commas", [])


def test_an_explanation_that_led_to_work_is_a_request(talk: Talk, store: Store) -> None:
    talk.ask(ASKED)
    talk.edit("src/e.py")
    talk.say("It is written.")
    talk.ask("explain the format in the README")
    talk.edit("README.md")
    talk.say("The README explains it.")

    found = end(talk, store)

    assert found.intent == "explain the format in the README"
    assert found.left_off == "The README explains it."


def test_a_question_that_was_answered_does_not_change_what_is_next(
    talk: Talk, store: Store
) -> None:
    asked = "what does lineterminator mean?"
    talk.ask(ASKED)
    talk.edit("src/e.py")
    talk.say("It is written. Next I will run the tests.")
    exchange(talk, asked, "What ends a row.")

    found = end(talk, store)

    assert action(found).startswith("Run the tests.")
    assert found.intent == asked


@pytest.mark.parametrize("agreed", ["great", "ok", "nice, go on"])
def test_praise_that_answers_a_question_agrees(talk: Talk, store: Store, agreed: str) -> None:
    talk.ask(ASKED)
    talk.edit("src/e.py")
    talk.say(QUESTION)
    talk.fire("UserPromptSubmit", prompt=agreed)
    talk.ask(agreed)

    found = end(talk, store)

    assert action(found).startswith(f'Go on as the user answered: "{agreed}"')


@pytest.mark.parametrize(
    ("reply", "joins"),
    [
        ("ascending", True),
        ("ascending please", True),
        ("descending", True),
        ("Ascending.", True),
        ("descending order please", True),
        ("invoices", False),
        ("ascending?", False),
        ("ascending numbers in the invoice printer", False),
    ],
)
def test_a_word_of_the_open_question_answers_it(
    talk: Talk, store: Store, reply: str, *, joins: bool
) -> None:
    talk.now = datetime.now(UTC) - timedelta(hours=1)
    talk.ask("Sort the orders by id")
    talk.edit("src/sort.py")
    talk.say("Should the order be ascending or descending?")
    talk.fire("SessionEnd", reason="other")
    later = Talk(talk.folder, "session-2")
    later.now = datetime.now(UTC)
    later.start()
    later.fire("UserPromptSubmit", prompt=reply)
    later.ask(reply)
    later.edit("src/sort.py")
    later.say("It is sorted. Next I will add tests/test_sort.py.")
    later.fire("SessionEnd", reason="other")

    found = [store.load(entry) for entry in store.index().heads([*LISTED], 99)]

    assert len(found) == (1 if joins else 2)
    if joins:
        assert (found[0].task, action(found[0])) == (
            "Sort the orders by id",
            "Add tests/test_sort.py.",
        )


def test_a_word_after_other_talk_answers_that(talk: Talk, store: Store) -> None:
    talk.ask("Sort the orders by id")
    talk.edit("src/sort.py")
    talk.say("Should the order be ascending or descending?")
    talk.fire("SessionEnd", reason="other")
    later = Talk(talk.folder, "session-2")
    later.start()
    exchange(later, "list the invoices by date", "Ascending or descending?")
    later.fire("UserPromptSubmit", prompt="ascending")
    later.ask("ascending")
    later.edit("src/invoices.py")
    later.fire("SessionEnd", reason="other")

    assert len(store.index().heads([*LISTED], 99)) == 2


FINISHED = [
    "I added it and committed it. Nothing else to do.",
    "All done, nothing left.",
    "Committed. That's all.",
    "Everything is committed.",
    "Alles erledigt.",
]
OPEN = [
    "Once everything is done, tell me.",
    "Nothing is left except the docs.",
    "All done. Shall I push it?",
    "Not everything is done.",
]


@pytest.mark.parametrize("said", [*FINISHED, *OPEN])
@pytest.mark.parametrize("is_committed", [True, False])
def test_finished_work_has_nothing_left_and_needs_no_file(
    talk: Talk, store: Store, repo: Repo, said: str, *, is_committed: bool
) -> None:
    (talk.folder / "README.md").write_text("new\n", encoding="utf-8")
    talk.ask("Add a copyright line to README.md and commit")
    talk.edit("README.md")
    if is_committed:
        repo.git("add", "README.md")
        repo.git("commit", "-q", "-m", "Add a copyright line")
        talk.run('git commit -m "Add a copyright line"', "[main 1a2b3c4] Add a copyright line")
    talk.say(said)

    found = end(talk, store)

    is_over = is_committed and said in FINISHED
    assert ("`leftoff done`" in action(found)) is is_over
    assert ("README.md" in found.focus_files) is not is_over
