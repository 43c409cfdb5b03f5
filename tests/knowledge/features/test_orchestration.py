import msgspec
import pytest

from leftoff.knowledge import features, memory
from leftoff.knowledge.features import AgentResult, Choice, Orchestration, Team
from leftoff.store import Store
from stores import contents, set_orchestration

DONE = AgentResult(
    agent="worker-1",
    role="backend",
    feature="feature-007",
    status="completed",
    summary="Streamed the rows",
    files=["src/export.py"],
)
FAILED = AgentResult(
    agent="worker-2",
    role="tests",
    feature="feature-007",
    status="failed",
    summary="Snapshot of the whole file",
    errors=["too large"],
    root_cause="one million rows",
    prevention="compare the first and last rows",
)
WHOLE = Orchestration(
    session="s1",
    results=[DONE, FAILED],
    team=Team(name="exporters", feature="feature-007", mates=[DONE]),
    decisions=[Choice(decision="Stream CSV", rationale="big tenants", alternatives=["temp file"])],
    patterns=["Routes register through create_route()"],
)


def texts(store: Store, kind: memory.Kind) -> list[str]:
    return [each.text for each in memory.entries(store, kinds=[kind])]


@pytest.mark.accept(149)
def test_what_agents_found_together_goes_to_memory_and_the_slate_is_clean(store: Store) -> None:
    set_orchestration(store, WHOLE)

    folded = features.fold_orchestration(store)

    assert folded is not None
    assert folded.messages == [
        "Cleaned up team state for exporters",
        "Persisted 2 agent results to procedural memory",
    ]
    assert texts(store, "success") == ["Streamed the rows"]
    [failure] = memory.entries(store, kinds=["failure"])
    assert (failure.text, failure.why, failure.impact, failure.feature) == (
        "Snapshot of the whole file", "one million rows", "compare the first and last rows",
        "feature-007",
    )  # fmt: skip
    [decision] = memory.entries(store, kinds=["decision"])
    assert (decision.text, decision.why, decision.alternatives) == (
        "Stream CSV", "big tenants", ["temp file"],
    )  # fmt: skip
    assert texts(store, "pattern") == ["Routes register through create_route()"]
    assert features.load(store).orchestration == Orchestration()


@pytest.mark.accept(149)
@pytest.mark.parametrize(
    "nothing",
    [Orchestration(), Orchestration(session="s1"), Orchestration(results=[DONE], patterns=["x"])],
)
def test_without_a_session_or_results_nothing_is_touched(
    store: Store, nothing: Orchestration
) -> None:
    set_orchestration(store, nothing)
    before = contents(store.project.store)

    assert features.fold_orchestration(store) is None
    assert contents(store.project.store) == before


def test_what_a_team_reached_and_nobody_reported_counts_too(store: Store) -> None:
    set_orchestration(store, Orchestration(session="s1", team=Team(name="exporters", mates=[DONE])))

    folded = features.fold_orchestration(store)

    assert folded is not None
    assert folded.results == 1
    assert texts(store, "success") == ["Streamed the rows"]


def test_folding_again_after_a_kill_adds_nothing_twice(store: Store) -> None:
    set_orchestration(store, WHOLE)
    features.fold_orchestration(store)
    # Killed after memory was written, it would find all as it was.
    set_orchestration(store, WHOLE)

    features.fold_orchestration(store)

    assert len(memory.entries(store)) == 4


def test_unknown_keys_outlive_the_folding(store: Store) -> None:
    set_orchestration(store, msgspec.structs.replace(WHOLE, extra={"mode": "lead"}))

    features.fold_orchestration(store)

    assert features.load(store).orchestration == Orchestration(extra={"mode": "lead"})


def test_results_come_in_one_by_one_and_each_once(store: Store) -> None:
    for result in (DONE, FAILED, DONE):
        features.add_result(store, "s1", result)

    known = features.load(store).orchestration
    assert (known.session, known.results) == ("s1", [DONE, FAILED])


def test_a_result_without_words_is_named_after_who_brought_it(store: Store) -> None:
    features.add_result(store, "s1", AgentResult(agent="worker-3", role="docs", status="failed"))

    features.fold_orchestration(store)

    assert texts(store, "failure") == ["worker-3: docs"]
