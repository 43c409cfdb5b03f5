"""Shipping a project that keeps its state in files of the repository."""

import json
from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff.knowledge import features
from leftoff.store import Store
from ship.hub import Hub
from ship.shop import Shop, step

LOOP = {"version": 9, "feature": "feature-042", "featureName": "Export", "status": "in_progress"}


@pytest.fixture
def home(shop: Shop, cli: Cli) -> Path:
    """Follow harness; return its folder."""
    cli.ok("config", "set", "profile", "harness", "--project")
    cli.ok("config", "set", "mirror", "harness", "--project")
    return shop.folder / ".claude-harness"


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


@pytest.mark.accept(142)
@pytest.mark.accept(146)
def test_a_ship_after_the_number_was_noted_has_nothing_to_commit(
    shop: Shop, cli: Cli, home: Path, store: Store, hub: Hub
) -> None:
    features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, "1")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship")
    shipped = shop.head()
    assert features.load(store).features[0].pr == hub.pulls[0]["number"]
    assert shop.status == ""

    assert cli.json("ship")["commit"]["sha"] == shipped
    assert (shop.head(), shop.status) == (shipped, "")
    assert (home / "session-briefing.md").is_file()


def test_a_subject_names_what_was_worked_on_and_not_the_state(
    shop: Shop, cli: Cli, home: Path
) -> None:
    cli.ok("memory", "add", "pattern", "Stream rows")
    shop.write("app.py", "print('csv')\n")
    planned = step(cli.json("ship", "--no-pr", "--dry-run"), "commit")["text"]

    cli.ok("ship", "--no-pr")

    assert home.is_dir()
    assert shop.message() == "Update app.py"
    assert planned == "Would commit: Update app.py"


@pytest.mark.accept(143)
@pytest.mark.parametrize("place", ["loops/state.json", "sessions/abc-1/loop-state.json"])
def test_a_loop_that_another_program_left_there_gives_the_prefix(
    place: str, shop: Shop, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "abc-1")
    write(home / place, LOOP)
    items = [{"id": "feature-042", "name": "Export", "status": "in_progress", "passes": False}]
    write(home / "features/active.json", {"version": 3, "features": items, "fixes": []})
    before = (home / place).read_bytes()
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert shop.message() == "feat(feature-042): Export"
    assert (home / place).read_bytes() == before


def test_somebodys_own_briefing_is_put_aside_and_reported(shop: Shop, cli: Cli, home: Path) -> None:
    cli.ok("memory", "add", "rule", "Run ruff")
    (home / "session-briefing.md").write_text("Read ORDERS.md first.\n")
    shop.write("app.py", "print('csv')\n")

    outcome = step(cli.json("ship", "--no-pr"), "briefing")

    kept = list((shop.folder / ".git/leftoff/trash").rglob("session-briefing*"))
    assert [path.read_text() for path in kept] == ["Read ORDERS.md first.\n"]
    assert any(str(kept[0]) in line for line in outcome["lines"])


def test_somebodys_own_briefing_stays_where_nothing_is_mirrored(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "briefing_file", "BRIEFING.md", "--project")
    shop.write("BRIEFING.md", "Read ORDERS.md first.\n")

    outcome = step(cli.json("ship", "--no-pr"), "briefing")

    assert (shop.folder / "BRIEFING.md").read_text() == "Read ORDERS.md first.\n"
    assert outcome["state"] == "skipped"
    assert shop.message() == "Update BRIEFING.md"


def test_a_briefing_that_cannot_be_written_keeps_nothing_from_being_shipped(
    shop: Shop, cli: Cli, home: Path
) -> None:
    home.write_text("in the way\n")
    shop.write("app.py", "print('csv')\n")

    answer = cli("ship", "--no-pr", "--json")

    assert answer.code == 1
    assert str(home) in step(answer.json, "briefing")["text"]
    assert step(answer.json, "commit")["state"] == "done"
    assert shop.remote_head() == shop.head()
