"""sail: the index of active work follows the plans' own files."""

from pathlib import Path

import pytest

from cli.runs import Cli
from hooks.letterboxes import install_python, replied
from leftoff import context
from leftoff.hooks import settle
from profiles.sailing import folder, index_of, plan, put, talk
from talk import Talk

__all__ = ["folder", "talk"]


def edited(talk: Talk, path: Path, tool: str = "Edit") -> None:
    talk.fire("PostToolUse", tool_name=tool, tool_input={"file_path": str(path)})


@pytest.mark.accept(67)
@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit"])
def test_the_index_follows_the_plan_that_was_edited(folder: Path, talk: Talk, tool: str) -> None:
    """D8: the event comes as JSON on standard input."""
    path = plan(folder, "rate-limits", 4)

    edited(talk, path, tool)

    assert index_of(folder) == {
        "active_plan": "rate-limits",
        "active_plan_stage": 4,
        "active_tdd": None,
        "active_tdd_phase": None,
        "last_checkpoint": None,
        "delegate_running": False,
    }


@pytest.mark.accept(67)
def test_the_index_follows_the_tests_that_come_first(folder: Path, talk: Talk) -> None:
    path = put(folder / "tdd-sessions" / "active.json", {"id": "tdd-1", "phase": "red"})
    put(folder / "state-index.json", {"active_plan": None, "mine": 1, "active_tdd": "old"})

    edited(talk, path)

    found = index_of(folder)
    assert (found["active_tdd"], found["active_tdd_phase"], found["mine"]) == ("tdd-1", "red", 1)


@pytest.mark.accept(67)
def test_any_other_file_leaves_the_index_alone(folder: Path, talk: Talk) -> None:
    plan(folder, "rate-limits", 4)
    before = put(folder / "state-index.json", {"active_plan": None}).read_bytes()

    for other in ("src/app.py", ".claude/plans/rate-limits/spec.md", ".claude/settings.json"):
        edited(talk, folder.parent / other)

    assert (folder / "state-index.json").read_bytes() == before


@pytest.mark.accept(67)
def test_the_real_hook_script_updates_the_index(folder: Path, talk: Talk) -> None:
    path = plan(folder, "rate-limits", 2)
    install_python("/bin/true")
    payload = talk.payload("PostToolUse", tool_name="Edit", tool_input={"file_path": str(path)})

    assert replied(talk, "PostToolUse", payload) is None
    assert settle.run(context.state_folder())

    assert index_of(folder)["active_plan"] == "rate-limits"


@pytest.mark.accept(68)
@pytest.mark.parametrize("stage", ["challenge", "4", 3.5, None, ["odd"], True])
def test_a_stage_may_be_anything_and_the_index_stays_whole(
    folder: Path, talk: Talk, stage: object
) -> None:
    """D7: a stage that is a word must not empty the index."""
    path = plan(folder, "rate-limits", stage)
    put(folder / "state-index.json", {"active_plan": None, "mine": "kept"})

    edited(talk, path)

    found = index_of(folder)
    assert (found["active_plan"], found["mine"]) == ("rate-limits", "kept")
    if isinstance(stage, str | float):
        assert found["active_plan_stage"] == stage


@pytest.mark.accept(68)
@pytest.mark.parametrize("text", ["", "{", '{"name": "rate-li', "[]", "\0\0"])
def test_a_broken_plan_changes_nothing_in_the_index(folder: Path, talk: Talk, text: str) -> None:
    """D7."""
    path = put(folder / "plans" / "rate-limits" / "state.json", text)
    index = {"active_plan": "rate-limits", "active_plan_stage": 4, "last_checkpoint": "x"}
    put(folder / "state-index.json", index)

    edited(talk, path)

    assert index_of(folder).items() >= index.items()


@pytest.mark.accept(68)
def test_an_edit_is_not_a_checkpoint(cli: Cli, folder: Path, talk: Talk) -> None:
    """D6: `last_checkpoint` moves with checkpoints only."""
    path = plan(folder, "rate-limits", 4)
    put(folder / "state-index.json", {"last_checkpoint": "2026-01-01T00:00:00Z"})
    edited(talk, path)
    assert index_of(folder)["last_checkpoint"] == "2026-01-01T00:00:00Z"

    cli.ok("save", "--summary", "Now it is one")
    saved = index_of(folder)["last_checkpoint"]
    plan(folder, "rate-limits", 5)
    edited(talk, path)

    assert index_of(folder)["last_checkpoint"] == saved > "2026-11"
    assert index_of(folder)["active_plan_stage"] == 5


@pytest.mark.accept(69)
@pytest.mark.parametrize("word", ["complete", "halted", "archived"])
def test_a_plan_that_is_over_is_not_active_and_the_next_open_one_is(
    folder: Path, talk: Talk, word: str
) -> None:
    plan(folder, "b-second", 2)
    plan(folder, "c-third", 3)
    put(folder / "state-index.json", {"active_plan": "a-first", "active_plan_stage": 7})

    edited(talk, plan(folder, "a-first", 7, execute=word))

    found = index_of(folder)
    assert (found["active_plan"], found["active_plan_stage"]) == ("b-second", 2)

    plan(folder, "b-second", 2, execute=word)
    edited(talk, plan(folder, "c-third", 3, execute=word))
    assert index_of(folder)["active_plan"] is None


def test_what_was_changed_in_a_shell_is_left_to_the_next_edit(folder: Path, talk: Talk) -> None:
    put(folder / "state-index.json", {"active_plan": "rate-limits", "active_plan_stage": 4})
    plan(folder, "rate-limits", 5)
    talk.ask("Go on")

    talk.fire("UserPromptSubmit", prompt="Go on")

    assert index_of(folder)["active_plan_stage"] == 4


def test_an_index_that_says_all_twice_is_kept_so(folder: Path, talk: Talk) -> None:
    put(folder / "state-index.json", {"active_blueprint": "old", "active_blueprint_stage": 1})

    edited(talk, plan(folder, "new", 3))

    found = index_of(folder)
    assert found["active_blueprint"] == found["active_plan"] == "new"
    assert found["active_blueprint_stage"] == found["active_plan_stage"] == 3


def test_the_same_event_reported_twice_changes_nothing_more(folder: Path, talk: Talk) -> None:
    path = plan(folder, "rate-limits", 4)
    edited(talk, path)
    before = _written(folder / "state-index.json")

    edited(talk, path)

    assert _written(folder / "state-index.json") == before


def _written(path: Path) -> tuple[int, int]:
    """Tell which file it is and when it was written; a look at it changes neither."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns
