from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.session.plan_text import PlanText, parse_plan


def plan_of(text: str) -> PlanText:
    return parse_plan(dedent(text))


def position(text: str) -> tuple[int | None, int]:
    plan = plan_of(text)
    return plan.step, plan.total


def texts(text: str) -> list[str]:
    return [step.text for step in plan_of(text).steps]


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


def test_one_box_below_several_tasks_is_not_the_only_step() -> None:
    plan = parse_plan("# Billing\n## Step 1: round()\n## Step 2: table\n- [x] a\n## Step 3: docs\n")

    assert (plan.total, plan.step) == (3, None)


def test_phases_with_boxes_below_are_not_the_steps() -> None:
    text = """
        ## Phase 1
        - [x] a
        - [x] b
        ## Phase 2
        - [ ] c
    """
    assert position(text) == (3, 3)


def test_ticks_that_only_praise_are_not_steps() -> None:
    assert plan_of("# Benefits\n- ✅ Fast\n- ✅ Small\n").steps == []


def test_links_and_citations_are_not_boxes() -> None:
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


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.sampled_from("-*+"))
def test_boxes_round_trip(done: list[bool], bullet: str) -> None:
    lines = [f"{bullet} [{'x' if ticked else ' '}] Item {at}" for at, ticked in enumerate(done)]

    plan = parse_plan("# Plan\n\n" + "\n".join(lines))

    assert [step.done for step in plan.steps] == done
    assert plan.step == min(sum(done) + 1, len(done))


@pytest.mark.parametrize(
    ("text", "step", "total"),
    [
        ("| # | Step | Status |\n|---|---|---|\n| 1 | Read | done |\n| 2 | Parse | todo |\n", 2, 2),
        ("| Task | Done |\n|---|---|\n| Read | yes |\n| Parse | no |\n| Write | no |\n", 2, 3),
        ("| Step | What |\n|---|---|\n| ~~1~~ | ~~Read~~ |\n| 2 | Parse |\n", 2, 2),
        ("| Step | What |\n|---|---|\n| 1 | Read |\n| 2 | Parse |\n", None, 2),
        ("| File | Size |\n|---|---|\n| a.py | 3 |\n| b.py | 4 |\n", None, 0),
        ("1. ~~Read~~\n2. ~~Parse~~ (done)\n3. Write\n", 3, 3),
        ("~~1. Read~~\n2. Parse\n3. Write\n", 2, 3),
        ("## Steps\n1. ~~Read~~ no longer needed\n2. Parse\n", 2, 2),
        # The struck words were replaced by others; the step is still to do.
        ("## Steps\n1. ~~Use cookies~~ Use tokens\n2. Parse\n", None, 2),
        ("- ~~Read~~\n- Parse\n- Write\n", 2, 3),
        ("## Steps\n- <del>Read</del>\n- Parse\n", 2, 2),
        ("## Étape 1 : Lire ✅\n\n## Étape 2 : Écrire\n", 2, 2),
        ("## Schritte\n- Lesen\n- Schreiben\n", None, 2),
    ],
)
def test_steps_in_tables_struck_through_or_in_other_languages(
    text: str, step: int | None, total: int
) -> None:
    plan = plan_of(f"# Plan\n\n{text}")

    assert (plan.step, plan.total) == (step, total)
