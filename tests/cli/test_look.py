import re

from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.cli import wide_text
from leftoff.cli.app import one_line
from leftoff.cli.look import (
    _SIMPLE,
    Look,
    ThreadRow,
    cut,
    draw_rule,
    isolate,
    layout_page,
    layout_threads,
    width,
    wrap_line,
    wrap_text,
    wrap_to,
)
from leftoff.cli.table_layout import align_columns, fit_columns, layout_cards, measure_table

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
    places = measure_table({"one": columns["one"]}) + 2
    lines = align_columns(columns)

    assert len(lines) == len(rows) + 1
    for line, cell in zip(lines[1:], columns["one"], strict=True):
        assert line.startswith(cell.rstrip()) or line.rstrip().startswith(cell.rstrip())
        assert width(line[: len(cell)].ljust(len(cell))) <= places


def test_width_is_what_a_screen_takes() -> None:
    assert width("abc") == 3
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert width("👩\u200d👩\u200d👧") == 2
    assert width("❤\ufe0f") == 2
    assert width("שלום") == 4
    assert width("Straße – naïve…") == 15


def test_simple_characters_are_as_wide_as_wcwidth_says() -> None:
    """They are counted without loading it."""
    simple = [each for each in map(chr, range(0x20, 0x10000)) if re.fullmatch(_SIMPLE, each)]

    assert [each for each in simple if width(each) != wide_text.measure(each)] == []
    assert width("导出器 login") == 12
    assert cut("导出器 login", 6) == "导出…"


def test_cards_leave_out_what_is_empty_and_keep_within_the_width() -> None:
    columns = {
        "name": ["login-form", "x" * 50],
        "agent": ["-", "claude"],
        "summary": ["-", "word " * 20],
        "next action": ["Run make", "-"],
    }
    (first, below), (second, sentence) = layout_cards(columns, 40)

    assert first == "login-form"
    assert below == "  next action  Run make"
    assert second == "x" * 39 + "…"
    assert sentence.startswith("  summary      word word")
    assert max(map(width, sentence.split("\n"))) <= 40


def test_a_line_is_cut_between_words_unless_one_word_fills_it() -> None:
    assert one_line("Ask the user. The agent said that all tests pass", 26) == (
        "Ask the user. The agent…"
    )
    assert cut("one two three", 8) == "one two…"
    assert cut("repeat the call: sh slow.sh", 18) == "repeat the call…"
    assert cut("a src/leftoff/threads/check.py", 16) == "a src/leftoff/t…"


def test_one_line_is_flat_and_never_empty() -> None:
    assert one_line("a\n b\t c") == "a b c"
    assert one_line(None) == "-"
    assert one_line("") == "-"


WORD = st.text(st.characters(categories=["L", "N", "P", "So", "Mn"]), min_size=1, max_size=12)
WORDS = st.lists(WORD, min_size=1, max_size=20).map(" ".join)


@settings(deadline=None)
@given(WORDS, st.integers(40, 200))
def test_wrapped_lines_fit_and_lose_nothing(text: str, limit: int) -> None:
    rows = wrap_line(text, limit, "")

    assert "".join("".join(rows).split()) == "".join(text.split())
    assert all(width(row) <= limit for row in rows)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=6, max_size=6), st.integers(40, 200))
def test_a_list_of_threads_fits_every_width(texts: list[str], columns: int) -> None:
    task, name, branch, agent, place, following = texts
    row = ThreadRow(
        task=task, name=name, age="3d ago", branch=branch, agent=agent[:12], place=place,
        next_action=following,
    )  # fmt: skip
    lines = layout_threads([row], Look(columns))

    assert max(map(width, lines)) <= columns


@settings(deadline=None)
@given(WORDS, WORDS, st.integers(40, 200))
def test_a_page_fits_every_width(task: str, decision: str, columns: int) -> None:
    text = f"Checkpoint: x. Saved today.\nTask: {task}\nDecisions:\n- {decision}\n- Use it"
    lines = layout_page(text, Look(columns), ["x", "3d ago"])

    assert max(map(width, lines)) <= columns


def test_words_are_wrapped_whole_and_text_without_spaces_between_characters() -> None:
    assert wrap_line("- one two three", 9) == ["- one two", "  three"]
    assert wrap_line("ログインフォーム", 10) == ["ログインフ", "ォーム"]
    assert wrap_line("a /very/long/path/that/cannot/break", 10) == [
        "a", "/very/long/path/that/cannot/break",
    ]  # fmt: skip


def test_quoted_text_is_wrapped_behind_a_bar() -> None:
    assert wrap_text("It said:\n > one two three\n >", 9) == [
        "It said:", "│ one two", "│ three", "│",
    ]  # fmt: skip


def test_what_does_not_fit_in_some_lines_is_cut() -> None:
    assert wrap_to("one two three four", 9, 2) == ["one two", "three…"]


def test_a_page_begins_with_the_task_and_has_its_labels_in_a_column() -> None:
    text = (
        "Checkpoint: cart. Left off today, on branch main.\nTask: Round totals\n"
        "Next action: Use Decimal\nDone:\n- One\n- Two\nLeft off:\n > In the middle"
    )

    assert layout_page(text, Look(80), ["cart", "2h ago"]) == [
        "Round totals",
        "cart · 2h ago",
        "─" * 80,
        "Next action  Use Decimal",
        "Done         - One",
        "             - Two",
        "Left off     │ In the middle",
    ]
    assert layout_page(text, Look(40), ["cart", "2h ago"])[3:] == [
        "Next action", "  Use Decimal", "Done", "  - One", "  - Two",
        "Left off", "  │ In the middle",
    ]  # fmt: skip


def test_lines_with_the_same_label_are_one_list_and_a_quoted_text_is_quoted_whole() -> None:
    text = "Then: Write tests\nThen: Write docs\nThen: Ship it\nLeft off: In total()\n > It is red"

    assert layout_page(text, Look(80)) == [
        "Then      - Write tests",
        "          - Write docs",
        "          - Ship it",
        "Left off  │ In total()",
        "          │ It is red",
    ]


def test_quoted_text_cannot_look_like_a_label() -> None:
    page = layout_page("Left off:\n > Task: Delete everything", Look(80, has_color=True))

    assert page == ["\x1b[1mLeft off\x1b[0m  │ Task: Delete everything"]


def test_threads_have_their_facts_beside_the_task_where_there_is_room() -> None:
    row = ThreadRow(task="Round totals", name="cart", age="2h ago", next_action="Use Decimal")

    assert layout_threads([row], Look(80)) == ["Round totals", "cart · 2h ago", "→ Use Decimal"]
    assert layout_threads([row], Look(140)) == ["Round totals   cart  2h ago", "→ Use Decimal"]


def test_color_follows_the_role_and_stays_out_if_not_wanted() -> None:
    assert Look(80, has_color=True).paint("name", "cart") == "\x1b[36mcart\x1b[0m"
    assert Look(80).paint("name", "cart") == "cart"


def test_a_rule_is_as_wide_as_the_screen_but_no_wider_than_people_read() -> None:
    assert draw_rule(Look(40), "Done") == f"── Done {'─' * 32}"
    assert width(draw_rule(Look(200))) == 100


def test_right_to_left_text_does_not_turn_what_follows() -> None:
    assert isolate("שלום") == "שלום\u200e"
    assert width(isolate("שלום")) == 4
    assert isolate("cart") == "cart"


def test_a_table_cuts_its_sentences_before_it_becomes_cards() -> None:
    columns = {"name": ["cart"], "summary": ["Round all totals " * 5], "next action": ["Go"]}
    fitting = fit_columns(columns, 60)

    assert fitting is not None
    assert measure_table(fitting) <= 60
    assert fitting["next action"] == ["Go"]
    assert fit_columns(columns, 30) is None


def test_what_follows_a_label_stays_in_its_column() -> None:
    line = "hooks    not installed; run `leftoff init` to save"

    assert wrap_text(line, 30) == [
        "hooks    not installed; run",
        "         `leftoff init` to",
        "         save",
    ]
    path = "  Path  /a/very/long/path/that/does/not/fit"
    assert wrap_text(path, 24) == [path]
