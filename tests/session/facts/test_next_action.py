"""The next action has one source; the first that applies wins."""

import pytest

from leftoff.agents.stream import (
    AssistantText,
    Place,
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
from leftoff.session.facts.sentences import (
    asks_nothing_particular,
    split_sentences,
    split_statements,
)
from rows import for_each

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


@pytest.mark.parametrize(
    "error",
    [
        'Tool "run_shell_command" not found. Did you mean one of: "grep_search", "replace"?',
        "<tool_use_error>Error: No such tool available: Bash</tool_use_error>",
        "Model tried to call unavailable tool 'bash'. Available tools: edit.",
        "unsupported call: shell",
    ],
)
def test_a_command_for_which_the_agent_has_no_tool_did_not_fail(error: str) -> None:
    source, text = infer(
        UserText(text="Add sub() to calc.py"),
        *edit("/r/calc.py"),
        *run("pytest test_calc.py", error, ok=False),
        AssistantText(text="sub() is there. Next I will add test_sub to test_calc.py."),
    )

    assert (source, text.endswith("Add test_sub to test_calc.py.")) == ("proposal", True), text


def test_a_call_that_the_agents_program_blocked_neither_failed_nor_was_refused() -> None:
    call = ToolCall(
        id="b", tool="Bash", kind="run", what="sleep 61; make", command="sleep 61; make"
    )
    blocked = ToolResult(id="b", ok=False, output="Blocked: sleep 61", is_blocked=True)
    words = AssistantText(text="tests/test_limiter.py does not exist yet; I'll write it next.")
    failed = run("make test", "No module named 'tests.test_limiter'", ok=False)

    assert infer(ASKED, *failed, words, call, blocked) == infer(ASKED, *failed, words)
    assert "make test" in infer(ASKED, *failed, call, blocked)[1]


def test_a_waiting_prompt_comes_first() -> None:
    prompt = PromptQueued(text="also the docs")

    assert infer(ASKED, TODOS, *FAILED, OPEN, prompt) == (
        "prompt",
        "Answer the prompt that is still waiting: also the docs",
    )


def test_a_request_that_nobody_began_comes_before_the_prompt_that_waited_for_it() -> None:
    prompt = PromptQueued(text="also the docs")

    source, text = infer(ASKED, prompt)

    assert source == "prompt"
    assert text == (
        "Start with the request: fix the login page. Then answer the prompt that is still waiting: "
        "also the docs"
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


@for_each(
    "said",
    [
        *["test_login fails: the form has no action.", "Two of the tests fail now."],
        *["The form is there. `make test` still fails with one error.", "The build is red."],
        *["The suite doesn't pass yet."],
    ],
)
def test_a_failing_test_that_the_agent_reported_is_to_be_repaired(said: str) -> None:
    answer = AssistantText(text=said, ends_turn=True)

    assert infer(ASKED, *edit("a.c"), *FAILED, answer) == (
        "failure",
        "Fix what made `make test` fail: src/a.c:3:1: error: no form.",
    )
    # A pipe hides the exit code, but not what it prints.
    source, text = infer(ASKED, *edit("a.c"), *run("make test | tail", "1 failed"), answer)
    assert (source, text) == ("failure", "Fix what made `make test | tail` fail: 1 failed.")
    # Without either, only the words say it.
    source, text = infer(ASKED, *edit("a.c"), answer)
    assert (source, text.partition(":")[0]) == ("proposal", "Fix what the agent reported")


@for_each(
    "said",
    [
        *["The remaining failure is unrelated to the tests.", "The lint failure was pre-existing."],
        *["It fails as expected: the form comes next week.", "The test was broken before."],
    ],
)
def test_a_failure_that_the_agent_explains_is_not_the_next_action(said: str) -> None:
    answer = AssistantText(text=said, ends_turn=True)

    source, text = infer(ASKED, *edit("a.c"), *FAILED, answer)

    assert source == "proposal"
    assert text.startswith("Ask the user what comes next.")


def test_words_in_the_middle_of_a_turn_do_not_end_the_work() -> None:
    said = AssistantText(text="The worker is still running.", is_interim=True)

    assert infer(ASKED, *edit("a.c"), said) == (
        "proposal",
        (
            "Continue with the request: fix the login page. "
            "The agent said last: The worker is still running."
        ),
    )


def test_a_go_ahead_that_nobody_followed_says_what_was_agreed_to() -> None:
    said = AssistantText(text="The form is there. Want me to push it?", ends_turn=True)

    assert infer(ASKED, *edit("a.c"), said, UserText(text="yes please")) == (
        "request",
        (
            'Go on as the user answered: "yes please" '
            "(the agent said: The form is there. Want me to push it?)"
        ),
    )


def test_a_go_ahead_to_a_step_that_was_announced_is_that_step() -> None:
    said = AssistantText(text="The form is there. Next I will add test_login.py.", ends_turn=True)

    assert infer(ASKED, *edit("a.c"), said, UserText(text="go on")) == (
        "request",
        "Add test_login.py.",
    )
    assert infer(ASKED, *edit("a.c"), said, UserText(text="no"))[1] != "Add test_login.py."


def test_what_the_agent_understands_is_not_an_order() -> None:
    said = AssistantText(text="I now understand the issue. Let me write the plan.")

    assert infer(ASKED, *edit("a.c"), said) == ("proposal", "Write the plan.")


def test_colours_of_a_terminal_are_not_part_of_an_error() -> None:
    failed = run("make test", "\x1b[31;1ma.c:3: error\x1b[0m: no form", ok=False)

    assert infer(ASKED, *failed)[1].startswith("Fix what made `make test` fail: a.c:3: error: no")


def test_nobody_repairs_a_look_around() -> None:
    assert infer(ASKED, *run("git ls-files x && cat y | grep z", "x/a", ok=False))[0] == "trail"
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


def test_a_part_of_the_plan_that_names_no_file_is_not_known_to_be_open() -> None:
    plan = PlanSeen(text="# Errors\n\n1. Print it in `src/main.go`\n2. Always call `os.Exit(1)`\n")

    assert infer(ASKED, plan, *edit("/r/src/main.go"))[0] == "trail"


def test_what_the_agent_announced_is_to_be_done() -> None:
    words = AssistantText(text="Found it. Let me fix the parser.")

    assert infer(ASKED, *run("rg x"), words) == (
        "proposal",
        "Fix the parser.",
    )


@for_each(
    ("said", "order"),
    [
        ("Next I will run pytest tests/test_export.py.", "Run pytest tests/test_export.py."),
        ("Now let me check the `--json` option:", "Check the `--json` option."),
        ("OK, so now I'll quickly run it again, then I'll commit.", "Run it again, then commit."),
        ("I\u2019m going to add a test", "Add a test."),
        ("Once CI is green, I'll merge the branch.", "Once CI is green, merge the branch."),
        ("The regex drops commas. Let me fix it.", "The regex drops commas. Fix it."),
        ("coupon.py is there. I'll wire it into a.py.", "coupon.py is there. Wire it into a.py."),
        ("That fails, so let me guard it.", "That fails, so guard it."),
        ("Good question \u2014 let me look at the job.", "Look at the job."),
        ("The fix is to send the text directly:", "Send the text directly."),
        ("I'm adding a guard now.", "Continue adding a guard now."),
        ("Watching CI in the background:", "Continue watching CI in the background."),
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


def test_what_is_quoted_as_code_was_not_asked() -> None:
    said = AssistantText(text='It prints:\n```\nDid you mean "enable"?\n```\nAll tests pass.')

    _, text = infer(ASKED, *edit("/r/a.py"), said)

    assert text == "Ask the user what comes next. The agent said last: All tests pass."


def test_an_item_of_a_list_is_not_the_last_sentence() -> None:
    said = AssistantText(text="The form is done and tested.\n\n- a is new\n- b is gone")

    _, text = infer(ASKED, *edit("/r/a.py"), said)

    assert text.endswith("From the agent's last message: The form is done and tested.")


def test_a_heading_of_one_word_says_nothing_alone() -> None:
    assert split_statements("Fix the parser\nSummary\nIt crashes on tabs.") == [
        "Fix the parser",
        "It crashes on tabs.",
    ]
    assert split_statements("Done") == ["Done"]


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
    rejected = ToolResult(id="3", ok=False, rejected="")

    _, text = infer(
        ASKED, search, refused, agent, rejected, *(ToolResult(id=each, ok=True) for each in "12")
    )

    assert text == (
        "Continue with the request: fix the login page. Most recently the agent searched form, "
        "path: src, called ExitPlanMode: Plan: Move it (the user refused) and asked a sub-agent: "
        "Find forms."
    )


def test_the_user_is_asked_after_a_refusal_without_a_reason() -> None:
    call = ToolCall(id="1", tool="Bash", kind="run", what="make push", command="make push")
    refused = [call, ToolResult(id="1", ok=False, rejected="")]

    assert infer(ASKED, TODOS, *refused) == (
        "trail",
        "Ask the user how to go on: they refused or stopped Bash: make push.",
    )
    # What the user or the agent says after it is clearer.
    assert infer(ASKED, *refused, UserText(text="use CI instead"))[0] == "request"
    assert infer(ASKED, *refused, AssistantText(text="I'll use CI instead."))[0] == "proposal"


def test_a_failed_check_that_another_one_includes_is_not_held_against_the_agent() -> None:
    failed = run("npx jest src/a.test.ts", "FAIL src/a.test.ts", ok=False)
    claim = AssistantText(text="All tests pass now.", ends_turn=True)

    assert infer(ASKED, *failed, claim)[0] == "failure"
    assert infer(ASKED, *failed, *run("npm test", "5 passed"), claim)[0] == "proposal"
    assert infer(ASKED, *failed, *run("pytest", "5 passed"), claim)[0] == "failure"


@pytest.mark.parametrize("label", ["Plan", "plan_path", "summary"])
def test_a_plan_that_waits_is_named_without_a_label(label: str) -> None:
    call = ToolCall(id="1", tool="exit_plan_mode", what=f"{label}: Move it")

    assert infer(ASKED, call)[1] == "Ask the user to approve the plan: Move it."


def test_a_plan_that_waits_without_a_name_is_named_by_its_title() -> None:
    call = ToolCall(id="1", tool="exit_plan_mode", what="plan_path: ")
    plan = PlanSeen(text="# Plan: Move it\n\nFirst the form.")

    assert infer(ASKED, call)[1] == "Ask the user to approve the plan."
    assert infer(ASKED, plan, call)[1] == "Ask the user to approve the plan: Plan: Move it."
    refused = ToolResult(id="1", ok=False, rejected="")
    assert infer(ASKED, call, refused)[1].endswith("they refused or stopped exit_plan_mode.")


def test_a_search_that_found_nothing_has_not_failed() -> None:
    call = ToolCall(id="1", tool="Bash", kind="run", what="rg old src", command="rg old src")

    _, text = infer(ASKED, call, ToolResult(id="1", ok=False, exit=1))

    assert text.endswith("Most recently the agent ran `rg old src`.")


def test_silent_calls_after_the_last_words_are_shown() -> None:
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


def test_an_announcement_that_many_calls_overtook_is_not_an_order() -> None:
    said = AssistantText(text="I'll fetch the review comments.")
    calls = [*run("gh pr view 7"), *edit("/r/a.c"), *run("make test")]

    source, text = infer(ASKED, said, *calls)

    assert source == "trail"
    assert text.startswith("Continue with the request: fix the login page. The agent announced:")
    assert text.endswith("ran `gh pr view 7`, edited /r/a.c and ran `make test`; go on from there.")


def test_a_go_ahead_continues_what_it_agreed_to() -> None:
    offer = AssistantText(text="1. Share the helpers\n2. Rewrite both\n\nWhich one?")
    _, text = infer(ASKED, offer, UserText(text="let's do 1"), *edit("/r/a.c"))

    assert text.startswith("Continue with what the user agreed to: 1. Share the helpers.")


def test_what_the_user_chose_is_to_be_done() -> None:
    asks = ToolCall(id="q", tool="AskUserQuestion", what="Tabs or spaces?")
    chosen = ToolResult(id="q", ok=True, output='The user answered: "Tabs or spaces?"="Tabs"')

    assert infer(ASKED, asks, chosen) == (
        "trail",
        'Go on as the user chose: "Tabs" (asked: Tabs or spaces?)',
    )


def test_what_a_colon_introduces_is_what_the_agent_was_about_to_do() -> None:
    said = "If I send that, then the client shows it. The fix is to send the text directly:"

    assert infer(ASKED, *run("ls"), AssistantText(text=said)) == (
        "proposal",
        "Send the text directly.",
    )


def test_an_order_does_not_end_in_a_mere_reference() -> None:
    said = AssistantText(text="I need to delete both local functions. Let me fix this.")

    assert infer(ASKED, said) == ("proposal", "Delete both local functions.")


def test_a_short_reply_is_shown_with_what_the_agent_asked_for() -> None:
    asks = AssistantText(text="Sure. Please give me the text to add.")
    _, text = infer(ASKED, asks, UserText(text="hello world"))

    assert (
        text == "Start with the request: hello world (it answers: Please give me the text to add.)"
    )


def test_what_is_pasted_gives_no_rules() -> None:
    pasted = "\n".join(["Review:", "", *("Never return null.", "a", "b", "c"), "fix that"])
    fold = Fold()
    fold.add([UserText(text=pasted), UserText(text="Fix it. Never force-push.")])

    assert report(fold.export()).constraints == ["Never force-push."]


@for_each(
    ("said", "action"),
    [
        (
            "All tests pass now. Next I would handle minus signs in cart.py.",
            "Handle minus signs in cart.py.",
        ),
        (
            "It raises NotFound. I still need to define NotFound in errors.py.",
            "Define NotFound in errors.py.",
        ),
        ("The header shows it. TODO: format the total.", "Format the total."),
        ("It returns a PDF. The tests come next.", "Continue with the tests."),
        ("The rows stream. Next is the changelog.", "Continue with the changelog."),
        ("It works. Next: a test for the form.", "Continue with a test for the form."),
        ("Wrote docs.md. Next: link it from README.md.", "Link it from README.md."),
        ("Wrote docs.md; it took 3. **To do:** link both from it.", "Link both from it."),
        ("It ended with exit code 3. Next action: fix the path.", "Fix the path."),
        ("It failed. Next: fix it.", "It failed. Fix it."),
        ("提示已改成中文。接下来我会添加测试。", "接下来我会添加测试。"),
        ("Das geht. Als Nächstes schreibe ich Tests.", "Als Nächstes schreibe ich Tests."),
    ],
)
def test_the_agent_s_plan_is_found_in_many_wordings(said: str, action: str) -> None:
    assert infer(ASKED, *edit("a.py"), AssistantText(text=said)) == ("proposal", action)


@pytest.mark.parametrize(
    "said",
    ["Let me know what comes next.", "All of it is done.", "Steps taken:\n- ran it\n- read it"],
)
def test_what_announces_nothing_is_not_a_plan(said: str) -> None:
    _, action = infer(ASKED, *edit("a.py"), AssistantText(text=said))

    assert action.startswith("Ask the user what comes next.")


@pytest.mark.parametrize("heading", ["Next steps:", "### Next steps", "**Remaining:**", "To do:"])
def test_a_list_of_what_is_left_is_the_next_action(heading: str) -> None:
    said = f"I fixed it.\n\n{heading}\n- [x] write it\n- run the tests\n2. bump the version"

    assert infer(ASKED, *edit("a.py"), AssistantText(text=said)) == (
        "proposal",
        "Go on with what the agent listed: run the tests; bump the version.",
    )


def test_a_question_about_a_list_comes_with_the_list() -> None:
    said = "Remaining:\n1. a test in test_cart.py\n2. a changelog line\n\nShall I do these?"

    assert infer(ASKED, *edit("a.py"), AssistantText(text=said)) == (
        "proposal",
        "Ask the user: Shall I do these? (1. a test in test_cart.py; 2. a changelog line)",
    )


def test_one_word_before_an_announcement_is_not_part_of_it() -> None:
    said = AssistantText(text="Done. Next I will test it.")

    assert infer(ASKED, *edit("a.py"), said) == ("proposal", "Test it.")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Shall I go on with 1?", "Shall I go on with 1 (the parser)?"),
        ("Should I do 1 and 2 now?", "Should I do 1 (the parser) and 2 (a changelog line) now?"),
        ("Shall I go on with 7?", "Shall I go on with 7?"),
        ("Shall I fix the 2 tests?", "Shall I fix the 2 tests?"),
    ],
)
def test_a_number_in_a_question_comes_with_the_item_it_points_to(question: str, shown: str) -> None:
    said = f"Left:\n1. **the parser**\n2. a changelog line.\n\nBoth are small. {question}"

    _, action = infer(ASKED, *edit("a.py"), AssistantText(text=said))

    assert action == f"Ask the user: {shown}"


FAILED_TESTS = [
    ToolCall(id="t", tool="Bash", kind="run", what="pytest -q", command="pytest -q"),
    ToolResult(id="t", ok=False, exit=1, output="E  assert 1 == 2\n1 failed"),
]


@for_each(
    "said",
    [
        *["All tests pass.", "The failing test is fixed.", "0 tests failed."],
        *["The error is gone, and the tests pass.", "Test_a failed before. It passes now."],
        *["All tests pass. Next I will write the changelog."],
    ],
)
def test_a_claim_does_not_overrule_the_last_run(said: str) -> None:
    source, text = infer(ASKED, *FAILED_TESTS, AssistantText(text=said, ends_turn=True))

    assert source == "failure"
    assert text.startswith("Fix what made `pytest -q` fail (exit 1): ")
    assert text.endswith('", but its last run of this shows otherwise.')


def test_a_claim_after_a_fix_that_nobody_ran_is_not_believed_either() -> None:
    said = AssistantText(text="I fixed it and all tests pass.", ends_turn=True)

    _, text = infer(ASKED, *FAILED_TESTS, *edit("/r/a.py"), said)

    assert "Since then the agent edited /r/a.py; run the command again." in text


def test_a_claim_that_a_later_run_shows_is_believed() -> None:
    said = AssistantText(text="All tests pass.", ends_turn=True)
    passed = run("python -m pytest", "3 passed")

    assert infer(ASKED, *FAILED_TESTS, *edit("/r/a.py"), *passed, said)[0] == "proposal"


def test_a_commit_that_failed_was_not_made() -> None:
    call = ToolCall(id="c", tool="Bash", kind="run", command="git add -A && git commit -m x")
    failed = ToolResult(id="c", ok=False, exit=128, output="fatal: Unable to create index.lock")
    said = AssistantText(text="Committed the coupon.", ends_turn=True)

    source, text = infer(ASKED, *edit("a.c"), call, failed, said)

    assert source == "failure"
    assert "git commit -m x` fail (exit 128): fatal: Unable to create index.lock" in text
    assert 'The agent said "Committed the coupon."' in text


def test_a_commit_without_changes_has_not_failed() -> None:
    empty = run("git commit -m x", "nothing to commit, working tree clean", ok=False)
    said = AssistantText(text="It is committed.", ends_turn=True)

    assert infer(ASKED, *edit("a.c"), *empty, said)[0] == "proposal"


@pytest.mark.parametrize("said", ["It fails.", "Still broken.", "I added the coupon to cart.py."])
def test_a_check_that_failed_last_is_next_whatever_was_said(said: str) -> None:
    source, text = infer(ASKED, *FAILED_TESTS, AssistantText(text=said, ends_turn=True))

    assert (source, "said" in text) == ("failure", False)


PLANNED = AssistantText(text="coupon.py is written. Next I will add a test to test_cart.py.")


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("what does flask do?", "Flask is a web framework."),
        ("what does flask do?", "Flask is a web framework. Do you want to know more?"),
    ],
)
def test_a_plan_outlives_a_question_or_remark_aside(asked: str, answered: str) -> None:
    aside = [UserText(text=asked), AssistantText(text=answered)]

    assert infer(ASKED, *edit("coupon.py"), PLANNED, *aside) == (
        "announced",
        (
            "Add a test to test_cart.py. The agent said this before the user's last message "
            f'("{asked}").'
        ),
    )
    # Thanks say nothing about it.
    thanks = [UserText(text="nice"), AssistantText(text="Thanks!")]
    assert infer(ASKED, *edit("coupon.py"), PLANNED, *thanks) == (
        "announced",
        "Add a test to test_cart.py.",
    )
    # A second one does not hide it either.
    twice = [UserText(text="ok"), AssistantText(text="You are welcome.")]
    assert infer(ASKED, *edit("coupon.py"), PLANNED, *aside, *twice)[0] == "announced"


def test_a_question_aside_leaves_todos_and_failures_in_force() -> None:
    aside = [UserText(text="what does flask do?"), AssistantText(text="Flask is a framework.")]

    assert infer(ASKED, TODOS, *edit("a.py"), *aside)[0] == "todo"
    assert infer(ASKED, *edit("a.py"), *FAILED_TESTS, *aside)[0] == "failure"


def test_an_unanswered_question_comes_before_the_plan() -> None:
    source, text = infer(ASKED, *edit("coupon.py"), PLANNED, UserText(text="what does flask do?"))

    assert source == "request"
    assert text.startswith("Start with the request: what does flask do?")
    assert text.endswith("Then return to what the agent announced: Add a test to test_cart.py.")


@for_each(
    "asked",
    ["write the docs instead", "no", "can you write the docs first?", "what about the docs?"],
)
def test_a_request_or_a_refusal_replaces_the_plan(asked: str) -> None:
    after = [UserText(text=asked), AssistantText(text="Sure.")]

    assert infer(ASKED, *edit("coupon.py"), PLANNED, *after)[0] == "proposal"


def test_a_question_that_led_to_work_replaces_the_plan() -> None:
    after = [UserText(text="why is the header red?"), *edit("header.css")]
    said = AssistantText(text="It is blue now.")

    assert infer(ASKED, *edit("coupon.py"), PLANNED, *after, said)[0] == "proposal"


def test_only_what_was_said_last_is_called_so() -> None:
    done = edit("/r/a.py")
    _, listed = infer(ASKED, *done, AssistantText(text="The form works now.\n- a\n- b"))
    _, bare = infer(ASKED, *done, AssistantText(text="The form works now. Done."))
    _, last = infer(ASKED, *done, AssistantText(text="Done. The form works now."))
    parted = [AssistantText(text="The form works now."), UserText(text="bye")]
    _, before = infer(ASKED, *done, *parted, AssistantText(text="Good night!"))

    assert listed.endswith("From the agent's last message: The form works now.")
    assert bare.endswith("From the agent's last message: The form works now.")
    assert last.endswith("The agent said last: The form works now.")
    assert before.endswith("Before the goodbye, the agent said: The form works now.")


def test_the_newest_of_calls_that_are_alike_counts() -> None:
    refused = ToolCall(id="p", tool="Bash", kind="run", what="psql prod", command="psql prod")
    said = "not on prod"
    ended = ToolResult(id="p", ok=False, rejected=said)

    found = infer(ASKED, *edit("a.sql"), *edit("b.sql"), refused, ended, *edit("a.sql"))

    # Only what came after the refusal, which is a request, has followed it.
    assert found == (
        "trail",
        "Continue with the request: not on prod. Most recently the agent edited a.sql.",
    )
    again = infer(ASKED, *edit("a.c"), *edit("b.c"), *edit("a.c"))
    assert again[1].endswith("Most recently the agent edited b.c and edited a.c.")


@pytest.mark.parametrize(
    ("said", "asked", "answered"),
    [
        ("Der Test schlägt fehl. Als Nächstes ergänze ich ihn.", "Warum?", "Er wurde umbenannt."),
        ("Il manque un champ. Je vais ajouter la date.", "Pourquoi ?", "La table a changé."),
        ("Falta un campo. Voy a añadir la fecha.", "¿Por qué?", "Porque la tabla cambió."),
        ("项目缺少字段。我将添加日期。", "为什么？", "因为表改了。"),
        ("型が合いません。`line` を `usize` に変更します。", "なぜ？", "定義が違うためです。"),
        ("필드가 없습니다. 날짜를 추가하겠습니다.", "왜?", "표가 바뀌었습니다."),
    ],
)  # fmt: skip
def test_a_plan_in_any_language_outlives_a_question(said: str, asked: str, answered: str) -> None:
    events = [ASKED, *edit("a.c"), AssistantText(text=said, ends_turn=True)]

    source, text = infer(*events)
    assert (source, split_sentences(said)[-1] in text) == ("proposal", True)
    source, text = infer(*events, UserText(text=asked), AssistantText(text=answered))
    assert (source, split_sentences(said)[-1] in text) == ("announced", True)


@pytest.mark.parametrize(
    "said", ["テストは成功しました。", "この関数はエラーを返します。", "Ich habe es getestet."]
)
def test_a_report_in_another_language_is_not_a_plan(said: str) -> None:
    assert infer(ASKED, *edit("a.c"), AssistantText(text=said))[1].startswith("Ask the user")


def test_whether_a_call_ended_is_unknown_where_no_results_are_written() -> None:
    first = [*edit("a.c")[:1], ToolResult(id="a.c", ok=True, is_assumed=True)]

    assert infer(ASKED, *first, OPEN) == (
        "call",
        "Check whether the last call ended, and repeat it if not: Bash: make.",
    )


def test_words_before_a_bare_answer_are_not_called_the_last_message() -> None:
    done = AssistantText(text="The form is there and pushed.")
    thanks = [UserText(text="great, thanks!"), AssistantText(text="You're welcome!")]

    assert infer(ASKED, *edit("a.c"), done, *thanks)[1].endswith(
        "The agent said before: The form is there and pushed."
    )


def test_a_letter_picks_an_option_even_if_more_is_asked() -> None:
    offer = "Options:\n\nA) Rename a file.\nB) Keep two.\n\nWhich one?"

    assert infer(ASKED, AssistantText(text=offer), UserText(text="A, but keep one backup too")) == (
        "request",
        "Start with the request: A, but keep one backup too (it answers: A) Rename a file.)",
    )


def test_a_wrong_option_is_not_to_be_repaired_unless_it_kept_a_check_from_running() -> None:
    error = "Error: unknown flag: --short"

    assert infer(ASKED, *run("bd status --short", error, ok=False))[0] == "trail"
    assert infer(ASKED, *run("go test --short-ish", error, ok=False))[0] == "failure"
    assert infer(ASKED, *run("bun src/cli.ts --short", error, ok=False))[0] == "failure"


def test_an_error_names_files_from_the_root() -> None:
    failed = run("make", "/u/r/src/a.c:3:1: error: no form", ok=False)

    assert "fail: src/a.c:3:1: error: no form" in infer(Place(cwd="/u/r"), ASKED, *failed)[1]


def test_a_bare_word_before_a_list_does_not_stand_for_it() -> None:
    said = "Done. All fixes applied:\n\n1. Removed the counter.\n2. Split the test."

    assert infer(ASKED, *edit("a.c"), AssistantText(text=said))[1].endswith(
        "All fixes applied: 1. Removed the counter; 2. Split the test."
    )


def test_the_boxes_of_a_list_are_not_part_of_a_question() -> None:
    said = "Next steps\n- [ ] Serve fonts\n- [ ] Add a budget\n\nWant me to do these as well?"

    assert infer(ASKED, *edit("a.c"), AssistantText(text=said))[1] == (
        "Ask the user: Want me to do these as well? (Serve fonts; Add a budget)"
    )


def test_a_result_that_was_only_assumed_is_not_called_empty() -> None:
    call, _ = run("make test")
    fold = Fold()
    fold.add([ASKED, call, ToolResult(id="make test", ok=True, is_assumed=True)])

    assert [step.outcome for step in report(fold.export()).trail] == [""]


@for_each(
    ("question", "is_empty"),
    [
        ("Which?", True),
        ("Which one?", True),
        ("Which file do you mean?", True),
        ("Continue with what?", True),
        ("What would you like me to work on next?", True),
        ("Where should I pick up?", True),
        ("Shall I continue?", False),
        ("Commit it?", False),
        ("1 or 2?", False),
        ("Which parser should I use?", False),
        ("What should the retry do after a timeout?", False),
    ],
)
def test_a_question_about_nothing_in_particular_is_told_from_others(
    question: str, *, is_empty: bool
) -> None:
    assert asks_nothing_particular(question) is is_empty


def test_a_question_about_nothing_in_particular_is_not_the_next_action() -> None:
    asked = [ASKED, *edit("/r/a.py"), AssistantText(text="Done."), UserText(text="continue")]

    for words, expected in (
        ("Which?", "Ask the user what comes next. The agent said before: Done."),
        ("Which parser should I use?", "Ask the user: Which parser should I use?"),
        (
            "There are two:\n- the form\n- the tests\n\nWhich one do you mean?",
            "Ask the user: Which one do you mean?",
        ),
    ):
        _, text = infer(*asked, AssistantText(text=words))
        assert text.startswith(expected), text


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("I wrote a.css. Next I will link it from base.html.", "Link a.css from base.html."),
        ("Wrote LICENSE. Next: commit it.", "Commit LICENSE."),
        ("I've added `check()`. Now I'll call it in app.py.", "Call `check()` in app.py."),
        # What "it" is, these do not say.
        ("The tests fail on Windows. Let me fix it.", "The tests fail on Windows. Fix it."),
    ],
)
def test_an_order_names_what_the_agent_just_made(said: str, order: str) -> None:
    assert infer(ASKED, *edit("style.css"), AssistantText(text=said)) == ("proposal", order)
