"""leftoff briefing, on the terminal and as a file."""

import re
from pathlib import Path

import pytest

from cli.runs import Cli
from cli.screens import show
from leftoff.context import find_project


@pytest.mark.accept(136)
def test_it_shows_decisions_failures_rules_and_where_the_work_stands(cli: Cli) -> None:
    cli.ok(
        *("save", "csv-export", "--summary", "Export orders", "--next", "Run the tests"),
        *("--decision", "Stream rows :: big tenants", "--failed", "One big array :: out of memory"),
    )
    cli.ok("memory", "add", "rule", "Import with @/")

    text = cli.ok("briefing").out

    assert re.search(r"- Stream rows \(20\d\d-\d\d-\d\d\): big tenants", text)
    assert "- One big array -> out of memory\n" in text
    assert "- Import with @/\n" in text
    assert "Last checkpoint: csv-export: Export orders\n" in text
    assert "Next steps: Run the tests\n" in text
    answer = cli.json("briefing")
    assert answer["text"] == text
    assert answer["lines"] == text.count("\n") <= 120


def test_a_person_sees_a_page_without_marks_that_wraps_at_words(cli: Cli) -> None:
    why = "a million orders do not fit into memory"
    cli.ok("save", "csv-export", "--summary=Export orders", f"--decision=Stream rows :: {why}")
    with show("briefing", columns=60) as screen:
        shown = screen.finish()

    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines[:2] == ["Session Briefing", "─" * 60]
    assert "Recent Decisions (last 5)" in lines
    assert "#" not in shown
    assert why in " ".join(shown.split())
    assert max(map(len, lines)) <= 60


def test_it_is_kept_in_a_file_and_touched_only_for_news(cli: Cli, tmp_path: Path) -> None:
    cli.ok("memory", "add", "rule", "Import with @/")
    path = tmp_path / "notes" / "briefing.md"

    first = cli.json("briefing", "--write", str(path))
    stamp = path.stat().st_mtime_ns
    second = cli.json("briefing", "--write", str(path))

    assert (first["written"], second["written"]) == (True, False)
    assert path.stat().st_mtime_ns == stamp
    assert path.read_text(encoding="utf-8") == cli.ok("briefing").out
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_briefing_that_others_may_read_stays_readable(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "briefing.md"
    cli.ok("briefing", "--write", str(path))
    path.chmod(0o644)
    cli.ok("memory", "add", "rule", "Import with @/")

    assert cli.json("briefing", "--write", str(path))["written"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_without_a_path_the_setting_says_where_and_else_the_store(cli: Cli) -> None:
    project = find_project(Path.cwd())
    assert cli.json("briefing", "--write")["path"] == str(project.store / "briefing.md")

    cli.ok("config", "set", "briefing_file", "docs/briefing.md")

    assert cli.json("briefing", "--write")["path"] == str(project.worktree / "docs/briefing.md")


def test_a_link_in_its_place_is_replaced_and_never_written_through(
    cli: Cli, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    link = tmp_path / "briefing.md"
    link.symlink_to(mine)

    cli.ok("briefing", "--write", str(link))

    assert mine.read_text(encoding="utf-8") == "mine"
    assert not link.is_symlink()
