"""Every promise of docs/conformance has a test, and every promise that a test names has a row."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PROMISES: Any = runpy.run_path(str(ROOT / "scripts" / "promises.py"))
PAGES = sorted((ROOT / "docs" / "conformance").glob("*.md"))
LONGEST_CELL = 160

ROW = "| 1 | Saving writes a file. | `tests/test_a.py::test_file` | held |\n"
TEST = '@pytest.mark.promise("guardz", 1)\ndef test_file() -> None: ...\n'


def faults(tmp_path: Path, page: str, test: str) -> list[str]:
    for folder, name, text in (("pages", "guardz.md", page), ("tests", "test_a.py", test)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    pages = PROMISES["read_pages"](tmp_path / "pages")
    return list(PROMISES["find_faults"](pages, PROMISES["find_proofs"](tmp_path)))


def test_every_row_has_its_test_and_every_mark_its_row() -> None:
    assert PROMISES["find_faults"](PROMISES["read_pages"](), PROMISES["find_proofs"]()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_every_line_of_a_table_is_read_and_no_cell_is_too_long(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"^\| \d.*$", text, re.MULTILINE)

    assert len(PROMISES["read_promises"](text)) == len(lines)
    for cell in (cell for line in lines for cell in re.split(r"(?<!\\)\|", line)):
        assert len(cell.strip()) <= LONGEST_CELL, cell


@pytest.mark.parametrize(
    ("page", "test", "fault"),
    [
        (ROW, TEST, None),
        (ROW, "def test_file() -> None: ...\n", "no test tests/test_a.py::test_file"),
        (ROW, TEST.replace("test_file", "test_other"), "no test tests/test_a.py::test_file"),
        (ROW, TEST.replace("1)", "1, 2)"), "guardz 2: docs/conformance has no such row"),
        (ROW, TEST + TEST.replace("guardz", "other"), "other 1: docs/conformance has no such row"),
        (ROW.replace("held", "kept ours"), TEST, "unknown status 'kept ours'"),
        (ROW.replace("held", "kept ours: it would lose data"), TEST, None),
        (ROW + ROW, TEST, "not numbered"),
    ],
)
def test_a_gap_between_table_and_tests_is_found(
    tmp_path: Path, page: str, test: str, fault: str | None
) -> None:
    found = faults(tmp_path, page, test)

    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


def test_a_mark_on_one_parameter_counts(tmp_path: Path) -> None:
    test = (
        '@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.promise("guardz", 1))])\n'
        "def test_file(n: int) -> None: ...\n"
    )

    assert faults(tmp_path, ROW, test) == []
