"""A briefing tells the most useful first and never costs more than its budget."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.briefing import render
from leftoff.checkpoint import (
    SCHEMA,
    Checkpoint,
    InFlight,
    LastFailure,
    NextAction,
    Plan,
    Todo,
)
from leftoff.tokens import estimate

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def checkpoint(**fields: object) -> Checkpoint:
    given_fields = {"schema": SCHEMA, "id": "x", "saved_at": NOW, "trigger": "manual", **fields}
    return Checkpoint(**given_fields)  # type: ignore[arg-type]


FULL = checkpoint(
    branch="main",
    intent="Build the login page. It needs a form. It needs a test.",
    next_action=NextAction(text="Add the form.", origin="inferred"),
    left_off="The page is there. The form is not.",
    todos=[Todo(text="Add the form", status="in_progress"), Todo(text="Add the test")],
    last_failure=LastFailure(command="make test", error="error: no form\n1 failed"),
    focus_files=["src/login.py", "src/form.py", "README.md"],
    files_modified=["src/login.py", "src/css/page.css"],
    commands=["make test", "git status"],
    seen_files=["docs/login.md"],
)


def test_everything_is_told_when_there_is_room() -> None:
    text = render(FULL, None, budget=1500)

    for told in ("Build the login page", "Add the form.", "Add the test", "error: no form"):
        assert told in text
    for told in ("src/css/page.css", "docs/login.md", "- make test\n- git status", "main"):
        assert told in text


def test_files_of_one_folder_are_named_together() -> None:
    assert "- src/{login.py, form.py}\n- README.md" in render(FULL, None, budget=1500)


def test_a_name_that_several_folders_have_is_told_with_its_folder() -> None:
    text = render(
        checkpoint(
            focus_files=["pkg/new/README.md", "pkg/new/build.sh", "pkg/new/icon.png"],
            seen_files=["pkg/old/build.sh", "pkg/old/map.txt"],
        ),
        None,
        budget=1500,
    )

    assert "- pkg/new/{README.md, icon.png}\n- pkg/new/build.sh\n" in text
    assert "- pkg/old/build.sh\n- pkg/old/map.txt" in text


def test_a_call_named_in_the_next_action_is_not_told_twice() -> None:
    action = NextAction(text="Check, then repeat: Bash: make.", origin="inferred")
    interrupted = checkpoint(next_action=action, in_flight=InFlight(tool="Bash", what="make"))

    assert render(interrupted, None, budget=500).count("make") == 1


def test_last_words_quoted_in_the_next_action_are_not_told_twice() -> None:
    action = NextAction(text="The agent's last words: Let me look.", origin="inferred")
    said = checkpoint(next_action=action, intent="Fix it", left_off="Found it. Let me look.")

    text = render(said, None, budget=500)

    assert text.count("Let me look.") == 1
    assert "Found it." in text


def test_a_plan_named_in_the_task_is_not_told_twice() -> None:
    intent = "Implement the following plan:\n\n# Move the form\n\n## Context\n\nIt is old."
    plan = Plan(path="plans/form.md", title="Move the form")
    planned = checkpoint(intent=intent, plan=plan, focus_files=["plans/form.md", "form.py"])

    text = render(planned, None, budget=500)

    assert text.count("Move the form") == 1
    assert text.count("plans/form.md") == 1


@pytest.mark.parametrize("noise", ["## Context", "---", "```go", "***"])
def test_marks_that_tell_nothing_by_themselves_are_left_out(noise: str) -> None:
    text = render(checkpoint(intent=f"Fix it.\n{noise}\nNow."), None, budget=500)

    assert "Task: Fix it.\n > Now.\n" in text


def test_a_short_budget_keeps_the_task_the_next_action_and_the_first_files() -> None:
    text = render(FULL, None, budget=150)

    assert "Build the login page" in text
    assert "Add the form." in text
    assert "docs/login.md" not in text


@pytest.mark.parametrize("budget", [100, 200, 500, 1500])
@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text(max_size=80), min_size=5, max_size=40))
def test_no_briefing_costs_more_than_its_budget(budget: int, texts: list[str]) -> None:
    whole = checkpoint(
        intent=" ".join(texts),
        left_off="\n".join(texts),
        todos=[Todo(text=text) for text in texts],
        focus_files=texts[:10],
        blockers=texts,
        commands=texts,
    )

    assert estimate(render(whole, None, budget=budget)) <= budget
