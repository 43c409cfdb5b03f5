import os
from pathlib import Path

import pytest

from leftoff.context import Environment
from leftoff.errors import NotAProject
from leftoff.processes import copy_for_child


def test_state_and_settings_follow_the_xdg_variables(tmp_path: Path) -> None:
    plain = Environment({"HOME": str(tmp_path)})
    moved = Environment(
        {"HOME": str(tmp_path), "XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/config"}
    )

    assert plain.state_folder == tmp_path / ".local" / "state" / "leftoff"
    assert plain.config_file == tmp_path / ".config" / "leftoff" / "config.toml"
    assert moved.state_folder == Path("/state/leftoff")
    assert moved.config_file == Path("/config/leftoff/config.toml")


def test_the_variables_count_and_not_those_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/elsewhere")
    monkeypatch.setenv("LEFTOFF_HOME", "/elsewhere")

    environment = Environment({"HOME": str(tmp_path)})

    assert environment.home == tmp_path
    assert environment.state_folder.is_relative_to(tmp_path)
    assert environment.find_agent_folder("codex") == tmp_path / ".codex"


def test_a_tilde_stands_for_the_home_folder(tmp_path: Path) -> None:
    environment = Environment({"HOME": str(tmp_path), "LEFTOFF_HOME": "~/kept"})

    assert environment.state_folder == tmp_path / "kept"


def test_without_home_the_system_knows_the_user_s_folder() -> None:
    assert Environment({}).home.is_dir()


def test_a_user_whom_the_system_does_not_know_has_no_folder() -> None:
    environment = Environment({"HOME": "/home/me", "LEFTOFF_HOME": "~nobody-has-this-name/x"})

    with pytest.raises(NotAProject, match="home folder"):
        _ = environment.state_folder


def test_settings_come_from_variables_of_ours() -> None:
    environment = Environment({"LEFTOFF_BUDGET": "900"})

    assert environment.find_setting("budget") == "900"
    assert environment.find_setting("nothing") is None


def test_a_child_gets_the_environment_without_what_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")

    copied = copy_for_child(drop_prefix="GIT_", GIT_OPTIONAL_LOCKS="0")

    assert "GIT_DIR" not in copied
    assert copied["GIT_OPTIONAL_LOCKS"] == "0"
    assert copied["HOME"] == os.environ["HOME"]


def test_the_agent_s_session_is_known_where_the_agent_says_so() -> None:
    assert Environment({}).find_session() is None
    assert Environment({"CLAUDE_CODE_SESSION_ID": "s1"}).find_session() == ("claude", "s1")
