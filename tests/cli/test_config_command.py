import os
import re
from pathlib import Path

import pytest

from cli.runs import Cli


def values(cli: Cli) -> dict[str, tuple[object, str]]:
    return {each["key"]: (each["value"], each["source"]) for each in cli.json("config")}


def test_it_shows_where_each_value_comes_from(
    cli: Cli, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "home" / ".config" / "leftoff" / "config.toml"
    assert values(cli)["budget"] == (1500, "default")
    cli.ok("config", "set", "budget", "500")
    cli.ok("config", "set", "strict", "true", "--project")
    monkeypatch.setenv("LEFTOFF_ON_RESUME", "consume")
    found = values(cli)

    assert found["budget"] == (500, str(mine))
    assert found["strict"] == (True, str(stored / "config.toml"))
    assert found["on_resume"] == ("consume", "environment LEFTOFF_ON_RESUME")
    assert found["on_decline"] == ("keep", "default")
    cli.ok("config", "set", "budget", "600", "--project")
    assert values(cli)["budget"] == (600, str(stored / "config.toml"))
    monkeypatch.setenv("LEFTOFF_BUDGET", "700")
    assert values(cli)["budget"] == (700, "environment LEFTOFF_BUDGET")


@pytest.mark.parametrize("words", [[], ["explain"]])
def test_people_see_a_table(cli: Cli, words: list[str]) -> None:
    header, *rows = cli.ok("config", *words).out.splitlines()

    assert header.split() == ["setting", "value", "from", "meaning"]
    assert rows[0].split()[:3] == ["budget", "1500", "default"]
    assert "strict" in cli.ok("config", *words).out


@pytest.mark.parametrize("words", [["--json"], ["--json", "explain"], ["explain", "--json"]])
def test_json_is_understood_before_and_after_the_subcommand(cli: Cli, words: list[str]) -> None:
    assert cli.ok("config", *words).json[0]["key"] == "budget"


def test_unset_takes_a_value_back(cli: Cli) -> None:
    cli.ok("config", "set", "budget", "500")
    assert cli.json("config", "unset", "budget")["key"] == "budget"
    cli.ok("config", "unset", "budget")

    assert values(cli)["budget"] == (1500, "default")


@pytest.mark.parametrize(
    ("key", "value"),
    [("budget", "many"), ("budget", "5"), ("budget", ""), ("strict", "perhaps"),
     ("on_resume", "burn"), ("color", "blue"), ("", "x")],
)  # fmt: skip
def test_an_unknown_setting_or_value_is_refused(cli: Cli, key: str, value: str) -> None:
    result = cli("config", "set", key, value)

    assert result.code == 2, result
    assert values(cli)["budget"] == (1500, "default")


def test_comments_and_foreign_keys_survive_a_change(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "home" / ".config" / "leftoff" / "config.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text("# mine\nbudget = 300 # short\n\n[other]\nkey = 1\n")
    cli.ok("config", "set", "budget", "400")

    assert mine.read_text() == "# mine\nbudget = 400 # short\n\n[other]\nkey = 1\n"


def test_a_linked_settings_file_stays_a_link(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "home" / ".config" / "leftoff" / "config.toml"
    mine.parent.mkdir(parents=True)
    (tmp_path / "dotfiles.toml").write_text("strict = false\n")
    mine.symlink_to(tmp_path / "dotfiles.toml")
    cli.ok("config", "set", "budget", "400")

    assert mine.is_symlink()
    assert "budget = 400" in (tmp_path / "dotfiles.toml").read_text()
    assert values(cli)["budget"][0] == 400


def test_a_link_planted_in_the_store_is_not_written_through(
    cli: Cli, stored: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("")
    cli.ok("save", "login-form", "--summary=Some work")
    (stored / "config.toml").symlink_to(victim)

    result = cli("config", "set", "budget", "400", "--project")

    assert result.code == 1
    assert "config.toml is not a regular file" in result.err
    assert victim.read_text() == ""
    assert (stored / "config.toml").is_symlink()


@pytest.mark.parametrize("text", ["budget = [", "budget = 'many'\nnonsense = 1\n", "\xff"])
def test_a_broken_file_is_reported_and_left_out(cli: Cli, stored: Path, text: str) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    (stored / "config.toml").write_bytes(text.encode("latin-1"))
    result = cli.ok("resume")

    assert "warning: " in result.err
    assert "config.toml" in result.err
    assert "Task: Some work" in result.out
    if "=" not in text or "[" in text:
        assert cli("config", "set", "budget", "400", "--project").code == 1


def test_a_settings_file_that_never_answers_is_not_waited_for(cli: Cli, stored: Path) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    os.mkfifo(stored / "config.toml")

    assert values(cli)["budget"] == (1500, "default")


def test_settings_are_reported_where_there_is_no_project(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path.home())
    cli.ok("config", "set", "budget", "500")

    assert values(cli)["budget"][0] == 500


# Consent


def planted(stored: Path, text: str) -> None:
    """Write the project's settings as an archive brings them."""
    stored.mkdir(exist_ok=True)
    (stored / "config.toml").write_text(text, encoding="utf-8")


def test_allow_shows_what_waits_and_allows_it(cli: Cli, stored: Path) -> None:
    planted(stored, 'verify = ["make test"]\nnot_secret = ["*.pem"]\n')
    assert "`leftoff config allow verify`" in cli.ok("status").err

    result = cli.ok("config", "allow", "verify")

    assert "verify = make test" in result.out
    assert "Allowed verify" in result.out
    assert values(cli)["verify"] == (["make test"], str(stored / "config.toml"))
    assert values(cli)["not_secret"] == ([], "default")
    assert cli.json("config", "allow") == {"allowed": ["not_secret"]}
    assert cli.ok("config", "allow").out == "No setting needs your consent.\n"


def test_on_a_terminal_allow_asks(cli: Cli, stored: Path) -> None:
    planted(stored, 'verify = ["make test"]\n')

    with cli.terminal("config", "allow") as terminal:
        terminal.expect("make test")
        terminal.expect("Allow it on this machine?")
        terminal.answer("n")
        assert "Nothing was allowed." in terminal.rest()

    assert values(cli)["verify"] == ([], "default")


def test_what_the_user_sets_for_a_project_is_allowed(cli: Cli, stored: Path) -> None:
    cli.ok("config", "set", "--project", "verify", "make test")

    assert values(cli)["verify"] == (["make test"], str(stored / "config.toml"))


def test_a_project_cannot_be_set_to_a_file_outside_it(cli: Cli) -> None:
    result = cli("config", "set", "--project", "briefing_file", "/etc/motd")

    assert result.code == 2
    assert "--project" in result.err
    cli.ok("config", "set", "briefing_file", "/etc/motd")


def test_a_mistyped_setting_gets_a_suggestion(cli: Cli) -> None:
    near, far = cli("config", "set", "budgt", "3000"), cli("config", "unset", "nosuch")

    assert (near.code, far.code) == (2, 2)
    assert near.err.splitlines() == [
        "leftoff: There is no setting 'budgt'.",
        "  Did you mean `budget`? Run `leftoff config` to list them all.",
    ]
    assert far.err.splitlines()[1] == "  Run `leftoff config` to list them all."


def test_a_person_sees_each_value_with_its_meaning_and_where_it_is_from(cli: Cli) -> None:
    cli.ok("config", "set", "budget", "3000")
    with cli.terminal("config", "--color=never", columns=200) as terminal:
        shown = terminal.rest()

    assert re.search(
        r"budget = 3000 \(from \S+/config.toml\)\n  Maximum tokens of a briefing", shown
    )
    assert "\nbriefing_file = (none)\n" in shown
