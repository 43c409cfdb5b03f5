"""The next action has one source; the first that applies wins."""

import pytest

from leftoff.agents.stream import (
    AssistantText,
    PlanSeen,
    PromptQueued,
    SessionEvent,
    TodoItem,
    TodoList,
    ToolCall,
    ToolResult,
    UserText,
)
from leftoff.session.facts.fold import Fold
from leftoff.session.facts.next_action import infer_next_action
from leftoff.session.facts.report import report

ASKED = UserText(text="fix the login page")
TODOS = TodoList(items=(TodoItem(text="a", status="completed"), TodoItem(text="b")))


def infer(*events: SessionEvent) -> tuple[str, str]:
    fold = Fold()
    fold.add(events)
    found = infer_next_action(report(fold.export()))
    return (found.source, found.text) if found else ("", "")


def run(command: str, output: str = "", *, ok: bool = True) -> list[SessionEvent]:
    call = ToolCall(id=command, tool="Bash", kind="run", what=command, command=command)
    return [call, ToolResult(id=command, ok=ok, output=output)]


def edit(path: str) -> list[SessionEvent]:
    call = ToolCall(id=path, tool="Edit", kind="edit", what=path, paths=(path,))
    return [call, ToolResult(id=path, ok=True)]


FAILED = run("make test", "src/a.c:3:1: error: no form", ok=False)
OPEN = ToolCall(id="open", tool="Bash", kind="run", what="make", command="make")


def test_a_waiting_prompt_comes_first() -> None:
    prompt = PromptQueued(text="also the docs")

    assert infer(ASKED, TODOS, *FAILED, OPEN, prompt) == (
        "prompt",
        "Answer the prompt that was still waiting: also the docs",
    )


def test_a_call_cut_short_is_to_be_checked_and_repeated() -> None:
    assert infer(ASKED, TODOS, *FAILED, OPEN) == (
        "call",
        "Check, then repeat, the call cut short: Bash: make.",
    )


def test_a_question_left_open_is_put_to_the_user_again() -> None:
    question = ToolCall(id="1", tool="AskUserQuestion", what="Tabs?")

    assert infer(ASKED, question) == ("call", "Ask the user again: AskUserQuestion: Tabs?.")


def test_a_failure_is_to_be_repaired() -> None:
    source, text = infer(ASKED, TODOS, *FAILED, *edit("/r/a.c"))

    assert source == "failure"
    assert "`make test`" in text
    assert "src/a.c:3:1: error: no form" in text
    assert "Since then the agent edited /r/a.c" in text


@pytest.mark.parametrize(
    "after",
    [
        run("make test -k form"),
        run("git commit -m x", "[main 1234567] x"),
        [UserText(text="now write the changelog"), *run("ls")],
        [AssistantText(text="The test was broken before. All done.")],
    ],
)
def test_a_failure_that_was_overtaken_is_not_the_next_action(after: list[SessionEvent]) -> None:
    assert infer(ASKED, *FAILED, *after)[0] != "failure"


def test_nobody_repairs_a_look_around() -> None:
    assert infer(ASKED, *run("ls nowhere", "ls: no such file", ok=False))[0] == "trail"


def test_the_next_todo_is_continued() -> None:
    assert infer(ASKED, TODOS, *edit("/r/a.py")) == ("todo", "Continue step 2 of 2: b.")


@pytest.mark.parametrize(
    "after",
    [
        [UserText(text="now write the changelog"), *edit("/r/CHANGES")],
        run("git commit -m x", "[main 1234567] x"),
    ],
)
def test_a_todo_that_was_overtaken_is_not_continued(after: list[SessionEvent]) -> None:
    assert infer(ASKED, TODOS, *after)[0] == "trail"


def test_a_go_ahead_leaves_the_todos_in_force() -> None:
    assert infer(ASKED, TODOS, UserText(text="continue"))[0] == "todo"


def test_the_next_part_of_the_plan_follows() -> None:
    plan = PlanSeen(text="# Login\n\n## 1. Form\n`src/form.py`\n\n## 2. Test\n`src/test.py`\n")

    source, text = infer(ASKED, plan, *edit("/r/src/form.py"))

    assert (source, text) == ("plan", 'Do the next part of the plan "Login": 2. Test.')


def test_what_the_agent_announced_is_to_be_done() -> None:
    words = AssistantText(text="Found it. Let me fix the parser.")

    assert infer(ASKED, *run("rg x"), words) == (
        "proposal",
        "Do what the agent announced: Let me fix the parser.",
    )


def test_after_an_answer_the_user_says_what_comes_next() -> None:
    source, text = infer(ASKED, *edit("/r/a.py"), AssistantText(text="All tests pass."))

    assert source == "proposal"
    assert "ask the user what comes next" in text


def test_silent_calls_after_the_last_words_are_told() -> None:
    words = AssistantText(text="Let me fix the parser.")

    source, text = infer(ASKED, words, *edit("/r/a.py"), *run("make test", "ok"))

    assert source == "trail"
    assert "Since then the agent edited /r/a.py, ran `make test`." in text


def test_words_before_the_last_request_are_never_quoted() -> None:
    words = AssistantText(text="Let me fix the parser.")

    assert infer(ASKED, words, UserText(text="stop, write the docs first")) == (
        "request",
        "Start with the request: stop, write the docs first",
    )


def test_a_request_is_not_begun_again_once_a_tool_has_run() -> None:
    source, text = infer(ASKED, *run("ls"))

    assert source == "trail"
    assert "Start with" not in text


def test_nothing_known_is_nothing_said() -> None:
    assert infer() == ("", "")


def test_a_bare_promise_does_not_hide_what_was_announced_before() -> None:
    announced = AssistantText(text="The rows stream. Next I will run the tests of the exporter.")
    later = UserText(text="and afterwards update the changelog")

    _, text = infer(ASKED, announced, later, AssistantText(text="I will."))
    _, beside = infer(ASKED, AssistantText(text=f"I will. {announced.text}"))

    expected = "Do what the agent announced: Next I will run the tests of the exporter."
    assert (text, beside) == (expected, expected)


def test_a_go_ahead_is_never_quoted_as_the_request() -> None:
    source, text = infer(UserText(text="continue"), *edit("/r/a.c"))

    assert source == "trail"
    assert text == "Continue. The agent has edited /r/a.c."
    assert infer(UserText(text="continue")) == ("", "")


def test_a_question_that_was_only_answered_is_not_the_task() -> None:
    fold = Fold()
    asked = UserText(text="What is the capital of France?")
    fold.add([asked, AssistantText(text="Paris."), ASKED, *edit("/r/a.c")])

    assert report(fold.export()).task == ASKED.text


def test_only_edits_and_commands_that_change_something_count_as_work() -> None:
    fold = Fold()
    looked = ToolResult(id="ls", ok=True, at="2026-11-15T12:05:00Z")
    edited = ToolResult(id="/r/a.c", ok=True, at="2026-11-15T12:01:00Z")
    fold.add([ASKED, edit("/r/a.c")[0], edited, run("ls")[0], looked])

    assert report(fold.export()).worked_at == "2026-11-15T12:01:00Z"
