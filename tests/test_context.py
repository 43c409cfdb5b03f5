import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from leftoff import processes
from leftoff.context import Environment
from leftoff.errors import NotAProject
from leftoff.processes import copy_for_child
from leftoff.session import records
from leftoff.session.records import Life


def test_state_and_settings_follow_the_xdg_variables(tmp_path: Path) -> None:
    plain = Environment({"HOME": str(tmp_path)})
    moved = Environment(
        {"HOME": str(tmp_path), "XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/config"}
    )

    assert plain.state_folder == tmp_path / ".local" / "state" / "leftoff"
    assert plain.config_file == tmp_path / ".config" / "leftoff" / "config.toml"
    assert moved.state_folder == Path("/state/leftoff")
    assert moved.config_file == Path("/config/leftoff/config.toml")


def test_a_relative_folder_does_not_count(tmp_path: Path) -> None:
    """It would put private files into the project."""
    names = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    environment = Environment({"HOME": str(tmp_path), **dict.fromkeys(names, "here")})

    assert environment.state_folder == tmp_path / ".local" / "state" / "leftoff"
    assert environment.config_file == tmp_path / ".config" / "leftoff" / "config.toml"
    assert environment.find_data_folder() == tmp_path / ".local" / "share"
    assert Environment({"HOME": "here"}).state_folder.is_absolute()


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


def test_settings_come_from_leftoffs_variables() -> None:
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


@pytest.mark.parametrize(
    ("variable", "agent"),
    [
        ("CODEX_THREAD_ID", "codex"),
        ("CODEX_SESSION_ID", "codex"),
        ("GEMINI_SESSION_ID", "gemini"),
        ("COPILOT_AGENT_SESSION_ID", "copilot"),
        ("OPENCODE_SESSION_ID", "opencode"),
    ],
)
def test_every_agent_s_session_is_known(variable: str, agent: str) -> None:
    assert Environment({variable: "s1"}).find_session() == (agent, "s1")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows it")
@pytest.mark.parametrize(
    ("outer", "inner", "agent"),
    [
        ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "codex"),
        ("CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID", "claude"),
    ],
)
def test_of_an_agent_in_the_shell_of_another_the_inner_one_counts(
    outer: str, inner: str, agent: str
) -> None:
    find = "from leftoff import context; print(*context.read_environment().find_session())"
    # Each `sh` is what an agent starts: it has the agent's variable, the agent does not.
    script = f'{inner}=in sh -c "{sys.executable} -c \\"{find}\\"; true"; true'
    done = subprocess.run(
        ["sh", "-c", script],
        env={**os.environ, outer: "out"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == [agent, "in"]


@pytest.mark.parametrize(
    ("variables", "agent", "folder"),
    [
        ({}, "gemini", "/home/ada/.gemini"),
        ({"GEMINI_CLI_HOME": "/srv/g"}, "gemini", "/srv/g/.gemini"),
        ({"COPILOT_HOME": "/srv/c"}, "copilot", "/srv/c"),
        ({"CODEX_HOME": "~/x"}, "codex", "/home/ada/x"),
        ({}, "opencode", "/home/ada/.config/opencode"),
        ({"XDG_CONFIG_HOME": "/srv/o"}, "opencode", "/srv/o/opencode"),
        ({"CLAUDE_CONFIG_DIR": "/srv/a"}, "claude", "/srv/a"),
    ],
)
def test_an_agent_s_settings_are_where_its_variables_say(
    variables: dict[str, str], agent: str, folder: str
) -> None:
    found = Environment({"HOME": "/home/ada", **variables}).find_config_folder(agent)

    assert found == Path(folder)


def test_an_agent_in_claude_code_s_shell_is_not_claude_code_s_process() -> None:
    environment = Environment({"CLAUDE_PID": "12"})

    assert environment.find_agent_pid("claude") == 12
    assert environment.find_agent_pid("codex") == 0


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows it")
@pytest.mark.parametrize(
    ("agent", "variable"), [("gemini", "GEMINI_SESSION_ID"), ("copilot", "COPILOT_PROJECT_DIR")]
)
def test_the_process_that_runs_a_hook_is_found_by_what_it_sets(agent: str, variable: str) -> None:
    find = (
        f"from leftoff import context; print(context.read_environment().find_agent_pid('{agent}'))"
    )
    # The first `sh` is the agent: it sets the variable for its hook.
    script = f'echo $$; {variable}=one sh -c "{sys.executable} -c \\"{find}\\"; true"; true'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)

    agent_pid, found = done.stdout.split()
    assert found == agent_pid
    assert Environment({}).find_agent_pid(agent) == 0


def _keep_life(state: Path, session: str, **fields: Any) -> None:
    records.keep_life(state, Life(agent="gemini", session_id=session, store="", **fields))


def test_a_command_in_the_shell_of_gemini_belongs_to_the_session_of_its_process(
    tmp_path: Path,
) -> None:
    shell = Environment({"LEFTOFF_HOME": str(tmp_path), "GEMINI_CLI": "1"})
    _keep_life(tmp_path, "other", pid=os.getpid(), seen_at=9.0)
    assert shell.find_session() is None

    _keep_life(tmp_path, "former", pid=os.getppid(), seen_at=1.0)
    _keep_life(tmp_path, "own", pid=os.getppid(), seen_at=2.0)

    assert Environment(shell.variables).find_session() == ("gemini", "own")


def test_where_the_system_hides_processes_the_newest_session_of_gemini_here_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "list_ancestors", list)
    (tmp_path / "work" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / "below")
    state = tmp_path / "state"
    _keep_life(state, "old", cwd=str(tmp_path / "work"), seen_at=1.0)
    _keep_life(state, "new", cwd=str(tmp_path / "work"), seen_at=2.0)
    _keep_life(state, "away", cwd=str(tmp_path / "away"), seen_at=3.0)

    shell = Environment({"LEFTOFF_HOME": str(state), "GEMINI_CLI": "1"})

    assert shell.find_session() == ("gemini", "new")
