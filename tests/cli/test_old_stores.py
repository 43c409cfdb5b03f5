"""A store that version 0.1 wrote opens without any action by the user, and loses nothing."""

import shutil
from pathlib import Path

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
