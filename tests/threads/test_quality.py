from pathlib import Path
from typing import Any

import msgspec
import pytest

from leftoff.checkpoint import Checkpoint, Commit, Decision, FileRef, NextAction, Plan
from leftoff.threads.persist import is_vague, lint
from stores import draft

GOOD: dict[str, Any] = {
    "summary": "Validate the login form before it is sent",
    "done": ["`validate()` in src/login.py rejects empty passwords; 12 tests pass"],
    "next_action": NextAction(text="Run pytest tests/login and fix the two failures"),
    "blockers": ["The staging database refuses our user"],
    "decisions": [Decision(what="Use zod", why="the server shares the schema")],
}


def checkpoint(**changes: Any) -> Checkpoint:
    return msgspec.structs.replace(draft("login-form"), **(GOOD | changes))


def broken(tmp_path: Path, **changes: Any) -> list[str]:
    return [finding.rule for finding in lint(checkpoint(**changes), tmp_path)]


def test_a_good_checkpoint_passes(tmp_path: Path) -> None:
    assert lint(checkpoint(), tmp_path) == []


@pytest.mark.parametrize("summary", [None, "", "wip", "Continue working on the task", "login"])
def test_the_task_must_be_clear(tmp_path: Path, summary: str | None) -> None:
    assert broken(tmp_path, summary=summary) == ["task"]


@pytest.mark.parametrize(
    "done",
    [["made good progress"], ["fixed some bugs", "did more work"], ["everything is fine so far"]],
)
def test_progress_must_name_something_to_look_at(tmp_path: Path, done: list[str]) -> None:
    assert broken(tmp_path, done=done) == ["progress"]


def test_no_word_of_progress_is_shown(tmp_path: Path) -> None:
    assert broken(tmp_path, done=[]) == ["progress"]


def test_changed_files_are_progress_and_the_last_commit_alone_is_not(tmp_path: Path) -> None:
    assert broken(tmp_path, done=[], files_modified=["a.py"]) == []
    assert broken(tmp_path, done=[], last_commit=Commit(sha="1" * 40)) == ["progress"]


@pytest.mark.parametrize(
    "text", ["", "   ", "continue", "Continue the work", "TBD", "tests", "Continue testing"]
)
@pytest.mark.accept(30)
def test_the_next_action_can_be_carried_out_without_asking(tmp_path: Path, text: str) -> None:
    assert broken(tmp_path, next_action=NextAction(text=text)) == ["next-action"]


def test_a_missing_next_action_is_shown(tmp_path: Path) -> None:
    assert broken(tmp_path, next_action=None) == ["next-action"]


@pytest.mark.parametrize(
    "blocker", ["stuck", "some issues", "none", "database", "Need to fix some conflicts"]
)
def test_a_blocker_is_concrete(tmp_path: Path, blocker: str) -> None:
    assert broken(tmp_path, blockers=[blocker]) == ["blockers"]


def test_a_decision_carries_its_reason(tmp_path: Path) -> None:
    assert broken(tmp_path, decisions=[Decision(what="Use zod")]) == ["decisions"]
    assert broken(tmp_path, decisions=[Decision(what="Use zod", why="it works")]) == ["decisions"]


@pytest.mark.parametrize(
    "what", ["Chose zod over yup because the server has it", "Deferred Redis until 1k rps"]
)
def test_a_reason_may_be_part_of_the_sentence(tmp_path: Path, what: str) -> None:
    assert broken(tmp_path, decisions=[Decision(what=what)]) == []


def test_named_paths_exist(tmp_path: Path) -> None:
    (tmp_path / "there.py").touch()
    files = [FileRef(path="there.py"), FileRef(path="gone.py"), FileRef(path="gone.py")]

    findings = lint(checkpoint(files=files, plan=Plan(path="PLAN.md")), tmp_path)

    assert [each.message for each in findings] == [
        "There is no file gone.py",
        "There is no file PLAN.md",
    ]


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "~nobody-here/file", ""])
def test_odd_paths_do_not_break_the_judgement(tmp_path: Path, path: str) -> None:
    assert set(broken(tmp_path, files=[FileRef(path=path)])) <= {"paths"}


@pytest.mark.parametrize("name", ["task", "Backup", "Not Kebab", "work", "a--b"])
def test_the_name_is_specific_and_kebab_case(tmp_path: Path, name: str) -> None:
    assert broken(tmp_path, name=name) == ["name"]


def test_an_unnamed_checkpoint_needs_no_name(tmp_path: Path) -> None:
    assert broken(tmp_path, name=None) == []


@pytest.mark.accept(56)
@pytest.mark.parametrize("key", ["notes", "done", "summary", "left_off"])
def test_a_pasted_conversation_is_shown(tmp_path: Path, key: str) -> None:
    chat = "User: fix src/a.py\nAssistant: done\nUser: and src/b.py?\nAssistant: yes, src/b.py\n"
    value: object = [chat] if key in {"notes", "done"} else chat

    assert broken(tmp_path, **{key: value}) == ["raw-chat"]


def test_a_few_lines_with_a_colon_are_not_a_conversation(tmp_path: Path) -> None:
    assert broken(tmp_path, notes=["User: the admin, see src/users.py", "System: Debian 12"]) == []


def test_every_broken_rule_is_named_at_once(tmp_path: Path) -> None:
    nothing = Checkpoint(schema=1, id="", saved_at=draft().saved_at, trigger="manual")

    assert {finding.rule for finding in lint(nothing, tmp_path)} == {
        "task",
        "progress",
        "next-action",
    }


@pytest.mark.parametrize("text", ["", "continue", "Keep going with the rest", "fix bugs"])
def test_words_that_fit_any_task_are_vague(text: str) -> None:
    assert is_vague(text)


@pytest.mark.parametrize("text", ["Rename parse_date", "fix the date parser", "修复登录表单"])
def test_words_about_the_work_are_not_vague(text: str) -> None:
    assert not is_vague(text)
