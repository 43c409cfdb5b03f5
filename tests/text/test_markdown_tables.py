"""Tables are read as lists, row by row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.text.markdown_tables import replace_tables


@pytest.mark.parametrize(
    ("table", "bullets"),
    [
        (["| Decision | Why |", "|---|---|", "| Stream rows | 2 GB |"], ["- Stream rows — 2 GB"]),
        (
            ["| # | Decision | Status | Reason |", "|:-:|--|--|--|", "| 1 | Poll | new | cheap |"],
            ["- Poll (Status: new) — cheap"],
        ),
        (["| Field | Value |", "|---|---|", "| Goal | ship it |"], ["- Goal: ship it"]),
        (["| run | failures |", "|---|---|", "| 1-100 | 3 |"], ["- run: 1-100 (failures: 3)"]),
        (["| File |", "|---|", "| a.py |", "| b.py |"], ["- a.py", "- b.py"]),
        (["| Blocker | Where |", "|---|---|", "| a \\| b | |"], ["- a | b"]),
    ],
)
def test_each_row_becomes_a_bullet(table: list[str], bullets: list[str]) -> None:
    assert replace_tables(["above", *table, "", "below"]) == ["above", *bullets, "", "below"]


@pytest.mark.parametrize(
    "lines",
    [
        ["| not a table |", "text"],
        ["```", "| a | b |", "|---|---|", "| 1 | 2 |", "```"],
        ["a | b", "--- | ---"],
    ],
)
def test_everything_else_stays(lines: list[str]) -> None:
    assert replace_tables(lines) == lines


@given(st.lists(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=2, max_size=4)))
def test_no_cell_is_lost(rows: list[list[str]]) -> None:
    table = ["| First | Second |", "|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    made = replace_tables(table)

    assert len(made) == len(rows)
    for row, line in zip(rows, made, strict=True):
        assert all(cell in line for cell in row)
