from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.git.query import PathChange
from leftoff.knowledge.features import (
    Attempt,
    Board,
    Feature,
    Loop,
    Scenario,
    WorkNotes,
    collect_working_context,
    helper_text,
)
from leftoff.text.fence import disarm

AT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
EXPORT = Feature(
    id="feature-007", name="Export orders", related_files=["src/export.py", "src/routes.py"]
)


def changed(*paths: str, code: str = ".M") -> list[PathChange]:
    return [PathChange(path=path, code=code) for path in paths]


@pytest.mark.accept(132)
def test_the_working_context_has_the_first_unfinished_feature_and_every_file_with_its_role() -> (
    None
):
    done = Feature(id="feature-006", name="Done", status="passing", related_files=["old.py"])
    changes = [
        *changed("src/export.py"),
        *changed("tests/test_export.py", code="??"),
        *changed("gone.py", code="D."),
        PathChange(path="new.py", code="R.", from_path="old.py"),
    ]

    context = collect_working_context(
        Board(features=[done, EXPORT]).active_feature, changes, WorkNotes(), AT
    )

    assert (context.feature, context.summary) == ("feature-007", "Export orders")
    assert context.files == {
        "src/export.py": "modified - part of feature-007",
        "tests/test_export.py": "new",
        "gone.py": "deleted",
        "new.py": "renamed from old.py",
        "src/routes.py": "related - part of feature-007",
    }


@pytest.mark.accept(132)
def test_many_changes_do_not_crowd_out_the_files_of_the_feature() -> None:
    changes = changed(*(f"src/{number}.py" for number in range(200)))

    context = collect_working_context(EXPORT, changes, WorkNotes(), AT)

    assert {"src/export.py", "src/routes.py"} <= set(context.files)


def test_without_a_feature_the_changed_files_are_shown() -> None:
    context = collect_working_context(None, changed("a.py"), WorkNotes(), AT)

    assert (context.feature, context.files) == (None, {"a.py": "modified"})


TEXTS = st.lists(st.text(max_size=300), max_size=60)


@pytest.mark.accept(132)
@given(
    TEXTS,
    TEXTS,
    st.dictionaries(st.text(max_size=9), st.text(max_size=300), max_size=60),
    st.integers(0, 500),
)
def test_the_working_context_has_at_most_40_lines_whatever_is_shown(
    decisions: list[str], next_steps: list[str], understanding: dict[str, str], files: int
) -> None:
    notes = WorkNotes(decisions=decisions, next_steps=next_steps, understanding=understanding)
    changes = changed(*(f"src/{number}.py" for number in range(files)))

    context = collect_working_context(EXPORT, changes, notes, AT)

    written = {"version": 1, **msgspec.to_builtins(context)}
    shown = msgspec.json.format(msgspec.json.encode(written), indent=1)
    assert len(shown.splitlines()) <= 40
    assert len(context.files) >= min(12, files)


def test_the_last_decisions_and_the_first_next_steps_are_kept() -> None:
    notes = WorkNotes(
        decisions=[f"Decision {number}" for number in range(9)],
        next_steps=[f"Step {number}" for number in range(9)],
    )

    context = collect_working_context(None, [], notes, AT)

    assert context.decisions == [f"Decision {number}" for number in range(4, 9)]
    assert context.next_steps == [f"Step {number}" for number in range(5)]


LOOP = Loop(
    feature="feature-007",
    attempt=5,
    history=[
        Attempt(attempt=number, approach=f"Way {number}", result="failed", root_cause="slow")
        for number in range(1, 5)
    ],
)


@pytest.mark.accept(158)
def test_a_helper_is_told_the_feature_the_checks_and_what_to_avoid() -> None:
    item = msgspec.structs.replace(
        EXPORT, scenarios=[Scenario(scenario=f"Case {number}") for number in range(9)]
    )
    rules = [f"Rule number {number}" for number in range(9)]

    text = helper_text(LOOP, item, verify=["make test"], rules=rules)

    assert text.splitlines() == [
        "Feature feature-007: Export orders (attempt 5/15)",
        "Verify: make test",
        *(f"Avoid: {number}. Way {number} -> slow" for number in (2, 3, 4)),
        *(f"Rule: Rule number {number}" for number in range(5)),
        *(f"Must hold: Case {number}" for number in range(5)),
    ]


@pytest.mark.accept(158)
@given(
    st.text(max_size=2000),
    st.lists(st.text(max_size=900), max_size=20),
    st.lists(st.text(max_size=900), max_size=20),
    st.lists(st.text(max_size=900), max_size=20),
)
def test_a_helper_is_told_no_more_than_500_characters(
    name: str, approaches: list[str], rules: list[str], verify: list[str]
) -> None:
    history = [
        Attempt(attempt=number, approach=each, result="failed", errors=[each])
        for number, each in enumerate(approaches)
    ]
    loop = msgspec.structs.replace(LOOP, history=history)

    text = helper_text(loop, msgspec.structs.replace(EXPORT, name=name), verify=verify, rules=rules)

    assert text.startswith("Feature feature-007: ")
    assert len(text) <= 500
    assert text == disarm(text)
