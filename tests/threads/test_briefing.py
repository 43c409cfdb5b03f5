"""A briefing shows the most useful parts first and never exceeds its budget."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.checkpoint import (
    COMPLETED,
    NOTHING_NEXT,
    SCHEMA,
    Checkpoint,
    Commit,
    Decision,
    InFlight,
    LastFailure,
    NextAction,
    Plan,
    Todo,
    TrailStep,
)
from leftoff.text.budget import estimate
from leftoff.threads import briefing
from leftoff.threads.briefing import render
from leftoff.threads.check_claims import BranchCheck, Checks, FileCheck, HeadCheck

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


@pytest.mark.parametrize(
    ("ran", "shown"),
    [
        (["echo '# asc' >> src/sort.py"], "- echo '# asc' >> src/sort.py\n"),
        (["echo more >> README.md; git commit -qam 'Extend it'"], "- git commit\n"),
        (["echo .. && git commit -qm 'a; b' && git log -1", "git log"], "- git commit, git log\n"),
        (["false", "echo done", "make"], "- make\n"),
    ],
)
def test_a_command_is_not_cut_so_that_it_says_something_else(ran: list[str], shown: str) -> None:
    text = render(checkpoint(intent="Fix it", also_ran=ran), None, budget=500)

    assert f"Also ran:\n{shown}" in text


def test_everything_is_shown_when_there_is_room() -> None:
    text = render(FULL, None, budget=1500)

    for words in ("Build the login page", "Add the form.", "Add the test", "error: no form"):
        assert words in text
    for words in ("src/css/page.css", "docs/login.md", "- make test\n- git status", "main"):
        assert words in text


def test_neither_the_task_nor_the_last_request_is_also_asked() -> None:
    task = "What I want:\n1. exit with 1 on any error\n2. print nothing twice"
    text = render(
        checkpoint(
            summary=task,
            intent="Use a switch.",
            requests=[task.replace("\n", "  "), "Add a test.", "Use a switch.", "Add a test."],
        ),
        None,
        budget=1500,
    )

    assert [line for line in text.splitlines() if "Also asked" in line] == [
        "Also asked: Add a test."
    ]


def test_a_file_that_is_gone_or_may_be_committed_is_not_called_uncommitted() -> None:
    saved = checkpoint(
        focus_files=["a.py", "b.py"], files_modified=["a.py", "b.py"], dirty=["a.py", "b.py"]
    )
    since = Checks(
        age_seconds=60,
        branch=BranchCheck(saved="main", now="main", same=True),
        head=HeadCheck(saved="1", now="2", commits_since=1),
        files=[FileCheck(path="a.py", state="missing"), FileCheck(path="b.py", state="same")],
    )

    assert "- a.py (edited, uncommitted)\n- b.py (edited, uncommitted)" in render(
        saved, None, budget=1500
    )
    assert "- a.py (deleted since)\n- b.py (edited)" in render(saved, since, budget=1500)


@pytest.mark.promise("guardz", 60)
def test_the_warning_says_that_a_branch_is_gone() -> None:
    gone = Checks(
        age_seconds=60,
        branch=BranchCheck(saved="feature/tax", now="main", same=False, is_gone=True),
        head=HeadCheck(saved="1", now="1", commits_since=0),
    )
    text = render(FULL, gone, budget=1500, more=briefing.list_guardz_warnings(gone))

    assert (
        "Warning: You're on `main` but checkpoint was saved on `feature/tax`. Switch with: "
        "git checkout feature/tax (there is no such branch here)\n"
    ) in text
    assert (
        "- saved on `feature/tax`, a branch that does not exist here; you are on `main`\n" in text
    )


def test_older_commands_are_named_by_whole_words() -> None:
    older = ['rg "no such" src', "git log --oneline", "printenv | sort", '"$(total)"']
    text = render(checkpoint(commands=["one", "two", "three", "four", *older]), None, budget=1500)

    assert "- rg, git log, printenv\n" in text


def test_the_step_of_a_plan_without_a_file_is_a_line_of_its_own() -> None:
    text = render(checkpoint(plan=Plan(step=6, total=12)), None, budget=1500)

    assert "Plan:\n- step 6 of 12\n" in text


def test_a_stage_in_words_is_called_a_stage() -> None:
    text = render(checkpoint(plan=Plan(title="rates", stage="4")), None, budget=1500)

    assert "Plan:\n- stage 4\n- rates\n" in text


def test_every_file_has_its_whole_path_and_its_state() -> None:
    text = render(
        checkpoint(
            focus_files=["pkg/new/README.md", "pkg/new/build.sh"],
            files_modified=["pkg/new/build.sh"],
            dirty=["pkg/new/build.sh"],
            seen_files=["pkg/old/build.sh", "pkg/old/map.txt"],
        ),
        None,
        budget=1500,
    )

    assert "- pkg/new/README.md\n- pkg/new/build.sh (edited, uncommitted)\n" in text
    assert "- pkg/old/build.sh, pkg/old/map.txt" in text
    assert "{" not in text


def test_the_last_calls_are_listed_with_their_outcomes() -> None:
    trail = [
        TrailStep(tool="Edit", what="a.py", outcome="edited"),
        TrailStep(tool="Bash", what="make test", outcome="failed: a.py:3: no", exit=2),
    ]

    text = render(checkpoint(intent="Fix it", trail=trail), None, budget=500)

    assert "- edited a.py\n- Bash make test (exit 2): failed: a.py:3: no" in text


def test_requests_rules_and_what_the_last_one_answers_are_shown() -> None:
    asked = checkpoint(
        summary="Port the exporter",
        requests=["update the changelog"],
        constraints=["Stop after each slice."],
        intent="yes",
        answers_to="Shall I port the reader too?",
    )

    text = render(asked, None, budget=500)

    assert "Last request: yes\nIt answers the agent: Shall I port the reader too?" in text
    assert "Also asked: update the changelog\nThe user's rule: Stop after each slice." in text


def test_numbered_items_stay_whole() -> None:
    text = render(checkpoint(intent="Do this:\n1. Read it. Twice.\n2. Fix it."), None, budget=500)

    assert " > 2. Fix it." in text
    assert "1. Read it. Twice." in text


def test_a_call_named_in_the_next_action_is_not_shown_twice() -> None:
    action = NextAction(text="Check, then repeat: Bash: make.", origin="inferred", source="call")
    interrupted = checkpoint(next_action=action, in_flight=InFlight(tool="Bash", what="make"))

    assert render(interrupted, None, budget=500).count("make") == 1


def test_last_words_quoted_in_the_next_action_are_not_shown_twice() -> None:
    action = NextAction(text="The agent's last words: Let me look.", origin="inferred")
    said = checkpoint(next_action=action, intent="Fix it", left_off="Found it. Let me look.")

    text = render(said, None, budget=500)

    assert text.count("Let me look.") == 1
    assert "Found it." in text


def test_a_plan_named_in_the_task_is_not_shown_twice() -> None:
    intent = "Implement the following plan:\n\n# Move the form\n\n## Context\n\nIt is old."
    plan = Plan(path="plans/form.md", title="Move the form")
    planned = checkpoint(intent=intent, plan=plan, focus_files=["plans/form.md", "form.py"])

    text = render(planned, None, budget=500)

    assert text.count("Move the form") == 1
    assert text.count("plans/form.md") == 1


@pytest.mark.parametrize("noise", ["## Context", "---", "```go", "***"])
def test_marks_that_mean_nothing_on_their_own_are_left_out(noise: str) -> None:
    text = render(checkpoint(intent=f"Fix it.\n{noise}\nNow."), None, budget=500)

    assert "Task: Fix it.\n > Now.\n" in text


def test_a_short_budget_keeps_the_task_the_next_action_and_the_first_files() -> None:
    text = render(FULL, None, budget=150)

    assert "Build the login page" in text
    assert "Add the form." in text
    assert "docs/login.md" not in text


LONG = "Rewrite the exporter so that it streams " + "every row of every table " * 60


@pytest.mark.parametrize("budget", [150, 250, 400, 700, 1500])
@pytest.mark.parametrize("field", ["task", "next action", "last request"])
def test_sentences_are_never_shown_without_the_one_they_follow(field: str, budget: int) -> None:
    text = f"{LONG}. Keep the header. Add a test."
    saved = {
        "task": checkpoint(summary=text),
        "next action": checkpoint(summary="Export", next_action=NextAction(text=text)),
        "last request": checkpoint(summary="Export", intent=text),
    }[field]

    lines = render(saved, None, budget=budget).splitlines()

    quoted = [number for number, line in enumerate(lines) if line.startswith(" > ")]
    heads = [number for number, line in enumerate(lines) if LONG[:40] in line]
    assert all(heads and heads[0] < number for number in quoted)
    # The head is shortened where it does not fit whole, and says so.
    assert budget < 250 or heads
    assert all(lines[number].endswith(("…", f"{LONG}.")) for number in heads)


@pytest.mark.parametrize("budget", range(100, 260, 5))
def test_commit_subjects_are_announced_only_where_they_are_shown(budget: int) -> None:
    commits = [Commit(sha="ab" * 20, subject="Stream the rows of large tables " * 2)] * 3
    checks = Checks(
        age_seconds=60,
        branch=BranchCheck(saved="main", now="main", same=True),
        head=HeadCheck(saved="1", now="2", commits_since=3, commits=commits),
    )

    text = render(FULL, checks, budget=budget)

    assert ("commit subjects:" in text) == ("commit subjects:\n  - abab" in text)
    assert ("  - abab" in text) <= ("- HEAD moved by 3 commits; commit subjects:\n" in text)
    assert budget < 200 or "- HEAD moved by 3 commits" in text


@pytest.mark.parametrize("budget", range(100, 400, 20))
def test_an_error_is_shown_only_below_the_command_that_failed(budget: int) -> None:
    failed = LastFailure(command="make " + "test-all " * 20, error="error: no form\nat line 3")
    text = render(checkpoint(summary="Export", last_failure=failed), None, budget=budget)

    assert ("error: no form" in text) <= ("Last failure: `make" in text)
    assert ("at line 3" in text) <= ("error: no form\n > at line 3" in text)


def test_the_command_that_failed_is_not_listed_again() -> None:
    failed = LastFailure(command="python3 -m pytest -q", error="no pytest")
    ran = ["python3 -m pytest -q", "sed -i s/a/b/ x.py"]

    text = render(checkpoint(last_failure=failed, also_ran=ran), None, budget=500)

    assert "Also ran:\n- sed -i\n" in text


def test_a_list_that_was_cut_says_how_many_are_missing() -> None:
    todos = [Todo(text=f"Write chapter {number} of the manual") for number in range(30)]
    text = render(checkpoint(summary="Manual", todos=todos), None, budget=300)

    shown = text.count("- [ ] ")
    assert 0 < shown < 30
    assert f"\n+{30 - shown} more\n" in text


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


def test_a_folder_that_most_files_are_in_is_named_once() -> None:
    tree = "/home/ada/shop__worktrees/exporter"
    text = render(
        checkpoint(
            worktree="/home/ada/shop",
            focus_files=[f"{tree}/src/export.py", f"{tree}/tests/test_export.py", "notes.md"],
            files_modified=[f"{tree}/src/export.py", f"{tree}/docs/export.md"],
        ),
        None,
        budget=500,
    )

    assert text.count(tree) == 1
    assert f"Files needed next (in {tree}):\n- src/export.py (edited)\n" in text
    assert "- /home/ada/shop/notes.md" in text
    assert "- docs/export.md" in text


def test_many_edited_files_are_listed_by_folder() -> None:
    edited = [*(f"src/template/{name}.go" for name in ("text", "render", "list")), "go.mod"]
    text = render(checkpoint(intent="Fix it", files_modified=edited), None, budget=500)

    assert "Also edited:\n- in src/template: text.go, render.go, list.go\n- go.mod\n" in text


def test_a_short_request_stays_on_one_line() -> None:
    text = render(checkpoint(summary="Port it", intent="Stop. Run it first."), None, budget=500)

    assert "Last request: Stop. Run it first.\n" in text


def test_a_long_task_leaves_room_for_files_in_a_short_briefing() -> None:
    text = render(checkpoint(intent=LONG, focus_files=["src/export.py"]), None, budget=250)

    assert "- src/export.py" in text


def test_what_the_user_said_when_refusing_is_shown_once() -> None:
    refused = checkpoint(
        summary="Port it",
        intent="go on",
        requests=["use the new name"],
        decisions=[
            Decision(what="The user refused: Edit: a.py", why="use the new name"),
            Decision(what="Redis", why="deploys reset the counter"),
        ],
    )

    text = render(refused, None, budget=500)

    assert text.count("use the new name") == 1
    assert "- Redis — deploys reset the counter" in text


@pytest.mark.parametrize("budget", [200, 300])
def test_the_request_that_a_short_reply_continues_is_kept(budget: int) -> None:
    replied = checkpoint(
        summary="Port the exporter",
        intent="do 1",
        answers_to="1. Share the helpers",
        requests=["can we share the code?"],
        focus_files=[f"src/{n}/export.py" for n in range(40)],
    )

    assert "Also asked: can we share the code?" in render(replied, None, budget=budget)


SAVED = TrailStep(tool="leftoff", what="save")


def test_a_save_marks_where_the_work_went_on_and_is_never_shown() -> None:
    trail = [TrailStep(tool="Edit", what="a.py"), SAVED, TrailStep(tool="Edit", what="b.py")]
    stated = {"next_action": NextAction(text="Run it."), "stated": ["next_action"]}

    went_on = render(checkpoint(trigger="session-end", trail=trail, **stated), None, budget=500)
    plain = render(checkpoint(intent="Fix it", trail=trail), None, budget=500)

    assert "Since that was said:\n- Edit b.py\n" in went_on
    assert "a.py" not in went_on
    assert "The agent's last calls:\n- Edit a.py\n- Edit b.py\n" in plain
    assert "- leftoff" not in went_on + plain


A_DAY_LATER = Checks(
    age_seconds=86_400,
    branch=BranchCheck(saved="main", now="main", same=True),
    head=HeadCheck(saved="1", now="1", commits_since=0),
)


@pytest.mark.parametrize("budget", [85, 90, 100, 120])
def test_the_age_is_shown_without_its_date_where_that_does_not_fit(budget: int) -> None:
    saved = checkpoint(
        name="fix-flaky-login-test",
        summary="Fix the flaky login test",
        next_action=NextAction(text="Run it."),
        branch="main",
    )

    text = render(saved, A_DAY_LATER, budget=budget)

    assert "Next action: Run it.\n" in text
    assert "1d ago" in text


def test_a_file_that_the_work_deleted_is_listed_as_such() -> None:
    text = render(
        checkpoint(
            intent="Drop the plugin",
            focus_files=["a.json"],
            files_modified=["a.json", "b.json", "plugin/x.ts", "plugin/y.ts"],
            files_deleted=["plugin/x.ts", "plugin/y.ts"],
        ),
        None,
        budget=1500,
    )

    assert "Also edited:\n- b.json\nDeleted or renamed:\n- in plugin: x.ts, y.ts\n" in text


def test_a_list_that_nobody_ticked_off_for_long_is_marked() -> None:
    todos = [Todo(text="Inspect the logs")]

    assert "Open todos:\n" in render(checkpoint(todos=todos), None, budget=900)
    old = render(checkpoint(todos=todos, todos_old=True), None, budget=900)
    assert "Open todos (perhaps out of date):\n- [ ] Inspect the logs\n" in old


def test_an_offer_keeps_what_was_going_on_and_not_the_last_commit() -> None:
    text = render(
        checkpoint(
            trigger="session-end",
            intent="Export the orders as CSV, and write the header only once",
            next_action=NextAction(
                text="Continue: run the tests. Since then the agent edited src/export.py.",
                origin="inferred",
                source="trail",
            ),
            left_off="The header is written twice. I am looking for the second caller.",
            trail=[
                TrailStep(tool="Bash", what="git log", outcome="1234567 Add the button"),
                TrailStep(tool="Bash", what="make test", outcome="1 failed: test_header", exit=2),
            ],
            focus_files=[f"src/export/part_{n}.py" for n in range(10)],
            last_commit=Commit(sha="1234567", subject="Add the button for the export"),
        ),
        None,
        budget=250,
    )

    assert "Since then the agent edited src/export.py." in text
    assert "- Bash make test (exit 2): 1 failed: test_header" in text
    assert "I am looking for the second caller." in text
    assert "src/export/part_0.py" in text
    assert "Last commit" not in text


@pytest.mark.parametrize("budget", range(60, 400, 20))
def test_nothing_is_announced_that_does_not_follow(budget: int) -> None:
    failed = LastFailure(command="make", error="a.c:1: error: x\nmake: *** [all] Error 2\n2 failed")
    action = NextAction(text="Fix what made `make` fail.", origin="inferred", source="failure")
    text = render(checkpoint(last_failure=failed, next_action=action), None, budget=budget)

    assert "That command also printed:\n" not in text


def test_the_code_in_a_long_request_is_left_out() -> None:
    plan = "Add the version to the metadata of each checkpoint. " * 5
    text = render(
        checkpoint(intent=f"{plan}\n```go\npackage buildinfo\n```\nThen test it."), None, budget=900
    )

    assert "package buildinfo" not in text
    assert "Then test it." in text


def test_even_a_short_briefing_has_the_agent_s_last_words_if_nothing_was_announced() -> None:
    said = "The agent said last: One test fails: it expects 7.5 but gets 7."
    saved = checkpoint(
        summary="Make the total respect quantities. " + "Keep the interface as it is. " * 5,
        next_action=NextAction(text=f"{NOTHING_NEXT} {said}", origin="inferred", source="proposal"),
        focus_files=["tests/test_cart.py", "shop/cart.py"],
        last_failure=LastFailure(
            command="pytest test_cart.py", error="test_cart.py:9: AssertionError"
        ),
    )

    assert f"{NOTHING_NEXT} {said}" in render(saved, None, budget=180)


@pytest.mark.parametrize("budget", range(60, 260, 5))
def test_a_call_is_shown_only_with_those_after_it(budget: int) -> None:
    # The calls differ in length, so the shorter one may fit where the last one does not.
    trail = [
        TrailStep(tool="Read", what="a.py"),
        TrailStep(tool="Edit", what="src/somewhere/deep/b.py"),
    ]
    text = render(checkpoint(summary="Fix it", trail=trail, trigger="idle"), None, budget=budget)

    assert "Read a.py" not in text or "Edit src/somewhere/deep/b.py" in text


def test_a_file_that_only_the_other_branch_has_was_not_deleted() -> None:
    since = Checks(
        age_seconds=60,
        branch=BranchCheck(saved="cart", now="main", same=False),
        head=HeadCheck(saved="1", now="2", commits_since=None),
        files=[FileCheck(path="header.js", state="missing")],
    )
    saved = checkpoint(focus_files=["header.js"], files_modified=["header.js"])

    text = render(saved, since, budget=1500)

    assert "header.js (not on this branch)" in text
    assert "deleted" not in text


def test_edits_that_another_worktree_has_not_committed_are_shown_as_being_there() -> None:
    since = Checks(
        age_seconds=60,
        branch=BranchCheck(saved="cart", now="main", same=False),
        head=HeadCheck(saved="1", now="2", commits_since=0),
        files=[FileCheck(path="header.js", state="missing")],
        worktree="/work/cart",
    )
    saved = checkpoint(focus_files=["header.js", "cart.js"], dirty=["header.js", "cart.js"])

    text = render(saved, since, budget=1500)

    assert "- header.js (uncommitted in the other worktree)" in text
    assert "- cart.js (uncommitted in the other worktree)" in text


def test_a_file_that_has_changed_since_is_not_shown_as_uncommitted() -> None:
    since = Checks(
        age_seconds=60,
        branch=BranchCheck(saved="main", now="main", same=True),
        head=HeadCheck(saved="1", now="1", commits_since=0),
        files=[FileCheck(path="a.py", state="changed"), FileCheck(path="b.py", state="same")],
    )
    saved = checkpoint(focus_files=["a.py", "b.py"], dirty=["a.py", "b.py"])

    text = render(saved, since, budget=1500)

    assert "- a.py (changed since)" in text
    assert "- b.py (uncommitted)" in text


def test_the_files_of_a_stated_next_action_come_first() -> None:
    saved = checkpoint(
        next_action=NextAction(text="Count hits in Redis in limiter.py"),
        focus_files=["tests/test_limiter.py", "src/old_limiter.py"],
        files_modified=["login.py", "src/limiter.py", "src/old_limiter.py"],
    )

    lines = render(saved, None, budget=1500).splitlines()

    start = lines.index("Files needed next:")
    assert lines[start + 1 : start + 4] == [
        "- src/limiter.py (edited)",
        "- tests/test_limiter.py",
        "- src/old_limiter.py (edited)",
    ]


def test_the_heading_of_a_list_stays_with_it() -> None:
    said = "The cart is done.\n\nTODO:\n- round the total\n- test it"

    text = render(checkpoint(intent="Fix it", left_off=said), None, budget=500)

    assert " > TODO:\n > - round the total\n > - test it" in text


def test_an_inferred_action_is_one_line_and_no_quotation() -> None:
    words = "coupon.py is written. Wire it into cart.py. Since then the agent ran `ls`."
    action = NextAction(text=words, origin="inferred", source="trail")

    text = render(checkpoint(intent="Fix it", next_action=action), None, budget=500)

    assert f"Next action (inferred from the last calls): {words}\n" in text


def test_words_that_the_last_run_contradicts_are_marked() -> None:
    action = NextAction(
        text='Fix it. The agent said "All tests pass.", but its last run of this shows otherwise.',
        origin="inferred",
        source="failure",
    )
    said = "I added the coupon. All tests pass."
    saved = checkpoint(trigger="session-end", intent="Fix it", next_action=action, left_off=said)

    text = render(saved, None, budget=500)

    assert "The agent's last words (its last run shows otherwise):" in text


def test_the_frame_around_text_from_a_terminal_is_left_out() -> None:
    pasted = f"Find out why{' ' * 90}┃  │ git push{' ' * 30}┃\n  └ Denied by hook; keep a │ b"
    saved = checkpoint(intent=pasted)

    text = render(saved, None, budget=500)

    assert "Task: Find out why git push" in text
    assert "┃" not in text
    assert "keep a │ b" in text


def test_only_commands_to_run_again_are_in_use() -> None:
    saved = checkpoint(intent="Fix it", commands=["pytest -q"], also_ran=["git add -A", "ls -la"])

    text = render(saved, None, budget=500)

    assert "Commands in use:\n- pytest -q\nAlso ran:\n- git add, ls -la\n" in text


def test_an_interpreter_is_not_listed_without_the_code_that_it_ran() -> None:
    ran = ["python3 -c 'raise MemoryError'", "node -e 1", "bash -lc 'ls'", "python3 -m http.server"]

    text = render(checkpoint(intent="Fix it", also_ran=ran), None, budget=500)

    assert "Also ran:\n- python3 -m http.server\n" in text


@pytest.mark.parametrize("lead", ["Start", "Continue"])
def test_a_request_that_the_next_action_quotes_is_not_shown_twice(lead: str) -> None:
    action = f"{lead} with the request: keep one backup too (it answers: A) Rename it.)"
    quoted = checkpoint(
        summary="Save games safely",
        intent="keep one backup too",
        next_action=NextAction(text=action, origin="inferred", source="request"),
    )

    assert render(quoted, None, budget=1500).count("keep one backup too") == 1


def test_an_error_that_the_next_action_names_is_not_shown_twice() -> None:
    error = "src/a.c:3:1: error: no form"
    failed = checkpoint(
        next_action=NextAction(
            text=f"Fix what made `make` fail (exit 2): {error}.",
            origin="inferred",
            source="failure",
        ),
        last_failure=LastFailure(command="make", error=error),
        trail=[TrailStep(tool="Bash", what="make", outcome=f"failed: {error}", exit=2)],
    )

    text = render(failed, None, budget=1500)
    assert text.count(error) == 1
    assert "- Bash make (exit 2): failed\n" in text


@pytest.mark.parametrize("folder", [".", "../other", "'a folder'", '"a folder"'])
def test_a_git_command_is_named_by_what_it_does_and_not_by_its_folder(folder: str) -> None:
    text = render(checkpoint(also_ran=[f"git -C {folder} diff --stat"]), None, budget=1500)

    assert "Also ran:\n- git diff\n" in text


def test_neither_a_known_exit_code_nor_the_head_of_a_loop_is_shown() -> None:
    failed = checkpoint(
        next_action=NextAction(
            text="Fix what made `make` fail (exit 1).", origin="inferred", source="failure"
        ),
        last_failure=LastFailure(command="make", error=f"OK\n{COMPLETED} 1"),
        commands=["make"],
        also_ran=["for i in 1 2 3; do make; done", "sleep 120", "git status"],
    )

    text = render(failed, None, budget=1500)
    assert COMPLETED not in text
    assert "Also ran:\n- git status\n" in text


def test_a_list_in_the_last_words_is_shown_whole() -> None:
    options = "Options:\nA) Rename a file.\nB) Keep two.\nWhich one?"
    action = NextAction(text="Do it (it answers: A) Rename a file.)", origin="inferred")
    text = render(
        checkpoint(summary="Save games", trigger="close", left_off=options, next_action=action),
        None,
        budget=1500,
    )

    assert " > Options:\n > A) Rename a file.\n > B) Keep two.\n > Which one?" in text


def test_a_template_begins_with_what_it_asks_for() -> None:
    asked = "You are a senior reviewer. Review the diff of pull request 482.\n\nRules:\n- be brief"

    text = render(checkpoint(intent=asked), None, budget=1500)
    assert "Task: You are a senior reviewer. Review the diff of pull request 482.\n" in text


@pytest.mark.parametrize("between", [" ", "\n\n---\n\n## "])
def test_the_task_is_not_quoted_again_by_the_next_action(between: str) -> None:
    parts = ("Lint all the pages of the website, those with the suffix mdx too.", "Then fix all.")
    task = between.join(parts)
    quoted = " ".join(parts)
    action = NextAction(
        text=f"Continue with the request: {quoted} Most recently the agent ran `make lint`.",
        origin="inferred",
        source="trail",
    )

    text = render(checkpoint(intent=task, next_action=action), None, budget=1500)
    assert "Continue with the task. Most recently the agent ran `make lint`.\n" in text
    other = render(checkpoint(summary="Fix it", intent=task, next_action=action), None, budget=1500)
    assert "Continue with the request: Lint all the pages" in other


def test_the_tags_of_a_template_are_left_out_and_the_task_comes_first() -> None:
    asked = (
        "<context>\nThis is the docs repo.\n</context>\n<task>\nRewrite docs/install.md.\n</task>\n"
        "<rules>\n- US spelling\n</rules>"
    )

    text = render(checkpoint(intent=asked), None, budget=1500)
    assert "Task: Rewrite docs/install.md.\n > This is the docs repo.\n > - US spelling\n" in text
