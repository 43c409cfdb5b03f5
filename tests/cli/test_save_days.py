"""Work over several days keeps what each day did, and guesses do not replace given words."""

import pytest

from leftoff.store import Store
from leftoff.threads import persist
from leftoff.threads.compose import without_guess
from leftoff.threads.compose_again import append_day
from stores import Clock, compose


@pytest.mark.accept(55)
def test_a_later_day_adds_to_the_days_before(store: Store, clock: Clock) -> None:
    for done in ("Wrote reader.py", "Wrote writer.py", "Ran 18 tests"):
        draft = compose({"summary": "Import CSV files", "done": [done]}, store)
        draft = append_day(draft, store, "csv-import")
        persist.save(store, draft, name="csv-import", overwrite=True)
        if done == "Wrote reader.py":
            clock.move(days=1)

    kept = store.load(store.find("csv-import")).done
    assert [each.split(" (")[0] for each in kept] == [
        "### Day 1",
        "Wrote reader.py",
        "### Day 2",
        "Wrote writer.py",
        "Ran 18 tests",
    ]


@pytest.mark.accept(55)
def test_a_later_day_keeps_the_task_the_decisions_and_what_failed(
    store: Store, clock: Clock
) -> None:
    fields = {
        "decisions": [{"what": "Stream rows", "why": "2 GB files"}],
        "done": ["Wrote reader.py"],
    }
    first = compose({"summary": "Import CSV files", **fields}, store)
    persist.save(store, first, name="csv-import")
    clock.move(days=1)
    second = {"done": ["Wrote writer.py"], "failed": [{"what": "mmap", "why": "no seeking"}]}
    draft = append_day(compose({**fields, **second}, store), store, "csv-import")
    persist.save(store, draft, name="csv-import", overwrite=True)
    third = append_day(compose({}, store), store, "csv-import")

    assert third.summary == "Import CSV files"
    assert [each.what for each in third.decisions] == ["Stream rows"]
    assert [each.what for each in third.failed] == ["mmap"]


@pytest.mark.accept(25)
def test_a_guessed_next_action_is_left_out_and_questions_stay(store: Store) -> None:
    fields = {
        "next_action": {"text": "Probably run the tests", "origin": "inferred"},
        "questions": ["Option A or B?"],
        "decisions": [{"what": "Use B", "why": "it is smaller"}],
    }

    draft = without_guess(compose(fields, store))

    assert draft.next_action is None
    assert draft.questions == ["Option A or B?"]
    assert draft.decisions[0].what == "Use B"


def test_a_stated_next_action_stays(store: Store) -> None:
    draft = compose({"next_action": {"text": "Run pytest -k csv"}}, store)

    assert without_guess(draft) == draft
