"""A store that version 0.1 wrote opens without any action by the user, and loses nothing."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli

WRITTEN = Path(__file__).parent / "written_by_0_1"


@pytest.fixture(params=["with its indexes", "without them"])
def old(request: pytest.FixtureRequest, stored: Path) -> Path:
    """Put the recorded store into the repository."""
    shutil.copytree(WRITTEN, stored)
    if request.param == "without them":
        for index in stored.glob("*.sqlite"):
            index.unlink()
    return stored


@pytest.mark.usefixtures("old")
def test_open_checkpoints_are_listed(cli: Cli) -> None:
    listed = {entry["id"]: entry["name"] for entry in cli.json("list")}

    assert listed == {
        "20261116T105824996Z-9e291b76": None,
        "20261116T105759895Z-dbc9a2d3": "login-form",
        "20261116T105759036Z-05ac4914": "csv-export",
    }


@pytest.mark.usefixtures("old")
def test_every_revision_can_be_shown(cli: Cli) -> None:
    first = cli.json("show", "20261116T105758421Z-0f279c59")

    assert first["next_action"]["text"] == "Run pytest tests/test_export.py"
    assert first["failed"][0]["why"] == "MemoryError at a million orders"


@pytest.mark.usefixtures("old")
def test_what_was_cleared_stays_cleared_and_comes_back_with_undo(cli: Cli) -> None:
    assert "old-idea" not in cli.ok("list").out
    cli.ok("undo")

    assert "old-idea" in cli.ok("list").out


@pytest.mark.usefixtures("old")
def test_memory_features_notes_and_settings_are_read(cli: Cli) -> None:
    remembered = cli.ok("memory", "list").out

    assert "Import with @/ from src" in remembered
    assert "Join all rows in memory" in remembered
    assert "Export orders as CSV" in cli.ok("feature", "list").out
    assert "Tabs, not spaces" in cli.ok("wal", "show").out
    assert "offer_days" in cli.ok("config").out


def test_saving_keeps_every_old_checkpoint_byte_for_byte(cli: Cli, old: Path) -> None:
    before = {path.name: path.read_bytes() for path in old.glob("checkpoints/*/*.json")}

    cli.ok("save", "csv-export", "--overwrite", "--next", "Run make test")

    after = {path.name: path.read_bytes() for path in old.glob("checkpoints/*/*.json")}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


# --- as threads ---


@pytest.mark.usefixtures("old")
def test_each_name_and_each_session_is_a_thread_with_its_task_and_age(cli: Cli) -> None:
    found = {each["summary"]: (each["name"], each["as_of"], each["state"]) for each in _listed(cli)}

    assert found == {
        "Port the exporter to streaming writes": (None, "2026-11-16T10:58:24.996431+00:00", "open"),
        "Validate the login form": ("login-form", "2026-11-16T10:57:59.895134+00:00", "open"),
        "Stream the CSV export": ("csv-export", "2026-11-16T10:57:59.036564+00:00", "open"),
    }
    revisions = cli.json("log", "csv-export")["revisions"]
    assert [each["id"] for each in revisions] == [
        "20261116T105759036Z-05ac4914",
        "20261116T105758421Z-0f279c59",
    ]
    assert {each["thread"] for each in revisions} == {"csv-export"}


@pytest.mark.usefixtures("old")
def test_an_unnamed_thread_is_found_by_the_words_of_its_task(cli: Cli) -> None:
    assert "Port the exporter" in cli.ok("resume", "port-exporter-streaming-writes").out


@pytest.mark.parametrize(
    ("action", "change"),
    [
        ("consumed", "marking csv-export as done"),
        ("resumed", "resuming csv-export"),
        ("declined", "declining csv-export"),
    ],
)
def test_what_that_version_recorded_last_can_be_undone_and_redone(
    cli: Cli, old: Path, action: str, change: str
) -> None:
    before = _listed(cli)
    # The line that version 0.1 wrote for it.
    line = (
        f'{{"id":"20261116T110000000Z-00000001","at":"2026-11-16T11:00:00Z",'
        f'"action":"{action}","ids":["20261116T105759036Z-05ac4914"]}}\n'
    )
    with (old / "events.jsonl").open("a", encoding="utf-8") as log:
        log.write(line)
    after = _listed(cli)
    assert after != before

    assert cli.ok("undo").out.startswith(f"Undid {change}\n")
    assert _listed(cli) == before
    assert cli.ok("redo").out == f"Redid {change}\n"
    assert _listed(cli) == after


@pytest.mark.usefixtures("old")
def test_an_overwrite_of_that_version_is_undone(cli: Cli) -> None:
    undone = [cli.json("undo") for _ in range(4)]

    assert [each["names"] for each in undone] == [
        ["old-idea"], ["old-idea"], ["login-form"], ["csv-export"]
    ]  # fmt: skip
    shown = cli.json("show", "csv-export")
    assert shown["id"] == "20261116T105758421Z-0f279c59"


@pytest.mark.usefixtures("old")
def test_a_session_joins_such_a_thread_and_goes_on_in_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-2")
    cli.ok("resume", "csv-export", "--accept")
    cli.ok("save", "csv-export", "--next", "Run make test")

    (thread,) = [each for each in _listed(cli) if each["name"] == "csv-export"]
    assert (thread["thread"], thread["summary"]) == ("csv-export", "Stream the CSV export")
    assert len(cli.json("log", "csv-export")["revisions"]) == 3


@pytest.mark.usefixtures("old")
def test_the_session_of_an_unnamed_thread_names_it_by_saving(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-1")
    cli.ok("save", "streaming-port", "--next", "Run make test")

    (thread,) = [each for each in _listed(cli) if each["name"] == "streaming-port"]
    assert thread["thread"] == "~claude:session-1"
    assert thread["summary"] == "Port the exporter to streaming writes"
    assert len(_listed(cli)) == 3


def _listed(cli: Cli) -> list[Any]:
    """Tell what `list` shows, apart from what depends on the moment."""
    rows: list[dict[str, Any]] = cli.json("list")
    return [{key: row[key] for key in row if key != "age_seconds"} for row in rows]
