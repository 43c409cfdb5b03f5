"""What a form shows can be read again, and only what was changed counts as stated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.checkpoint import Decision, NextAction
from leftoff.threads.save_form import (
    FormTorn,
    apply_changes,
    is_empty,
    parse_form,
    read_values,
    write_form,
)
from stores import draft

LINE = st.text(
    st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=30
)
TEXT = st.lists(LINE, max_size=4).map("\n".join)
HEAD = ["Save where the work left off."]


def written(values: object) -> str:
    return write_form(values, HEAD, ["Branch main"])  # type: ignore[arg-type]


@given(
    st.fixed_dictionaries(
        {
            **dict.fromkeys(("name", "summary", "next_action", "left_off"), TEXT),
            **{
                key: st.lists(TEXT, max_size=3)
                for key in ("next_steps", "done", "decisions", "failed", "questions", "notes")
            },
        }
    )
)
def test_what_was_written_is_read_again(values: dict[str, str | list[str]]) -> None:
    once = parse_form(written(values))

    assert parse_form(written(once)) == once
    plain = [" ".join(str(values["summary"]).split()), " ".join(str(once["summary"]).split())]
    assert plain[0] == plain[1]


def test_lines_that_look_like_labels_or_comments_stay_in_their_field() -> None:
    values = {"summary": "Export", "left_off": "Stuck\nNext action: none\n# not a comment"}

    read = parse_form(written(values))

    assert read["left_off"] == values["left_off"]
    assert read["next_action"] == ""


def test_people_need_not_indent() -> None:
    read = parse_form(
        "# a comment\n#\nTASK : Export\norders as CSV\n\ndone:\nAdded a.py\n* Added b.py\n"
        "  and c.py\n"
        "#42 is fixed\n"
    )

    assert read["summary"] == "Export\norders as CSV"
    assert read["done"] == ["Added a.py", "Added b.py\nand c.py", "#42 is fixed"]


@pytest.mark.parametrize("text", ["", "\n\n# only comments\n#\n", "Task:\nDone:\n- \n-\n"])
def test_an_empty_form_says_nothing(text: str) -> None:
    assert is_empty(parse_form(text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Tsk: Export\nNext action: Run it\n", "Line 1 of the form cannot be read: 'Tsk: Export'"),
        ("Task: a\nTask: b\n", "Line 2 of the form cannot be read: the field 'Task' appears twice"),
    ],
)
def test_a_torn_form_names_the_line(text: str, problem: str) -> None:
    with pytest.raises(FormTorn, match=problem[:40]):
        parse_form(text)


def test_only_what_was_changed_is_stated() -> None:
    decision = Decision(what="Use SQLite", why="no server", alternatives=["files"])
    base = draft(
        "exporter",
        "Export orders",
        decisions=[decision],
        blockers=["No access"],
        stated=["summary", "blockers"],
    )
    guess = NextAction(text="Run pytest", origin="inferred", source="trail")
    base = base.__class__(
        **{**{f: getattr(base, f) for f in base.__struct_fields__}, "next_action": guess}
    )
    before = parse_form(written(read_values(base, "exporter")))
    after = {**before, "decisions": ["Use SQLite :: no server", "Stream rows"], "blockers": []}

    made = apply_changes(base, before, after)

    assert made.next_action == guess
    assert made.decisions == [decision, Decision(what="Stream rows")]
    assert (made.blockers, made.stated) == ([], ["summary", "decisions"])


def test_a_next_action_that_was_typed_is_stated() -> None:
    base = draft("exporter", "Export orders")
    before = parse_form(written(read_values(base, "exporter")))

    made = apply_changes(base, before, {**before, "next_action": "Fix the header"})

    assert made.next_action is not None
    assert (made.next_action.text, made.next_action.origin) == ("Fix the header", "stated")
