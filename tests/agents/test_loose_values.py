import re
from pathlib import Path

import pytest

from leftoff.agents.loose_values import (
    MOST_REMEMBERED,
    count,
    cut,
    cut_start,
    dash_path,
    decode_mapping,
    first_line,
    instant,
    is_within,
    parts_text,
    read_json,
    remember,
)

ENTRY = re.compile(r'\{"id":')


def test_a_word_at_the_cut_goes_whole() -> None:
    assert cut("one two three", 10) == "one two "
    assert cut("one two three", 7) == "one two"
    assert cut('say "hello" twice', 10) == 'say "'
    assert cut("one", 3) == "one"
    assert cut_start("one two three", 8) == " three"
    assert cut_start("one two three", 5) == "three"
    assert cut_start("one", 3) == "one"


def test_writing_without_blanks_is_cut_anywhere() -> None:
    assert cut("保存して再開する", 4) == "保存して"


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), (3.9, 3), (True, 0), ("3", 0), (None, 0), (1e300, 0), (float("inf"), 0)],
)
def test_only_sensible_numbers_count(value: object, number: int) -> None:
    assert count(value) == number


@pytest.mark.parametrize(
    ("value", "fields"),
    [({"a": 1}, {"a": 1}), ('{"a": 1}', {"a": 1}), ("[1]", {}), ("{", {}), (None, {}), (4, {})],
)
def test_arguments_may_be_an_object_or_its_text(value: object, fields: dict[str, int]) -> None:
    assert decode_mapping(value) == fields


def test_parts_are_joined_by_their_type() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, None, {"type": "text", "text": "b"}]

    assert parts_text(parts, "text") == "a\nb"
    assert parts_text("whole") == "whole"


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(1794770728802, "2026-11-15T19:25:28.802Z"), (1e14, "5138-11-16T09:46:40.000Z"), (9e14, "")],
)
def test_a_time_in_milliseconds_is_written_out(milliseconds: float, written: str) -> None:
    assert instant(milliseconds) == written


def test_memory_is_bounded_and_forgets_the_oldest() -> None:
    kept: dict[str, int] = {}
    for number in range(MOST_REMEMBERED + 3):
        remember(kept, str(number), number)

    assert len(kept) == MOST_REMEMBERED
    assert "2" not in kept


@pytest.mark.parametrize(
    ("cwd", "within"),
    [("/repo", True), ("/repo/sub", True), ("/repository", False), ("", False), ("/", False)],
)
def test_a_session_belongs_to_the_folder_it_runs_in(cwd: str, within: bool) -> None:  # noqa: FBT001
    assert is_within(cwd, Path("/repo")) is within


def test_folders_are_named_after_paths() -> None:
    assert dash_path("/Users/me/my_repo.git/") == "Users-me-my-repo-git"


def test_entries_around_damage_are_still_read() -> None:
    damaged = b'{"messages": [{"id": 1}, {"id": \xff2}, {"id": 3}, {"id"'

    assert read_json(damaged, ENTRY) == [{"id": 1}, {"id": 3}]
    assert read_json(b'{"id": 1}', ENTRY) == {"id": 1}


def test_a_first_line_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xff\n")

    assert first_line(path, 99) == {}
    assert first_line(tmp_path / "none", 99) == {}
