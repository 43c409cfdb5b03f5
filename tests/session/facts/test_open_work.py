"""What is still open: answers nobody acted on, announcements, requests, steps and commands."""

import pytest

from leftoff.agents.stream import (
    AssistantText,
    Place,
    PlanSeen,
    SessionEvent,
    Status,
    TodoItem,
    TodoList,
    ToolCall,
    ToolResult,
    TurnFailed,
    UserText,
)
from leftoff.session.facts.fold import Fold
from leftoff.session.facts.next_action import infer_next_action
from leftoff.session.facts.report import Facts, report

ASKED = UserText(text="fix the login page")


def read(*events: SessionEvent) -> Facts:
    fold = Fold()
    fold.add(events)
    return report(fold.export())


def infer(*events: SessionEvent) -> tuple[str, str]:
    found = infer_next_action(read(*events))
    return (found.source, found.text) if found else ("", "")


def run(command: str, output: str = "", code: int = 0) -> list[SessionEvent]:
    call = ToolCall(id=command, tool="Bash", kind="run", what=command, command=command)
    return [call, ToolResult(id=command, ok=not code, exit=code, output=output)]


def edit(path: str) -> list[SessionEvent]:
    call = ToolCall(id=path, tool="Edit", kind="edit", what=path, paths=(path,))
    return [call, ToolResult(id=path, ok=True)]


# --- answers that nobody acted on ---


FAILED = run("make test", "src/a.c:3:1: error: no form", 2)
PROPOSED = AssistantText(
    text="It rounds per line. I propose to round once, in Cart.total(). Shall I do that?",
    ends_turn=True,
)
LIMIT = TurnFailed(error="You've hit your session limit", at="2026-11-18T10:00:00Z")


@pytest.mark.parametrize("end", [[LIMIT], []])
def test_an_agreed_proposal_comes_before_the_old_failure(end: list[SessionEvent]) -> None:
    assert infer(ASKED, *FAILED, PROPOSED, UserText(text="go on then"), *end) == (
        "request",
        (
            'Go on as the user answered: "go on then" (the agent said: '
            "I propose to round once, in Cart.total(). Shall I do that?)"
        ),
    )


def test_an_agreed_proposal_stays_the_goal_while_the_agent_looks_around() -> None:
    source, text = infer(ASKED, *FAILED, PROPOSED, UserText(text="do it"), *run("cat a.c", "x"))

    assert source == "trail"
    assert text.startswith("Continue with what the user agreed to: I propose to round once")


def test_a_go_ahead_without_a_proposal_leaves_the_failure() -> None:
    said = AssistantText(text="The test still fails.", ends_turn=True)

    assert infer(ASKED, *FAILED, said, UserText(text="go on"))[0] == "failure"


def test_a_condition_is_shown_with_the_proposal_that_it_answers() -> None:
    text = infer(ASKED, PROPOSED, UserText(text="yes, but keep round_line"))[1]

    assert "(it answers: I propose to round once, in Cart.total()." in text


# --- announcements ---


EXTEND = AssistantText(text="Next I will extend tests/test_cart.py.")
REMARK = AssistantText(text="The helper needs a guard against zero.")


@pytest.mark.parametrize(
    "calls",
    [
        [*edit("src/rounding.py"), REMARK, *edit("b.py")],
        [*edit("a.py"), *edit("b.py"), *run("pytest -q", "3 passed"), *edit("c.py")],
    ],
)
def test_an_announcement_is_open_until_its_file_was_edited(calls: list[SessionEvent]) -> None:
    source, text = infer(UserText(text="continue"), EXTEND, *calls)

    assert source == "trail"
    assert text.startswith("Extend tests/test_cart.py. Most recently the agent ")


def test_an_open_announcement_counts_although_the_agent_said_more() -> None:
    said = AssistantText(text="The rounding is right now.")

    assert infer(ASKED, EXTEND, *edit("src/rounding.py"), said) == (
        "proposal",
        "Extend tests/test_cart.py. The agent said last: The rounding is right now.",
    )


@pytest.mark.parametrize(
    "calls",
    [
        [*edit("tests/test_cart.py"), *edit("b.py"), *edit("c.py")],
        [*run("python fix.py"), *edit("b.py"), *edit("c.py")],
        [event for n in range(9) for event in edit(f"{n}.py")],
    ],
)
def test_an_announcement_that_may_be_done_is_not_the_next_action(calls: list[SessionEvent]) -> None:
    assert not infer(ASKED, EXTEND, *calls)[1].startswith("Extend")


# --- requests that the user took back ---


@pytest.mark.parametrize(
    ("asked", "task"),
    [
        ("Forget the login page, do the signup form instead.", "Do the signup form instead."),
        ("Forget that. Write the docs.", "Write the docs."),
        ("never mind the login page, write the docs", "Write the docs"),
        ("Drop the login page. Instead, fix the footer.", "Fix the footer."),
    ],
)
def test_a_request_that_the_user_took_back_is_no_longer_the_task(asked: str, task: str) -> None:
    events = [ASKED, *edit("a.py"), UserText(text=asked)]
    facts = read(*events)

    assert (facts.task, facts.intent, facts.constraints) == (task, asked, [])
    assert facts.requests == ["(withdrawn) fix the login page"]
    assert infer(*events) == ("request", f"Start with the request: {asked}")


@pytest.mark.parametrize(
    "asked",
    [
        "Actually, do the changelog first.",
        "Forget the debug prints, remove them later",
        "Drop the login page from the menu, too",
    ],
)
def test_a_request_that_only_waits_stays_the_task(asked: str) -> None:
    facts = read(ASKED, *edit("a.py"), UserText(text=asked))

    assert (facts.task, facts.intent, facts.requests) == (ASKED.text, asked, [])


def test_only_the_later_request_that_was_meant_is_withdrawn() -> None:
    also = UserText(text="also add a changelog entry")
    instead = UserText(text="Forget the changelog, add a test")

    facts = read(ASKED, *edit("a.py"), also, instead, UserText(text="and run it"))

    assert facts.task == ASKED.text
    assert facts.requests == ["(withdrawn) also add a changelog entry", instead.text]


# --- a rule to stop after each step ---


def list_todos(*states: Status) -> list[SessionEvent]:
    items = (TodoItem(text=f"part {n}", status=state) for n, state in enumerate(states, 1))
    call = ToolCall(id=f"todo {states}", tool="TodoWrite")
    return [call, TodoList(items=tuple(items)), ToolResult(id=call.id, ok=True)]


STOP = UserText(text="Refactor the cart in steps. Stop after each step.")
RULE = 'The user\'s rule: "Stop after each step."'
BEGUN = list_todos("in_progress", "pending")
DONE = list_todos("completed", "in_progress")
PLAN = PlanSeen(text="# Cart\n\n## 1. Form\n`a.py`\n\n## 2. Test\n`b.py`\n")


def test_after_a_step_the_user_is_asked_before_the_next_one() -> None:
    said = AssistantText(text="Part 1 is done. Next I'll add part 2.", ends_turn=True)

    assert infer(STOP, *BEGUN, *edit("a.py"), *DONE) == (
        "todo",
        f"Ask the user whether to go on with step 2 of 2: part 2. {RULE}",
    )
    assert infer(STOP, *BEGUN, *edit("a.py"), *DONE, said) == (
        "proposal",
        f"Ask the user before going on: Add part 2. {RULE}",
    )


def test_the_next_part_of_a_plan_waits_for_the_user_too() -> None:
    assert infer(STOP, PLAN, *edit("/r/a.py")) == (
        "plan",
        (
            "Finish the part at hand, then ask the user before the next part of the plan "
            f'"Cart": 2. Test. {RULE}'
        ),
    )


def test_a_go_ahead_starts_the_next_step_under_that_rule() -> None:
    assert infer(STOP, *DONE, UserText(text="go on"))[1] == "Continue step 2 of 2: part 2."
    assert infer(STOP, *BEGUN)[1] == "Continue step 1 of 2: part 1."


def test_other_rules_do_not_stop_the_work() -> None:
    asked = UserText(text="Refactor the cart. Ask me before each commit.")

    assert infer(asked, *BEGUN, *DONE)[1] == "Continue step 2 of 2: part 2."


# --- commands that never existed ---


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("frob --all", "bash: frob: command not found", 127),
        ("poetry run pytest", "/bin/sh: 1: poetry: not found", 127),
        ("./gradlew test", "zsh: no such file or directory: ./gradlew", 127),
        ("npm run nope", 'npm error Missing script: "nope"\nnpm error', 1),
        ("frob --all | tail -3", "bash: frob: command not found", 0),
    ],
)
def test_a_command_that_never_existed_is_not_in_use(command: str, output: str, code: int) -> None:
    facts = read(ASKED, *run("pytest -q", "3 passed"), *run(command, output, code))

    assert (facts.commands, facts.reruns) == (["pytest -q"], ["pytest -q"])
    assert facts.heads == ["pytest -q"]


def test_a_script_that_lacks_a_program_is_still_in_use() -> None:
    facts = read(ASKED, *run("npm test", "> a@1 test\nsh: 1: vitest: not found", 127))

    assert facts.commands == ["npm test"]


def test_an_error_is_shown_for_the_worktree_that_the_work_is_in() -> None:
    tree = "/w/cart-worktree"
    output = f"{tree}/a.c:3:1: error: no form"
    looks = [event for n in range(3) for event in run(f"cd {tree} && make {n}")]

    failing = read(
        Place(cwd="/w/main"), ASKED, *looks, *run(f"cd {tree} && make test", output, 2)
    ).failing

    assert failing is not None
    assert failing.error == "a.c:3:1: error: no form"
