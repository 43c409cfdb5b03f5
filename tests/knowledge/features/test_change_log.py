"""Log lines can be imported after others have changed the same board."""

from datetime import UTC, datetime

from leftoff.knowledge.features import change_log
from leftoff.knowledge.features.board import Board, Feature
from leftoff.knowledge.features.change_log import BoardState, FeatureLogLine

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def with_feature(name: str) -> BoardState:
    return BoardState(board=Board(features=[Feature(id="feature-001", name=name, created_at=NOW)]))


def added(name: str) -> FeatureLogLine:
    line = change_log.compare_states(BoardState(), with_feature(name), at=NOW)
    assert line is not None
    return line


def names(state: BoardState) -> list[str]:
    return [each.name for each in state.board.features]


def test_two_features_of_the_same_microsecond_are_both_kept() -> None:
    state = change_log.apply_lines(with_feature("Export"), [added("Import"), added("Export")])

    assert names(state) == ["Export", "Import"]
    assert [each.id for each in state.board.features] == ["feature-001", "feature-002"]


def test_a_line_that_is_applied_twice_changes_nothing() -> None:
    once = change_log.apply_lines(BoardState(), [added("Export"), added("Import")])

    assert change_log.apply_lines(once, [added("Export"), added("Import")]) == once
