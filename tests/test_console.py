"""The console blocks of some pages are what the program prints."""

import re
import runpy
from pathlib import Path

import pytest

from rows import for_each

CONSOLE = runpy.run_path(str(Path(__file__).parent.parent / "scripts" / "console.py"))
PAGES = CONSOLE["PAGES"]


@pytest.mark.slow("runs every command of the page")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert CONSOLE["play"](text) == text, "run `make console`"


@for_each("page", PAGES)
def test_every_block_of_such_a_page_is_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert re.findall(r"^ +```console", text, re.MULTILINE) == []
    assert not re.search(r"^```console\n(?!\$ )", text, re.MULTILINE)


@for_each(
    ("written", "printed", "is_same"),
    [
        (["a"], ["a"], True),
        (["a"], ["b"], False),
        (["a", "…"], ["a"], True),
        (["a", "…", "d"], ["a", "b", "c", "d"], True),
        (["a", "…", "d"], ["a", "b", "c"], False),
        (["Saved 2026-11-16 14:39 (2m ago)"], ["Saved 2027-01-02 03:04 (just now)"], True),
        (["x  20261118T050431324Z-12b4f690"], ["x 20261119T060431324Z-02b4f690"], True),
        (["Last commit: 49060073 Add"], ["Last commit: 2b3f3f87 Add"], True),
        (["Last commit: 49060073 Add"], ["Last commit: 2b3f3f87 Remove"], False),
        (
            ["ok  python: /bin/python runs", "    leftoff"],
            ["ok python: /bin/python runs leftoff"],
            True,
        ),
        ([], [], True),
        ([], ["a"], False),
    ],
)
def test_only_times_ids_hashes_and_line_breaks_may_differ(
    written: list[str], printed: list[str], *, is_same: bool
) -> None:
    assert CONSOLE["is_same"](written, printed) is is_same


def test_a_command_may_go_on_in_the_next_line() -> None:
    steps = CONSOLE["read_steps"]("$ a \\\n    b\nc\n$ d\n")

    assert [(each.command, each.output) for each in steps] == [
        ("$ a \\\n    b", ["c"]),
        ("$ d", []),
    ]
