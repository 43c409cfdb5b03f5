"""Lines of the log can be taken in after others have changed the same board."""

from datetime import UTC, datetime

from leftoff.features import changes
from leftoff.features.changes import Line, State
from leftoff.features.values import Board, Feature

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def with_feature(name: str) -> State:
    return State(board=Board(features=[Feature(id="feature-001", name=name, created_at=NOW)]))


def added(name: str) -> Line:
    line = changes.difference(State(), with_feature(name), at=NOW)
    assert line is not None
    return line


def names(state: State) -> list[str]:
    return [each.name for each in state.board.features]


def test_two_features_of_the_same_microsecond_are_both_kept() -> None:
    state = changes.applied_all(with_feature("Export"), [added("Import"), added("Export")])

    assert names(state) == ["Export", "Import"]
    assert [each.id for each in state.board.features] == ["feature-001", "feature-002"]


def test_a_line_that_is_taken_in_twice_changes_nothing() -> None:
    once = changes.applied_all(State(), [added("Export"), added("Import")])

    assert changes.applied_all(once, [added("Export"), added("Import")]) == once
