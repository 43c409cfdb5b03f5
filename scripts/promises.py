"""Read the tables of docs/conformance, and the tests that prove their rows.

Each page belongs to one system. Each row has a number, a promise, the test that plays it, and a
status: `held`, `kept ours` with the reason, or `differs` with what is missing.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "conformance"
_ROW = re.compile(r"^\| (\d+) \| (.+?) \| `(.+?)` \| (.+?) \|$", re.MULTILINE)
_STATUS = re.compile(r"held|(?:kept ours|differs): \S.*")

Proofs = dict[tuple[str, int], set[str]]


class Promise(NamedTuple):
    """A row of a table."""

    number: int
    text: str
    test: str
    """The test's path and name, as pytest names it."""
    status: str

    @property
    def is_held(self) -> bool:
        """Whether leftoff does it literally."""
        return self.status == "held"


def read_pages(folder: Path = PAGES) -> dict[str, list[Promise]]:
    """Return the promises of each system."""
    pages = sorted(folder.glob("*.md"))
    return {
        page.stem: read_promises(page.read_text(encoding="utf-8"))
        for page in pages
        if page.stem != "README"
    }


def read_promises(text: str) -> list[Promise]:
    """Return the rows of a table."""
    return [Promise(int(number), *cells) for number, *cells in _ROW.findall(text)]


def find_proofs(root: Path = ROOT) -> Proofs:
    """Return the tests that are marked with each promise, without running them."""
    proofs: Proofs = defaultdict(set)
    for path in sorted((root / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if ".promise(" in text:
            for name, promise in _find_marks(ast.parse(text)):
                proofs[promise].add(f"{path.relative_to(root)}::{name}")
    return proofs


def _find_marks(tree: ast.Module) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield each test with each promise that its decorators name."""
    for test in tree.body:
        if isinstance(test, ast.FunctionDef):
            calls = [node for each in test.decorator_list for node in ast.walk(each)]
            for call in calls:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.promise":
                    system, *numbers = map(ast.literal_eval, call.args)
                    yield from ((test.name, (system, number)) for number in numbers)


def find_faults(pages: dict[str, list[Promise]], proofs: Proofs) -> list[str]:
    """Return what does not fit between the tables and the tests."""
    faults = [
        f"{system} {number}: docs/conformance has no such row, but {min(tests)} is marked with it"
        for (system, number), tests in sorted(proofs.items())
        if number not in {each.number for each in pages.get(system, ())}
    ]
    for system, rows in pages.items():
        numbers = [each.number for each in rows]
        if numbers != [*range(1, len(rows) + 1)]:
            faults.append(f"{system}: the rows are not numbered from 1 to {len(rows)}")
        for row in rows:
            if row.test not in proofs.get((system, row.number), ()):
                faults.append(f"{system} {row.number}: no test {row.test} is marked with it")
            if not _STATUS.fullmatch(row.status):
                faults.append(f"{system} {row.number}: unknown status {row.status!r}")
    return faults


def print_pages(pages: dict[str, list[Promise]], proofs: Proofs) -> None:
    """Print each promise with its tests, and how many of each system are held."""
    for system, rows in pages.items():
        print(f"\n{system}")
        for row in rows:
            print(f"{row.number:4}  {row.text} [{row.status}]")
            for test in sorted(proofs.get((system, row.number), ())):
                print(f"        {test}")
    print()
    for system, rows in pages.items():
        held = sum(each.is_held for each in rows)
        differs = sum(each.status.startswith("differs") for each in rows)
        ours = len(rows) - held - differs
        print(f"{system}: {len(rows)} promises, {held} held, {ours} kept ours, {differs} differ.")
