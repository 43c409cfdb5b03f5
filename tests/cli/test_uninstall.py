import json
from pathlib import Path

import pytest

from cli.runs import Cli
from stores import contents

SETTINGS = '{\n\t"theme": "dark",\r\n "hooks": {"Stop": [{"hooks": []}]} }'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_bytes(SETTINGS.encode())
    return home


@pytest.mark.accept(130)
def test_uninstall_leaves_the_home_folder_as_it_was_but_for_backups(cli: Cli, home: Path) -> None:
    before = contents(home)
    cli.ok("init", "--yes")
    result = cli.ok("uninstall", "--yes")

    left = contents(home)
    state = ".local/state/leftoff/"
    assert {path: left[path] for path in left if not path.startswith(state)} == before
    assert {path.removeprefix(state).split("/")[0] for path in left if path.startswith(state)} <= {
        "backups",
        "settle.lock",
    }
    assert not (home / ".agents").exists()
    assert "Your checkpoints stay" in result.out


def test_checkpoints_stay(cli: Cli, home: Path, stored: Path) -> None:
    cli.ok("init", "--yes")
    saved = cli.json("save", "login-form", "--summary=Validate the form")
    cli.ok("uninstall", "--yes")

    assert cli.json("show", "login-form")["id"] == saved["id"]
    assert stored.is_dir()
    del home


def test_after_an_edit_only_our_entries_go(cli: Cli, home: Path) -> None:
    cli.ok("init", "--yes")
    path = home / ".claude" / "settings.json"
    # As Claude Code itself writes the file.
    values = {**json.loads(path.read_text(encoding="utf-8")), "model": "opus"}
    path.write_text(json.dumps(values, indent=2), encoding="utf-8")
    cli.ok("uninstall", "--yes")

    left = json.loads(path.read_text(encoding="utf-8"))
    assert left == {"theme": "dark", "hooks": {"Stop": [{"hooks": []}]}, "model": "opus"}


def test_a_dry_run_and_a_missing_yes_change_nothing(cli: Cli, home: Path) -> None:
    cli.ok("init", "--yes")
    before = contents(home)

    assert "-" in cli.ok("uninstall", "--dry-run").out
    result = cli("uninstall")
    assert result.code == 3
    choice = result.json["choices"][0]
    assert choice["command"] == "leftoff uninstall --yes"
    # An agent pays for each word of a question; only a dry run shows the diffs.
    assert {*choice["changes"][0]} == {"path", "action", "what", "agent"}
    assert any(each["diff"] for each in cli.json("uninstall", "--dry-run")["changes"])
    assert contents(home) == before


def test_a_second_uninstall_has_nothing_to_do(cli: Cli, home: Path) -> None:
    cli.ok("init", "--yes")
    cli.ok("uninstall", "--yes")

    assert "not installed; nothing to do" in cli.ok("uninstall").out
    del home


def test_it_asks_on_a_terminal(cli: Cli, home: Path) -> None:
    cli.ok("init", "--yes")
    with cli.terminal("uninstall") as terminal:
        terminal.expect("Remove the hooks? [Y/n/diff] ")
        terminal.answer("y")
        assert "Removed the hooks\n" in terminal.rest()

    assert (home / ".claude" / "settings.json").read_bytes() == SETTINGS.encode()


def test_a_skill_of_the_user_from_before_comes_back(cli: Cli, home: Path) -> None:
    cli.ok("init", "--yes")
    result = cli.json("uninstall", "--yes")

    assert result["done"] is True
    actions = {Path(change["path"]).name: change["action"] for change in result["changes"]}
    assert actions["settings.json"] == "change"
    assert actions["hook"] == actions["python"] == "remove"
    del home
