from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.errors import LeftoffError, UsageError
from leftoff.knowledge import features, memory
from leftoff.knowledge.features import ItemDraft, Loop, Tasks, Try
from leftoff.store import Store
from stores import Clock, contents, set_loop


@pytest.fixture
def begun(store: Store) -> Store:
    """Return a store with two features, the first of them started."""
    features.add(store, ItemDraft(name="Export orders", related_files=["src/export.py"]))
    features.add(store, ItemDraft(name="Import orders"))
    features.start(store, "1")
    return store


def status(store: Store, key: str = "1") -> str:
    return features.find(features.load(store), key).status


def at_hand(store: Store, session_id: str | None = None) -> Loop:
    found = features.load_loop(store, session_id)
    assert found is not None
    return found


def test_starting_puts_a_feature_in_progress_at_the_first_attempt(begun: Store) -> None:
    loop = at_hand(begun)

    assert status(begun) == "in_progress"
    assert (loop.feature, loop.name, loop.type) == ("feature-001", "Export orders", "feature")
    assert (loop.status, loop.attempt, loop.max_attempts) == ("in_progress", 1, 15)
    assert loop.started_at


def test_starting_a_fix_knows_the_feature_it_repairs(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    features.add_fix(store, "1", ItemDraft(name="Fix it"))

    loop = features.start(store, "fix-feature-001-1")

    assert (loop.type, loop.linked_to, loop.scope) == ("fix", "feature-001", "feature-001")


def test_starting_what_is_under_way_changes_nothing(begun: Store) -> None:
    before = contents(begun.project.store)

    features.start(begun, "feature-001")

    assert contents(begun.project.store) == before


def test_a_second_feature_in_one_place_is_refused_with_the_way_out(begun: Store) -> None:
    with pytest.raises(LeftoffError, match="feature-001 is in progress here: attempt 1 of 15"):
        features.start(begun, "2")

    features.fail(begun)
    assert features.start(begun, "2").feature == "feature-002"


def test_a_failed_attempt_is_kept_in_the_loop_and_in_memory(begun: Store) -> None:
    loop = features.attempt(
        begun,
        Try(
            approach="Stringify the whole list",
            errors=["heap out of memory"],
            root_cause="unbounded array",
            prevention="stream",
        ),
    )

    assert loop.attempt == 2
    assert [(each.attempt, each.result, each.root_cause) for each in loop.history] == [
        (1, "failed", "unbounded array")
    ]
    assert features.find(features.load(begun), "1").attempts == 1
    [failure] = memory.entries(begun, kinds=["failure"])
    assert failure.text == "Stringify the whole list"
    assert (failure.why, failure.feature, failure.impact, failure.files) == (
        "unbounded array", "feature-001", "stream", ["src/export.py"],
    )  # fmt: skip


def test_an_attempt_that_worked_is_a_success_in_memory(begun: Store) -> None:
    loop = features.attempt(begun, Try(approach="Stream rows", result="passed"))

    assert (loop.attempt, loop.status) == (1, "in_progress")
    assert [each.text for each in memory.entries(begun, kinds=["success"])] == ["Stream rows"]
    assert memory.entries(begun, kinds=["failure"]) == []


def test_attempts_are_numbered_on_and_on(begun: Store) -> None:
    for number, result in enumerate(("failed", "passed", "failed", "failed")):
        features.attempt(begun, Try(approach=f"Way {number}", result=result))  # type: ignore[arg-type] # a list of literals

    loop = at_hand(begun)
    assert [each.attempt for each in loop.history] == [1, 2, 3, 4]
    assert loop.attempt == 5


def test_the_last_allowed_attempt_escalates(begun: Store) -> None:
    for number in range(15):
        assert at_hand(begun).attempt == number + 1
        features.attempt(begun, Try(approach=f"Way {number}"))

    loop = at_hand(begun)
    assert (loop.status, loop.attempt, loop.escalation_requested) == ("escalated", 15, True)
    assert status(begun) == "escalated"
    with pytest.raises(LeftoffError, match="Work on feature-001 has ended: escalated"):
        features.attempt(begun, Try(approach="Once more"))
    features.start(begun, "1", again="reset")
    assert at_hand(begun).attempt == 1


def test_an_attempt_without_a_feature_under_way_says_how_to_start_one(store: Store) -> None:
    with pytest.raises(LeftoffError) as nothing:
        features.attempt(store, Try(approach="Something"))
    assert "leftoff feature add" in nothing.value.hint
    features.add(store, ItemDraft(name="Export"))
    with pytest.raises(LeftoffError) as none:
        features.attempt(store, Try(approach="Something"))
    assert "leftoff feature start feature-001" in none.value.hint


def test_an_attempt_needs_its_approach(begun: Store) -> None:
    with pytest.raises(UsageError, match="needs the approach"):
        features.attempt(begun, Try(approach=" "))

    assert at_hand(begun).history == []


def test_passing_completes_the_loop_and_what_was_verified_is_kept(begun: Store) -> None:
    what = Try(approach="Stream rows", result="passed", verification={"tests": "42 passed"})
    item = features.pass_(begun, what=what)

    loop = at_hand(begun)
    assert (item.status, item.verification, item.attempts) == (
        "passing", {"tests": "42 passed"}, 1,
    )  # fmt: skip
    assert (loop.status, loop.verification) == ("completed", {"tests": "42 passed"})
    assert [each.text for each in memory.entries(begun, kinds=["success"])] == ["Stream rows"]


def test_a_feature_that_nobody_started_can_pass(begun: Store) -> None:
    assert features.pass_(begun, "2").status == "passing"
    assert at_hand(begun).feature == "feature-001"
    assert at_hand(begun).status == "in_progress"


@pytest.mark.parametrize(
    ("ending", "loop_status"),
    [("failing", "needs_review"), ("blocked", "needs_review"), ("escalated", "escalated")],
)
def test_a_feature_given_up_for_now_can_be_taken_up_where_it_was(
    begun: Store, ending: features.Ending, loop_status: str
) -> None:
    features.attempt(begun, Try(approach="One way"))

    features.fail(begun, status=ending, what=Try(approach="Another way"))

    assert status(begun) == ending
    assert at_hand(begun).status == loop_status
    loop = features.start(begun, "1")
    assert (loop.status, loop.attempt, len(loop.history)) == ("in_progress", 3, 2)
    assert status(begun) == "in_progress"


def test_a_feature_that_passes_can_be_started_again_as_a_new_loop(begun: Store) -> None:
    features.attempt(begun, Try(approach="One way"))
    features.pass_(begun)

    loop = features.start(begun, "1")

    assert (loop.history, loop.attempt) == ([], 2)
    assert status(begun) == "in_progress"


def test_a_legacy_mark_of_completion_does_not_outlive_new_work(begun: Store) -> None:
    features.put(begun, [features.Feature(id="feature-009", name="Old", extra={"passes": True})])
    features.fail(begun)

    features.start(begun, "9")

    assert not features.find(features.load(begun), "9").is_complete


def test_what_was_archived_is_repaired_not_started(begun: Store) -> None:
    features.pass_(begun)
    features.archive(begun)

    with pytest.raises(LeftoffError) as refused:
        features.start(begun, "1")

    assert "--fixes feature-001" in refused.value.hint


@pytest.mark.accept(147)
def test_a_completed_loop_is_reset_to_the_idle_record_with_its_commit(begun: Store) -> None:
    tasks = Tasks(enabled=True, chain=["1", "2", "3"], current="2", completed=["1"])
    set_loop(begun, features.Loop(
        feature="feature-001", status="in_progress", attempt=2, tasks=tasks
    ))  # fmt: skip
    features.pass_(begun)
    assert at_hand(begun).tasks.completed == ["1", "2", "3"]

    reset = features.reset_completed(begun, "abc1234")

    assert reset is not None
    assert reset.messages == ["All 3 tasks completed", "Loop completed and reset"]
    [loop] = features.load_loops(begun).values()
    here = str(begun.project.worktree)
    assert loop == Loop(status="idle", last_checkpoint="abc1234", worktree=here)
    assert features.load_loop(begun) is None
    assert features.reset_completed(begun, "def5678") is None


@pytest.mark.accept(147)
def test_a_loop_under_way_is_byte_for_byte_the_same_after_a_reset(begun: Store) -> None:
    features.attempt(begun, Try(approach="One way"))
    before = contents(begun.project.store)

    assert features.reset_completed(begun, "abc1234") is None
    assert contents(begun.project.store) == before


@pytest.mark.accept(155)
def test_sessions_side_by_side_have_loops_of_their_own(begun: Store) -> None:
    features.start(begun, "2", session_id="one")
    features.attempt(begun, Try(approach="Of one"), session_id="one")
    features.attempt(begun, Try(approach="Of nobody"))

    assert [each.approach for each in at_hand(begun, "one").history] == ["Of one"]
    assert [each.approach for each in at_hand(begun).history] == ["Of nobody"]
    assert len([*(begun.project.store / "loops").iterdir()]) == 2
    assert {each.text for each in memory.entries(begun)} == {"Of one", "Of nobody"}


def test_a_new_session_goes_on_with_the_loop_its_worktree_was_left_with(begun: Store) -> None:
    features.attempt(begun, Try(approach="Of nobody"))

    features.attempt(begun, Try(approach="Of the next"), session_id="next")

    assert [each.approach for each in at_hand(begun, "next").history] == [
        "Of nobody", "Of the next",
    ]  # fmt: skip


def test_a_session_that_starts_what_another_left_takes_the_loop_over(begun: Store) -> None:
    features.attempt(begun, Try(approach="Of nobody"))

    features.start(begun, "1", session_id="next")

    assert at_hand(begun, "next").attempt == 2
    under_way = [loop for loop in features.load_loops(begun).values() if loop.is_under_way]
    assert [loop.session_id for loop in under_way] == ["next"]


@pytest.mark.accept(156)
def test_worktrees_share_features_and_memory_and_have_loops_of_their_own(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("Begin")
    other = repo.worktree(tmp_path / "other", "side")
    main = Store(find_project(repo.folder), now=Clock())
    side = Store(find_project(other.folder), now=main.now)

    features.add(main, ItemDraft(name="Export"))
    features.add(side, ItemDraft(name="Import"))
    features.start(main, "1")
    features.start(side, "2")
    features.attempt(side, Try(approach="On the side"))

    assert features.load(main) == features.load(side)
    assert [each.name for each in features.load(main).features] == ["Export", "Import"]
    assert at_hand(main).feature == "feature-001"
    assert at_hand(side).feature == "feature-002"
    assert [each.text for each in memory.entries(main)] == ["On the side"]
    assert repo.git("status", "--porcelain") == ""
    main.close()
    side.close()
