import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.checkpoint import Todo
from leftoff.errors import UsageError
from leftoff.session.plan_text import PlanStep, PlanText, parse_plan
from leftoff.session.plans import (
    FoundPlan,
    PlanClues,
    find_plan,
    find_plan_paths,
    guess_step,
    matches_task,
    parse_step,
    read_plan,
    step_of,
)


def todos(*statuses: str) -> list[Todo]:
    return [Todo(text=f"Todo {at}", status=status) for at, status in enumerate(statuses)]


# --- steps from todos ---


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["completed"] * 3 + ["in_progress", "pending"], (4, 5)),
        (["pending"] * 4, (1, 4)),
        (["completed"] * 5 + ["pending"], (6, 6)),
        (["completed", "pending", "in_progress"], (3, 3)),
        (["completed", "cancelled", "pending"], (3, 3)),
        (["completed"] * 4, (4, 4)),
    ],
)
def test_todos_give_the_step_under_way_or_the_first_open_one(
    statuses: list[str], expected: tuple[int, int]
) -> None:
    assert step_of(None, todos(*statuses)) == expected


def test_open_todos_are_fresher_than_the_plan() -> None:
    plan = parse_plan("- [x] a\n- [ ] b\n")

    assert step_of(plan, todos("completed", "completed", "pending")) == (3, 3)
    assert step_of(plan, todos("completed")) == (2, 2)
    assert step_of(plan) == (2, 2)


def test_without_marks_and_todos_the_step_is_not_guessed() -> None:
    assert step_of(parse_plan("## Step 1\n## Step 2\n")) is None
    assert step_of(None) is None


# --- steps in words ---


@pytest.mark.parametrize("words", ["3/7", " 3 / 7 ", "3 of 7"])
def test_a_step_is_given_as_two_numbers(words: str) -> None:
    assert parse_step(words) == (3, 7)


@pytest.mark.parametrize("words", ["", "3", "0/7", "8/7", "-1/7", "a/b", "3/7/9", "٣/٧", "3/0"])
def test_what_is_not_a_step_is_refused_with_an_example(words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_step(words)

    assert "3/7" in caught.value.hint


# --- which plan ---


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    folder = tmp_path / "plans"
    folder.mkdir()
    return folder


def put(folder: Path, name: str, text: str, *, age: int = 0) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


@pytest.mark.accept(6)
def test_the_path_the_session_states_comes_first(plans: Path) -> None:
    stated = put(plans, "stated.md", "# Stated\n- [x] a\n- [ ] b\n")
    seen = put(plans, "seen.md", "# Seen\n")
    clues = PlanClues(
        stated_path=str(stated), seen_paths=[str(seen)], seen_texts=["# Pasted"], task="Seen"
    )

    assert find_plan(clues) == FoundPlan(
        path=str(stated),
        plan=PlanText(
            title="Stated", steps=[PlanStep(text="a", done=True), PlanStep(text="b")], step=2
        ),
        origin="metadata",
    )


def test_the_last_path_of_the_conversation_comes_next(plans: Path) -> None:
    first, last = put(plans, "first.md", "# First\n"), put(plans, "last.md", "# Last\n")

    found = find_plan(PlanClues(seen_paths=[str(first), str(last)], seen_texts=["# Pasted"]))

    assert found == FoundPlan(path=str(last), plan=PlanText(title="Last"), origin="conversation")


def test_a_pasted_plan_needs_no_file(plans: Path) -> None:
    put(plans, "other.md", "# Other thing entirely\n")

    found = find_plan(PlanClues(seen_texts=["# Pasted"], plans_folders=[plans]))

    assert found == FoundPlan(path=None, plan=PlanText(title="Pasted"), origin="conversation")


def test_a_path_of_another_machine_is_found_by_its_name(plans: Path) -> None:
    here = put(plans, "brave-fox.md", "# Here\n")

    for name in ("/Users/ada/.claude/plans/brave-fox.md", "~/.claude/plans/brave-fox.md"):
        found = find_plan(PlanClues(stated_path=name, plans_folders=[plans]))
        assert found == FoundPlan(path=str(here), plan=PlanText(title="Here"), origin="metadata")


def test_a_file_that_is_gone_keeps_its_path_and_what_was_said_of_it(plans: Path) -> None:
    gone = "C:\\Users\\ada\\.claude\\plans\\gone.md"

    found = find_plan(PlanClues(stated_path=gone, seen_texts=["# Said"], plans_folders=[plans]))

    assert found == FoundPlan(path=gone, plan=PlanText(title="Said"), origin="metadata")


def test_a_relative_path_starts_at_the_sessions_folder(plans: Path) -> None:
    put(plans, "a.md", "# Here\n")

    found = find_plan(PlanClues(seen_paths=["plans/a.md"], folder=plans.parent))

    assert found is not None
    assert (found.path, found.plan.title) == (str(plans / "a.md"), "Here")


@pytest.mark.accept(6)
def test_the_newest_file_whose_head_matches_the_task_is_the_plan(plans: Path) -> None:
    put(plans, "old.md", "# Plan: Parse invoice dates\n", age=500)
    match = put(plans, "match.md", "# Plan: Parse dates of invoices\n", age=100)
    put(plans, "newest.md", "# Plan: Dark mode\n")

    found = find_plan(PlanClues(plans_folders=[plans], task="Please parse the dates in an invoice"))

    assert found is not None
    assert (found.path, found.origin) == (str(match), "folder")


@pytest.mark.accept(6)
@pytest.mark.parametrize("task", ["", "Fix the plan", "Add tests", "Dark chocolate recipes"])
def test_without_a_match_no_plan_is_guessed(plans: Path, task: str) -> None:
    put(plans, "plan.md", "# Plan: Dark mode for the settings page\n\nFix and add tests.\n")

    assert find_plan(PlanClues(plans_folders=[plans], task=task)) is None


def test_folders_that_are_not_there_hold_no_plan(plans: Path) -> None:
    clues = PlanClues(plans_folders=[plans / "none", plans], task="Dark mode settings")

    assert find_plan(clues) is None


def test_links_and_pipes_in_the_plans_folder_are_passed_by(plans: Path, tmp_path: Path) -> None:
    outside = put(tmp_path, "outside.md", "# Dark mode settings\n")
    (plans / "link.md").symlink_to(outside)
    (plans / "loop.md").symlink_to(plans / "loop.md")
    os.mkfifo(plans / "pipe.md")
    (plans / "folder.md").mkdir()

    assert find_plan(PlanClues(plans_folders=[plans], task="Dark mode settings")) is None


def test_a_head_that_speaks_of_most_of_the_task_matches() -> None:
    head = "# Plan\n\nThe importer skips rows with a broken checksum and retries uploads.\n"

    assert matches_task(head, "importer: skip rows whose checksum is broken")
    assert not matches_task(head, "importer: write docs about deployment and rollback")


# --- reading ---


def test_a_huge_file_is_read_at_its_start_only(plans: Path) -> None:
    path = plans / "huge.md"
    with path.open("wb") as file:
        file.write(b"# Huge\n- [x] a\n- [ ] b\n")
        file.truncate(50 * 1024 * 1024)

    plan = read_plan(path)

    assert plan is not None
    assert (plan.title, plan.step, plan.total) == ("Huge", 2, 2)


def test_a_line_cut_by_the_limit_is_not_a_step(plans: Path) -> None:
    path = put(plans, "long.md", "# Long\n" + "- [ ] a step of some length\n" * 20_000)

    plan = read_plan(path)

    assert plan is not None
    assert {step.text for step in plan.steps} == {"a step of some length"}


def test_bytes_that_are_not_utf_8_and_a_byte_order_mark_do_no_harm(plans: Path) -> None:
    path = plans / "odd.md"
    path.write_bytes(b"\xef\xbb\xbf# Odd \xff title\n- [x] a\n- [ ] b\xfe\n")

    plan = read_plan(path)

    assert plan is not None
    assert (plan.title, plan.step) == ("Odd � title", 2)


@pytest.mark.parametrize("shape", ["missing", "folder", "fifo", "loop", "link to fifo", "nul"])
def test_what_is_not_a_file_is_not_a_plan_and_does_not_hang(plans: Path, shape: str) -> None:
    path = plans / ("a\0b" if shape == "nul" else "plan.md")
    if shape == "folder":
        path.mkdir()
    elif shape == "fifo":
        os.mkfifo(path)
    elif shape == "loop":
        path.symlink_to(path)
    elif shape == "link to fifo":
        os.mkfifo(plans / "pipe")
        path.symlink_to(plans / "pipe")

    assert read_plan(path) is None


def test_a_named_plan_may_be_a_link(plans: Path, tmp_path: Path) -> None:
    (plans / "link.md").symlink_to(put(tmp_path, "real.md", "# Real\n"))

    plan = read_plan(plans / "link.md")

    assert plan is not None
    assert plan.title == "Real"


# --- what a conversation shows ---


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("See ~/.claude/plans/brave-fox.md.", ["~/.claude/plans/brave-fox.md"]),
        ("`/home/a/.claude/plans/x.md` (plan)", ["/home/a/.claude/plans/x.md"]),
        ("at C:\\Users\\a\\plans\\x.md now", ["C:\\Users\\a\\plans\\x.md"]),
        ("docs/plans/2026-01-02-a.md, plans/b.md", ["docs/plans/2026-01-02-a.md", "plans/b.md"]),
        ("plans/x.mdx floorplans/x.md plans/x.txt our plans", []),
    ],
)
def test_paths_of_plans_are_found_in_words(text: str, paths: list[str]) -> None:
    assert find_plan_paths(text) == paths


# --- any text ---

markdown = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.builds(
            "{}{} {}".format,
            st.sampled_from(["", "  ", "    ", "> ", "\t"]),
            st.sampled_from(
                "- [ ]|- [x]|* [X]|1. [ ]|1.|2)|#|## Step 1|### Task 2:|## 3.|```|~~~~|---"
                "|**Steps**|Plan:|- ✅|- ⬜|## Notes".split("|")
            ),
            st.text(max_size=20),
        ),
    ),
    max_size=30,
).map("\n".join)


@given(markdown)
def test_any_text_is_read_and_the_step_is_within_the_total(text: str) -> None:
    plan = parse_plan(text)

    assert plan.step is None or 1 <= plan.step <= plan.total
    assert (step_of(plan) is None) == (plan.step is None)


@given(markdown, st.text())
def test_any_text_can_be_asked_for_paths_and_a_match(text: str, task: str) -> None:
    find_plan_paths(text)
    assert not matches_task(text, "")
    matches_task(text, task)


@given(st.lists(st.sampled_from(["completed", "in_progress", "pending", "odd"]), max_size=20))
def test_any_todos_give_a_step_within_the_total(statuses: list[str]) -> None:
    step = step_of(None, todos(*statuses))

    assert (step is None) == (not statuses)
    assert step is None or 1 <= step[0] <= step[1] == len(statuses)


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ("Step 1 is done, I am at step 2 now", 2),
        ("Step 1 is done", 2),
        ("Finished step 1 and step 2", 2),
        ("Step 2 is half done", 2),
        ("Steps remain; step 3 is not done", 3),
        ("Step 3 is done", 3),
        ("Step 2: the table is open", 2),
    ],
)
def test_a_step_that_is_done_is_not_where_work_stopped(words: str, step: int) -> None:
    plan = parse_plan("# Plan\n\n## Step 1: Read\n## Step 2: Round\n## Step 3: Test\n")

    assert guess_step(plan, [words]) == step
