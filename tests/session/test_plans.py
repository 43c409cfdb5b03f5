import os
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.checkpoint import Todo
from leftoff.errors import UsageError
from leftoff.session.plans import (
    FoundPlan,
    PlanClues,
    PlanStep,
    PlanText,
    find_pasted_plan,
    find_plan,
    find_plan_paths,
    matches_task,
    parse_plan,
    parse_step,
    read_plan,
    step_of,
)


def plan_of(text: str) -> PlanText:
    return parse_plan(dedent(text))


def position(text: str) -> tuple[int | None, int]:
    plan = plan_of(text)
    return plan.step, plan.total


def texts(text: str) -> list[str]:
    return [step.text for step in plan_of(text).steps]


def todos(*statuses: str) -> list[Todo]:
    return [Todo(text=f"Todo {at}", status=status) for at, status in enumerate(statuses)]


# --- steps from checkboxes ---


@pytest.mark.accept(5)
def test_three_of_seven_boxes_ticked_is_step_four_of_seven() -> None:
    boxes = [f"- [{'x' if at < 3 else ' '}] Task {at}" for at in range(7)]

    assert position("# Plan\n" + "\n".join(boxes)) == (4, 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] a\n- [ ] b\n", (1, 2)),
        ("- [x] a\n- [X] b\n", (2, 2)),
        ("* [x] a\n* [ ] b\n", (2, 2)),
        ("+ [x] a\n+ [] b\n+ [ ] c\n", (2, 3)),
        ("1. [x] a\n2. [x] b\n3) [ ] c\n", (3, 3)),
        ("> - [x] a\n> - [ ] b\n> - [ ] c\n", (2, 3)),
        ("- [x] a\r\n- [ ] b\r\n", (2, 2)),
        ("- [~] begun\n- [ ] b\n", (1, 2)),
        ("- [-] dropped\n- [ ] b\n", (2, 2)),
        ("- [ ] a — done\n- [ ] ~~b~~\n- [ ] c\n", (3, 3)),
        ("- ✅ a\n- ⬜ b\n- ⬜ c\n", (2, 3)),
    ],
)
def test_boxes_of_every_common_kind_count(text: str, expected: tuple[int, int]) -> None:
    assert position(text) == expected


def test_sub_boxes_belong_to_the_box_above_them() -> None:
    text = """
        - [x] a
          - [x] a1
          - [x] a2
        - [ ] b
          - [ ] b1
    """
    assert position(text) == (2, 2)


def test_boxes_of_the_verification_do_not_count_beside_those_of_the_work() -> None:
    text = """
        # Plan: login
        ## Tasks
        - [x] Form
        - [ ] Session
        ## Success criteria
        - [ ] It is fast
        ## Verification
        - [ ] Run the tests
    """
    assert position(text) == (2, 2)


def test_boxes_of_the_verification_count_when_there_are_no_others() -> None:
    assert position("# Plan\n## Verification\n- [x] a\n- [ ] b\n") == (2, 2)


def test_numbered_tasks_with_boxes_below_are_the_steps_and_done_when_all_are_ticked() -> None:
    text = """
        # Feature plan
        ### Task 1: Model
        - [x] **Step 1: Write the test**
        - [x] **Step 2: Make it pass**
        ### Task 2: View
        - [x] **Step 1: Write the test**
        - [ ] **Step 2: Make it pass**
        ### Task 3: Docs
        - [ ] **Step 1: Write them**
        ## Notes
        - [ ] not a step
    """
    assert position(text) == (2, 3)
    assert texts(text) == ["Task 1: Model", "Task 2: View", "Task 3: Docs"]


def test_phases_with_boxes_below_are_not_the_steps() -> None:
    text = """
        ## Phase 1
        - [x] a
        - [x] b
        ## Phase 2
        - [ ] c
    """
    assert position(text) == (3, 3)


def test_ticks_that_only_praise_are_no_steps() -> None:
    assert plan_of("# Benefits\n- ✅ Fast\n- ✅ Small\n").steps == []


def test_links_and_citations_are_no_boxes() -> None:
    assert plan_of("# Plan\n- [x](a.md) link\n- [1] citation\n- [ref] other\n").steps == []


def test_fenced_code_and_front_matter_hold_no_steps() -> None:
    text = """\
        ---
        todo:
        - [ ] front matter
        ---
        # Plan
        - [x] real
        ```markdown
        - [ ] example
        # Not the title
        ```
        ~~~~
        - [ ] another
        ~~~
        - [ ] still inside
        ~~~~
        - [ ] real too
    """
    assert texts(text) == ["real", "real too"]
    assert plan_of(text).title == "Plan"


# --- steps from headings and lists ---


@pytest.mark.parametrize(
    ("headings", "count"),
    [
        (["## Step 1: a", "## Step 2: b", "## Step 3: c"], 3),
        (["### Task 1", "### Task 2"], 2),
        (["## Phase 1 - a", "## Phase 2 - b"], 2),
        (["### 1. a", "### 2. b", "### 3. c", "### 4. d"], 4),
        (["## 1) a", "## 2) b"], 2),
        (["### **Step 1**: a", "### **Step 2**: b"], 2),
    ],
)
def test_headings_are_steps_where_there_are_no_boxes(headings: list[str], count: int) -> None:
    plan = parse_plan("# Title\n\n" + "\n\nSome words.\n\n".join(headings))

    assert plan.total == count
    assert plan.step is None, "nothing marks what is done, so the step is not guessed"


@pytest.mark.parametrize(
    "mark", ["✅ Step 1: a", "Step 1: a ✅", "~~Step 1: a~~", "Step 1: a (done)", "[x] Step 1: a"]
)
def test_a_heading_marked_as_done_gives_the_step(mark: str) -> None:
    assert position(f"# Title\n## {mark}\n## Step 2: b\n## Step 3: c\n") == (2, 3)


def test_steps_within_phases_are_the_finer_unit() -> None:
    text = "# T\n## Phase 1\n### Step 1\n### Step 2\n## Phase 2\n### Step 1\n"

    assert plan_of(text).total == 3


def test_numbered_headings_of_the_section_about_work_win() -> None:
    text = """
        # Title
        ## Issues found
        ### 1. Slow
        ### 2. Wrong
        ### 3. Ugly
        ## Changes
        ### 1. Speed it up
        ### 2. Correct it
    """
    assert texts(text) == ["1. Speed it up", "2. Correct it"]


@pytest.mark.parametrize("lead", ["## Steps", "## Implementation plan", "**Tasks:**", "Plan:"])
def test_a_numbered_list_below_a_word_for_work_is_the_steps(lead: str) -> None:
    text = f"# Title\n## Context\n1. fact\n2. fact\n{lead}\n1. a\n   1. a1\n2. b\n3. c\n"
    if not lead.startswith("#"):
        text = text.replace("## Context", "## Aims")

    assert [step.text for step in parse_plan(text).steps] == ["a", "b", "c"]


def test_a_bare_numbered_list_is_a_plan() -> None:
    assert texts("1. a\n2. b ✅\n") == ["a", "b ✅"]
    assert position("1. a ✅\n2. b\n") == (2, 2)


def test_a_text_without_steps_has_none() -> None:
    assert plan_of("# Title\n\nJust words.\n\n- a\n- b\n") == PlanText(title="Title")
    assert plan_of("") == PlanText()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Plan: `isPhantom` & more ##\n", "Plan: `isPhantom` & more"),
        ("intro\n\n## First\n# Real\n", "Real"),
        ("## Only\n", "Only"),
        ("**Fix the login:**\n1. a\n", "Fix the login"),
        ("\n\n", None),
    ],
)
def test_the_title_is_the_first_top_heading_or_the_first_line(text: str, title: str | None) -> None:
    assert parse_plan(text).title == title


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
def test_what_is_no_step_is_refused_with_an_example(words: str) -> None:
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
def test_what_is_no_file_is_no_plan_and_does_not_hang(plans: Path, shape: str) -> None:
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


# --- what a conversation tells ---


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


def test_a_pasted_plan_is_what_follows_the_request() -> None:
    assert find_pasted_plan("Implement the following plan:\n\n# A\n- [ ] b\n") == "# A\n- [ ] b"
    assert find_pasted_plan("Please implement this plan now\n# A") == "# A"
    assert find_pasted_plan("Implement the login") is None
    assert find_pasted_plan("Implement the following plan:") is None


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
def test_any_text_can_be_asked_for_paths_plans_and_a_match(text: str, task: str) -> None:
    find_plan_paths(text)
    find_pasted_plan(text)
    assert not matches_task(text, "")
    matches_task(text, task)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.sampled_from("-*+"))
def test_boxes_round_trip(done: list[bool], bullet: str) -> None:
    lines = [f"{bullet} [{'x' if ticked else ' '}] Item {at}" for at, ticked in enumerate(done)]

    plan = parse_plan("# Plan\n\n" + "\n".join(lines))

    assert [step.done for step in plan.steps] == done
    assert plan.step == min(sum(done) + 1, len(done))


@given(st.lists(st.sampled_from(["completed", "in_progress", "pending", "odd"]), max_size=20))
def test_any_todos_give_a_step_within_the_total(statuses: list[str]) -> None:
    step = step_of(None, todos(*statuses))

    assert (step is None) == (not statuses)
    assert step is None or 1 <= step[0] <= step[1] == len(statuses)
