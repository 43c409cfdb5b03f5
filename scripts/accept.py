"""Print which tests prove each row of docs/acceptance.md, and fail if no test proves a row.

Every number up to the last must have a row, or a line with the reason under "Not covered". The
promises of the five systems follow, as docs/conformance lists them.

    python scripts/accept.py
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import promises

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| (?:(\d+) )?\| (.*) \|$", re.MULTILINE)
_LEFT_OUT = "## Not covered"
_LAST = 167


class Collector:
    """A pytest plugin that records which tests name which rows."""

    def __init__(self) -> None:
        self.tests: dict[int, set[str]] = defaultdict(set)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Record the rows of every test."""
        for item in items:
            for mark in item.iter_markers("accept"):
                for row in mark.args:
                    self.tests[row].add(item.nodeid.partition("[")[0])


def read_rows(text: str) -> dict[int, str]:
    """Read a table, in which a line without a number continues the row above it."""
    rows: dict[int, str] = {}
    current = 0
    for number, words in _ROW.findall(text):
        current = int(number or current)
        rows[current] = f"{rows[current]} {words}" if current in rows else words
    return rows


def main() -> int:
    """Print the table, and return whether every row is proved."""
    text = (ROOT / "docs" / "acceptance.md").read_text(encoding="utf-8")
    promised, _, left_out = text.partition(_LEFT_OUT)
    rows, reasons = read_rows(promised), read_rows(left_out)
    # Tests import `bench` from the root, and scripts/fuzz.py would hide their `fuzz`.
    sys.path[0] = str(ROOT)
    collector = Collector()
    code = pytest.main(["--collect-only", "-p", "no:terminal", str(ROOT)], [collector])
    if code != pytest.ExitCode.OK:
        return int(code)
    for number, text in rows.items():
        print(f"{number:4}  {text}")
        for test in sorted(collector.tests[number]) or ["NOT PROVED BY ANY TEST"]:
            print(f"        {test}")
    unknown = sorted(set(collector.tests) - set(rows))
    missing = [number for number in rows if not collector.tests[number]]
    absent = sorted(set(range(1, _LAST + 1)) - set(rows) - set(reasons))
    print(f"\n{len(rows) - len(missing)} of {len(rows)} rows are proved by tests.")
    print(f"{len(reasons)} more are not covered, each for a stated reason.")
    if unknown:
        print(f"Rows that tests name but docs/acceptance.md lacks: {unknown}")
    if absent:
        print(f"Numbers without a row or a reason: {absent}")
    faults = check_promises()
    return 1 if missing or unknown or absent or faults else 0


def check_promises() -> list[str]:
    """Print the promises of each system with their tests, and return what does not fit."""
    pages, proofs = promises.read_pages(), promises.find_proofs()
    promises.print_pages(pages, proofs)
    faults = promises.find_faults(pages, proofs)
    print("".join(f"{fault}\n" for fault in faults), end="")
    return faults


if __name__ == "__main__":
    sys.exit(main())
