"""`leftoff prompts import` queues the prompts of a file."""

from pathlib import Path

import pytest

from cli.runs import Cli

FILE = "first words\n=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===\nrename the column\n"


@pytest.mark.accept(103)
def test_the_prompts_are_listed_and_the_file_stays(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "pending-prompt-old-session.txt"
    path.write_text(FILE, encoding="utf-8")

    assert cli.ok("prompts", "import", str(path)).out == "Imported 2 prompts\n"
    assert cli.ok("prompts", "import", str(path)).out == "Imported 0 prompts\n"

    output = cli.ok("prompts", "list").out
    assert "1. [legacy] first words" in output
    assert "2. [2026-11-15 18:41] rename the column" in output
    assert path.read_text(encoding="utf-8") == FILE
    assert {each["session_id"] for each in cli.json("prompts", "list")} == {"old-session"}


def test_a_file_that_is_not_there_is_reported(cli: Cli, tmp_path: Path) -> None:
    result = cli("prompts", "import", str(tmp_path / "none.txt"))

    assert result.code == 2
    assert "none.txt" in result.err


def test_a_folder_is_not_a_file_of_prompts(cli: Cli, tmp_path: Path) -> None:
    assert cli("prompts", "import", str(tmp_path)).code == 2
