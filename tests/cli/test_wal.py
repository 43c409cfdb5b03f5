from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo


@pytest.mark.accept(49)
def test_a_note_is_reported_with_its_place(cli: Cli, stored: Path) -> None:
    result = cli.json("wal", "add", "--kind", "correction", "delimiter is ;")

    assert result == {
        "kind": "correction",
        "text": "delimiter is ;",
        "is_new": True,
        "path": str(stored / "SESSION-STATE.md"),
    }
    assert cli.ok("wal", "add", "--kind=correction", "delimiter is ;").out == (
        "Already there (correction): delimiter is ;\n"
    )


@pytest.mark.accept(50)
def test_a_message_is_scanned_and_noted(cli: Cli, repo: Repo) -> None:
    notes = repo.write("SESSION-STATE.md", "# SESSION-STATE.md\n")
    cli.ok("config", "set", "--project", "notes", "worktree")
    result = cli.json("wal", "scan", "no, use port 8081 not 8080")

    assert [(each["kind"], each["is_new"]) for each in result["found"]] == [
        ("correction", True),
        ("value", True),
    ]
    text = notes.read_text("utf-8")
    assert "] no, use port 8081 not 8080\n" in text
    assert "] port 8081\n" in text


def test_a_message_may_come_on_standard_input(cli: Cli) -> None:
    for words in ([], ["-"]):
        found = cli.json("wal", "scan", "--dry-run", *words, stdin="let's go with Redis")["found"]
        assert found == [{"kind": "decision", "text": "let's go with Redis"}]


def test_a_dry_run_notes_nothing(cli: Cli, stored: Path) -> None:
    cli.ok("wal", "scan", "--dry-run", "let's go with Redis")

    assert not (stored / "SESSION-STATE.md").exists()
    assert cli.ok("wal").out == f"There are no notes in {stored / 'SESSION-STATE.md'}\n"


def test_without_anything_to_note_it_says_so(cli: Cli) -> None:
    assert cli.ok("wal", "scan", "continue").out == "Found nothing to note.\n"


@pytest.mark.parametrize(
    "words", [["add", "--kind", "value", " "], ["add", "x"], ["add", "--kind"]]
)
def test_a_call_that_says_too_little_is_refused(cli: Cli, words: list[str]) -> None:
    assert cli("wal", *words).code == 2


def test_the_notes_are_shown(cli: Cli) -> None:
    cli.ok("wal", "add", "--kind", "noun", "Acme Corp")

    assert " > ## Proper nouns & values\n > - [" in cli.ok("wal").out
    assert "Acme Corp" in cli.json("wal", "show")["text"]


def test_another_task_begins_with_no_notes(cli: Cli) -> None:
    cli.ok("wal", "add", "--kind", "noun", "Acme Corp")

    assert cli.ok("wal", "reset").out.startswith("Moved the notes to ")
    assert cli.ok("wal", "reset").out == "There are no notes.\n"
    assert "There are no notes" in cli.ok("wal").out
    assert any("SESSION-STATE" in each.get("path", "") for each in cli.json("trash", "list"))
