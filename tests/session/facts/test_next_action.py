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
from leftoff.session.facts.sentences import split_sentences

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
        "Answer the prompt that is still waiting: also the docs",
    )


def test_a_call_cut_short_is_to_be_checked_and_repeated() -> None:
    assert infer(ASKED, TODOS, *FAILED, OPEN) == (
        "call",
        "Check, then repeat, the call that was cut short: Bash: make.",
    )


def test_a_question_left_open_is_put_to_the_user_again() -> None:
    question = ToolCall(id="1", tool="AskUserQuestion", what="Tabs?")

    assert infer(ASKED, question) == ("call", "Ask the user again: Tabs?")


def test_a_look_cut_short_has_no_effect_to_check() -> None:
    look = ToolCall(id="1", tool="Read", kind="read", what="/r/a.py", paths=("/r/a.py",))

    status = ToolCall(id="1", tool="Bash", kind="run", what="git status", command="git status")

    assert infer(ASKED, look) == ("call", "Repeat the call that was cut short: Read: /r/a.py.")
    assert infer(ASKED, status) == ("call", "Repeat the call that was cut short: Bash: git status.")


def test_a_plan_that_nobody_answered_is_to_be_approved() -> None:
    plan = ToolCall(id="1", tool="ExitPlanMode", what="Plan: Move the form")

    assert infer(ASKED, plan) == ("call", "Ask the user to approve the plan: Move the form.")


def test_calls_cut_short_together_are_all_named() -> None:
    other = ToolCall(id="2", tool="Bash", kind="run", what="make lint", command="make lint")

    _, text = infer(ASKED, other, OPEN)

    assert (
        text
        == "Check, then repeat, the call that was cut short: Bash: make. Also cut short: make lint."
    )


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


@pytest.mark.parametrize(
    "after",
    [
        [AssistantText(text="I'm deleting the package now."), *edit("/r/a.py")],
        [AssistantText(text="Done with a. Shall I begin with b?")],
        [event for n in range(21) for event in run(f"make {n}")],
    ],
)
def test_a_list_that_nobody_ticks_off_is_overtaken(after: list[SessionEvent]) -> None:
    assert infer(ASKED, TODOS, *after)[0] != "todo"


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
        "Fix the parser.",
    )


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("Next I will run pytest tests/test_export.py.", "Run pytest tests/test_export.py."),
        ("Now let me check the `--json` option:", "Check the `--json` option."),
        ("OK, so now I'll quickly run it again, then I'll commit.", "Run it again, then commit."),
        ("I\u2019m going to add a test", "Add a test."),
        ("Once CI is green, I'll merge the branch.", "Once CI is green, merge the branch."),
        ("The regex drops commas. Let me fix it.", "Fix it: The regex drops commas."),
        ("That fails, so let me guard it.", "Guard it: That fails."),
        ("Good question \u2014 let me look at the job.", "Look at the job."),
        ("The fix is to send the text directly:", "Send the text directly."),
        ("I'm adding a guard now.", "Continue adding a guard now."),
        ("Now the README, for the new build:", "Continue with the README, for the new build."),
        ("Now it builds. Let me run the tests.", "Run the tests."),
        ("It failed. Next action: fix the path.", "Fix the path."),
        ("Now I will:\n- mend the test", "Mend the test."),
        ("Let me look. If it is old, I'll drop it.", "Look. If it is old, drop it."),
        (
            "Set the flag, revert the rest, then I'll test.",
            "Set the flag, revert the rest, then test.",
        ),
        # Not safe to turn around, so the words stay as they are.
        ("I'll be careful with the cache.", "I'll be careful with the cache."),
        ("Let me see whether I broke it.", "Let me see whether I broke it."),
        ("Let me revert what I changed.", "Let me revert what I changed."),
        ("Let me show you the table:", "Let me show you the table:"),
    ],
)
def test_an_announcement_reads_as_an_order(said: str, order: str) -> None:
    assert infer(ASKED, *run("rg x"), AssistantText(text=said)) == ("proposal", order)


@pytest.mark.parametrize("said", ["All tests pass.", "Done. Let me know if you need more."])
def test_after_an_answer_the_user_says_what_comes_next(said: str) -> None:
    source, text = infer(ASKED, *edit("/r/a.py"), AssistantText(text=said))

    assert source == "proposal"
    assert text.startswith("Ask the user what comes next. The agent said last: ")


def test_a_question_of_the_agent_is_put_to_the_user() -> None:
    asked = AssistantText(text="The form works. Should I port the reader too?")

    assert infer(ASKED, asked) == ("proposal", "Ask the user: Should I port the reader too?")


def test_what_stands_in_code_was_not_asked() -> None:
    said = AssistantText(text='It prints:\n```\nDid you mean "enable"?\n```\nAll tests pass.')

    _, text = infer(ASKED, *edit("/r/a.py"), said)

    assert text == "Ask the user what comes next. The agent said last: All tests pass."


def test_an_item_of_a_list_is_not_the_last_sentence() -> None:
    said = AssistantText(text="The form is done and tested.\n\n- a is new\n- b is gone")

    _, text = infer(ASKED, *edit("/r/a.py"), said)

    assert text.endswith("The agent said last: The form is done and tested.")


def test_the_number_of_an_item_stays_with_it() -> None:
    assert split_sentences("Do this: 4. **Read it** now. Then go.") == [
        "Do this: 4. **Read it** now.",
        "Then go.",
    ]


def test_a_search_and_a_sub_agent_are_named_by_what_they_were_for() -> None:
    search = ToolCall(
        id="1", tool="Grep", kind="search", what="pattern: form, -i: true, path: src, -n: true"
    )
    agent = ToolCall(
        id="2", tool="Task", kind="agent", what="description: Find forms, prompt: Look, a lot"
    )
    refused = ToolCall(id="3", tool="ExitPlanMode", what="Plan: Move it")
    ended = [ToolResult(id=each, ok=True) for each in "12"]

    _, text = infer(
        ASKED, search, agent, *ended, refused, ToolResult(id="3", ok=False, rejected="")
    )

    assert text == (
        "Continue with the request: fix the login page. Most recently the agent searched form, "
        "path: src, asked a sub-agent: Find forms and called ExitPlanMode: Plan: Move it "
        "(the user refused)."
    )


def test_silent_calls_after_the_last_words_are_told() -> None:
    words = AssistantText(text="Let me fix the parser.")

    source, text = infer(ASKED, words, *edit("/r/a.py"), *run("make test", "ok"))

    assert source == "trail"
    assert text == (
        "Continue: fix the parser. Since then the agent edited /r/a.py and ran `make test`."
    )


def test_what_the_agent_does_now_is_an_order_too() -> None:
    words = AssistantText(text="I freeze the clock in test_login.py first.")
    past = AssistantText(text="I froze the clock. I ran the tests.")

    _, text = infer(ASKED, words, *edit("/r/a.py"))
    _, other = infer(ASKED, past, *edit("/r/a.py"))

    assert text.startswith("Continue: freeze the clock in test_login.py first. Since then")
    assert other.startswith("Continue with the request: fix the login page.")


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

    expected = "Run the tests of the exporter."
    assert (text, beside) == (expected, expected)


def test_a_go_ahead_is_never_quoted_as_the_request() -> None:
    source, text = infer(UserText(text="continue"), *edit("/r/a.c"))

    assert source == "trail"
    assert text == "Continue. Most recently the agent edited /r/a.c."
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
