import pytest

from leftoff.errors import ChoiceNeeded
from leftoff.knowledge import features
from leftoff.knowledge.features import Interrupted, ItemDraft, Loop, Try
from leftoff.store import Store
from stores import contents


@pytest.fixture
def begun(store: Store) -> Store:
    """Return a store where a session is at its third attempt."""
    features.add(store, ItemDraft(name="Export orders"))
    features.add(store, ItemDraft(name="Import orders"))
    features.start(store, "1", session_id="died")
    for way, cause in (("Stringify", "unbounded array"), ("Temp file", "")):
        features.attempt(
            store, Try(approach=way, root_cause=cause, errors=["too slow"]), session_id="died"
        )
    return store


def of_session(store: Store, session_id: str) -> Loop:
    found = features.load_loop(store, session_id)
    assert found is not None
    return found


@pytest.mark.accept(152)
@pytest.mark.accept(153)
def test_a_session_that_ends_in_the_middle_leaves_a_mark(begun: Store) -> None:
    mark = features.mark_interrupted(begun, "died", "crashed")

    assert mark == Interrupted(
        feature="feature-001",
        attempt=3,
        reason="crashed",
        at=mark.at if mark else begun.now(),
        session_id="died",
    )
    [loop] = features.list_interrupted_loops(begun)
    assert loop.interrupted == mark
    assert [each.approach for each in loop.history] == ["Stringify", "Temp file"]


@pytest.mark.accept(152)
def test_other_sessions_are_not_touched_by_one_that_died(begun: Store) -> None:
    features.start(begun, "2", session_id="alive")
    before = contents(begun.project.store / "loops")

    features.mark_interrupted(begun, "died", "crashed")
    features.mark_interrupted(begun, "never-seen", "crashed")

    after = contents(begun.project.store / "loops")
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] == ["session-died.json"]
    assert of_session(begun, "alive").interrupted is None


def test_a_mark_is_made_once(begun: Store) -> None:
    features.mark_interrupted(begun, "died", "crashed")
    before = contents(begun.project.store)

    assert features.mark_interrupted(begun, "died", "ended") is None
    assert contents(begun.project.store) == before


@pytest.mark.accept(153)
def test_a_session_that_ends_after_its_feature_passed_leaves_no_mark(begun: Store) -> None:
    features.pass_(begun, session_id="died")
    before = contents(begun.project.store)

    assert features.mark_interrupted(begun, "died", "ended") is None
    assert contents(begun.project.store) == before


@pytest.mark.accept(153)
@pytest.mark.parametrize("go_on", ["attempt", "pass", "fail"])
def test_continuing_removes_the_mark(begun: Store, go_on: str) -> None:
    features.mark_interrupted(begun, "died", "ended")

    if go_on == "attempt":
        features.attempt(begun, Try(approach="Once more"), session_id="died")
    elif go_on == "pass":
        features.pass_(begun, session_id="next")
    else:
        features.fail(begun, session_id="next")

    assert features.list_interrupted_loops(begun) == []
    assert all(loop.interrupted is None for loop in features.load_loops(begun).values())


def test_a_feature_that_passed_elsewhere_is_not_shown_as_interrupted(begun: Store) -> None:
    features.mark_interrupted(begun, "died", "ended")
    features.update(begun, "1", status="passing")

    assert features.list_interrupted_loops(begun) == []


@pytest.mark.accept(154)
def test_starting_what_broke_off_asks_how_and_shows_what_failed(begun: Store) -> None:
    features.mark_interrupted(begun, "died", "crashed")
    before = contents(begun.project.store)

    with pytest.raises(ChoiceNeeded) as asked:
        features.start(begun, "1", session_id="next")

    assert asked.value.message.splitlines() == [
        "INTERRUPTED: feature-001 Export orders broke off at attempt 3 of 15 (crashed)",
        "  1. Stringify -> unbounded array",
        "  2. Temp file -> too slow",
    ]
    assert [each["label"].partition(":")[0] for each in asked.value.choices] == [
        "FRESH APPROACH", "RETRY SAME", "RESET",
    ]  # fmt: skip
    assert asked.value.choices[0]["command"] == "leftoff feature start feature-001 --again fresh"
    assert contents(begun.project.store) == before


@pytest.mark.accept(154)
@pytest.mark.parametrize(
    ("again", "attempt", "results"),
    [
        ("retry", 3, ["failed", "failed"]),
        ("fresh", 4, ["failed", "failed", "interrupted"]),
        ("reset", 1, []),
    ],
)
def test_work_that_broke_off_is_taken_up_as_the_user_says(
    begun: Store, again: features.Again, attempt: int, results: list[str]
) -> None:
    features.mark_interrupted(begun, "died", "crashed")

    features.start(begun, "1", session_id="next", again=again)

    loop = of_session(begun, "next")
    assert (loop.attempt, [each.result for each in loop.history]) == (attempt, results)
    assert features.list_interrupted_loops(begun) == []
    feature = features.find(features.load(begun), "1")
    assert (feature.status, feature.attempts) == ("in_progress", 0 if again == "reset" else 2)


def test_the_newest_that_broke_off_is_shown_first(begun: Store) -> None:
    features.start(begun, "2", session_id="also")
    features.mark_interrupted(begun, "died", "ended")
    features.mark_interrupted(begun, "also", "crashed")

    assert [loop.feature for loop in features.list_interrupted_loops(begun)] == [
        "feature-002", "feature-001",
    ]  # fmt: skip
