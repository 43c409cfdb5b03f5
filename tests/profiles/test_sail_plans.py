"""Plans in stages, as files beside the code."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.profiles import sail_format, sail_plans


def put(folder: Path, path: str, value: object) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


@pytest.mark.accept(70)
@pytest.mark.parametrize(
    ("state", "number", "total", "is_open"),
    [
        ({"current_stage": 4}, 4, 7, True),
        ({"current_stage": "4"}, 4, 7, True),
        ({"current_stage": 3.5}, 3, 7, True),
        ({"current_stage": "test", "stages": {"spec": {}, "test": {}, "execute": {}}}, 2, 3, True),
        ({"current_stage": "unheard-of", "stages": {"spec": {}}}, None, 7, True),
        ({"current_stage": 4, "stages": {"spec": {}, "execute": {}}}, 4, 7, True),
        ({"current_stage": 2, "stages": {"spec": {}, "build": {}, "ship": {}}}, 2, 3, True),
        ({"current_stage": 4, "stages": {"spec": {}}}, 4, 7, True),
        ({"current_stage": 9, "stages": {"spec": {}}}, 9, 9, True),
        ({"current_stage": 7, "stages": {"execute": {"status": "complete"}}}, 7, 7, False),
        ({"current_stage": 7, "stages": {"execute": {"status": "Halted"}}}, 7, 7, False),
        ({"current_stage": 7, "stages": {"execute": "complete"}}, 7, 7, False),
        ({"current_stage": 2, "status": "archived"}, 2, 7, False),
        ({"current_stage": 2, "archived": True}, 2, 7, False),
        ({"current_stage": "complete"}, None, 7, False),
        ({}, None, 7, True),
    ],
)
def test_a_plan_shows_its_stage_and_whether_it_goes_on(
    tmp_path: Path, state: dict[str, Any], number: int | None, total: int, *, is_open: bool
) -> None:
    put(tmp_path, "plans/p/state.json", state)

    [plan] = sail_plans.list_plans(tmp_path)

    assert (plan.number, plan.total, plan.is_open) == (number, total, is_open)


def test_archived_and_broken_plans_are_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "plans/archive/state.json", {"current_stage": 1})
    put(tmp_path, "plans/torn/state.json", "{")
    put(tmp_path, "plans/empty/notes.md", "")
    put(tmp_path, "plans/good/state.json", {"current_stage": 1, "updated": "2026-11-15T10:00:00Z"})

    [plan] = sail_plans.list_plans(tmp_path)

    assert plan.name == "good"
    assert plan.updated_at == datetime(2026, 11, 15, 10, tzinfo=UTC)


def test_what_is_under_way_is_reported_in_canonical_keys(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    assert sail_plans.observe(tmp_path) == {}

    put(folder, "state-index.json", {"active_plan": "p", "active_plan_stage": 2})
    assert sail_plans.observe(tmp_path) == {"plan": {"title": "p", "step": 2}}

    put(folder, "plans/p/state.json", {"current_stage": 2, "stages": {"a": {}, "b": {}, "c": {}}})
    put(
        folder,
        "state-index.json",
        {"active_blueprint": "p", "active_blueprint_stage": 2, "active_tdd_phase": "red"},
    )
    assert sail_plans.observe(tmp_path) == {
        "plan": {"title": "p", "step": 2, "total": 3},
        "tdd_phase": "red",
    }


@given(st.binary(max_size=60) | st.just(b'{"active_plan": {"a": 1}, "current_stage": [1]}'))
def test_no_content_of_a_file_is_an_error(tmp_path_factory: Any, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("any") / ".claude"
    for path in ("state-index.json", "plans/p/state.json", "tdd-sessions/active.json"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)

    sail_plans.observe(folder.parent)
    sail_plans.list_plans(folder)
    sail_plans.read_tdd_session(folder)
    sail_plans.find_delegated(folder, sail_plans.read_index(folder) or {})
    sail_format.list_newest_kept(folder, 3)


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a\\b", "a\0b"])
def test_a_plan_is_a_folder_of_its_own(name: str) -> None:
    assert not sail_plans.is_plan_name(name)
