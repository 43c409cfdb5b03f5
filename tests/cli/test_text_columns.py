from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.cli.app import align_columns, cards, cut, full_width, one_line, width

LINE = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=40)


@settings(deadline=None)
@given(LINE, st.integers(2, 30))
def test_a_cut_line_is_never_wider_than_allowed(line: str, limit: int) -> None:
    shown = cut(line, limit)

    assert width(shown) <= limit
    assert shown == line or (shown.endswith("…") and line.startswith(shown[:-1]))


@settings(deadline=None)
@given(st.lists(st.tuples(LINE, LINE, LINE), min_size=1, max_size=5))
def test_columns_begin_at_the_same_place_in_every_row(rows: list[tuple[str, str, str]]) -> None:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(("one", "two", "three"))}
    places = full_width({"one": columns["one"]}) + 2
    lines = align_columns(columns)

    assert len(lines) == len(rows) + 1
    for line, cell in zip(lines[1:], columns["one"], strict=True):
        assert line.startswith(cell.rstrip()) or line.rstrip().startswith(cell.rstrip())
        assert width(line[: len(cell)].ljust(len(cell))) <= places


def test_width_is_what_a_screen_takes() -> None:
    assert width("abc") == 3
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert width("a\u200db") == 2


def test_cards_leave_out_what_is_empty_and_keep_within_the_width() -> None:
    columns = {
        "name": ["login-form", "x" * 50],
        "agent": ["-", "claude"],
        "summary": ["-", "word " * 20],
        "next action": ["Run make", "-"],
    }
    (first, below), (second, sentence) = cards(columns, 40)

    assert first == "login-form"
    assert below == "  next action  Run make"
    assert second == "x" * 39 + "…"
    assert sentence.startswith("  summary      word word")
    assert width(sentence) <= 40


def test_one_line_is_flat_and_never_empty() -> None:
    assert one_line("a\n b\t c") == "a b c"
    assert one_line(None) == "-"
    assert one_line("") == "-"
