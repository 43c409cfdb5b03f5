import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.agents.registry import AGENTS
from leftoff.context import read_environment, state_folder
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.claude_hooks import EVENTS
from leftoff.wiring.detect_agents import TITLES
from leftoff.wiring.install_places import find_places
from programs import with_our_path
from stores import contents


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".claude").mkdir()
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.write_text('{\n  "theme": "dark"\n}\n', encoding="utf-8")
    return path


@pytest.mark.accept(130)
def test_init_wires_every_event_and_says_what_was_changed(cli: Cli, settings: Path) -> None:
    result = cli.ok("init", "--yes")

    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    assert list(hooks) == list(EVENTS)
    assert f"changed  {settings}" in result.out
    assert f"Backed up {settings} to " in result.out
    assert "leftoff uninstall" in result.out
    assert result.err == ""


@pytest.mark.parametrize("name", ["python", "hook", "wired.claude"])
def test_a_link_planted_in_the_state_folder_is_replaced_and_not_followed(
    cli: Cli, settings: Path, tmp_path: Path, name: str
) -> None:
    del settings
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    state_folder().mkdir(parents=True)
    (state_folder() / name).symlink_to(victim)

    cli.ok("init", "--yes")

    assert victim.read_text(encoding="utf-8") == "mine"
    assert not (state_folder() / name).is_symlink()


@pytest.mark.accept(130)
def test_the_second_init_does_nothing_and_says_so(cli: Cli, settings: Path, home: Path) -> None:
    cli.ok("init", "--yes")
    before = contents(home)
    result = cli.ok("init")

    assert "already installed; nothing to do" in result.out
    assert contents(home) == before
    assert cli.json("init")["changes"] == []
    del settings


@pytest.mark.accept(130)
def test_a_dry_run_shows_the_diff_and_changes_nothing(cli: Cli, settings: Path, home: Path) -> None:
    before = contents(home)
    result = cli.ok("init", "--dry-run")

    assert f"--- {settings}" in result.out
    assert '-  "theme": "dark"\n+  "theme": "dark",\n+  "hooks": {' in result.out
    assert contents(home) == before


def test_without_a_terminal_the_choice_is_handed_on_and_nothing_changes(
    cli: Cli, settings: Path, home: Path
) -> None:
    before = contents(home)
    result = cli("init", "--agent", "claude")

    assert result.code == 3
    yes, no = result.json["choices"]
    assert yes["command"] == "leftoff init --agent claude --yes"
    assert str(settings) in [change["path"] for change in yes["changes"]]
    assert no["choice"] == "no"
    assert contents(home) == before


def test_on_a_terminal_the_diff_is_shown_on_request(cli: Cli, settings: Path) -> None:
    with cli.terminal("init") as terminal:
        first = terminal.expect("in Claude Code's status line, too? [Y/n] ")
        terminal.answer("n")
        listed = terminal.expect("Make these changes? [Y/n/diff] ")
        terminal.answer("d")
        shown = terminal.expect("Make these changes? [Y/n/diff] ")
        terminal.answer("n")
        rest = terminal.rest()

    assert " ".join(first.split()).startswith(
        "leftoff adds to Claude Code: hooks that save your sessions, a skill that explains leftoff "
        "and rules that let Claude Code save, resume and list without asking you. "
        "Your other settings stay, and are backed up; `leftoff uninstall` undoes all of this. "
    )
    assert "settings.json" in listed
    assert '"hooks": {' not in listed
    assert '"hooks": {' in shown
    assert "statusLine" not in shown
    assert "Nothing was changed." in rest
    assert "hooks" not in settings.read_text(encoding="utf-8")
    with cli.terminal("init") as terminal:
        terminal.expect("[Y/n] ")
        terminal.answer("")
        terminal.expect("[Y/n/diff] ")
        terminal.answer("")
        rest = terminal.rest()
    assert "Installed the hooks of Claude Code" in rest
    # The list of changes was on the screen already.
    assert "created" not in rest
    assert "leftoff statusline" in settings.read_text(encoding="utf-8")


def test_the_status_line_is_added_on_request_and_removed_with_the_hooks(
    cli: Cli, settings: Path
) -> None:
    before = settings.read_bytes()
    cli.ok("init", "--yes")
    assert "statusLine" not in settings.read_text(encoding="utf-8")
    cli.ok("init", "--yes", "--statusline")

    entry = json.loads(settings.read_text(encoding="utf-8"))["statusLine"]
    assert entry["type"] == "command"
    assert entry["command"].endswith("leftoff statusline")
    assert entry["refreshInterval"] == 10
    assert "nothing to do" in cli.ok("init", "--yes", "--statusline").out
    cli.ok("uninstall", "--yes")
    assert settings.read_bytes() == before


def test_a_line_beside_later_edits_is_removed_alone(cli: Cli, settings: Path) -> None:
    cli.ok("init", "--yes", "--statusline")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('"dark"', '"light"'), encoding="utf-8")

    cli.ok("uninstall", "--yes")

    assert json.loads(settings.read_text(encoding="utf-8")) == {"theme": "light"}


def test_a_status_line_of_your_own_stays_and_is_not_asked_about(cli: Cli, settings: Path) -> None:
    own = {"statusLine": {"type": "command", "command": "my-line"}}
    settings.write_text(json.dumps(own), encoding="utf-8")

    with cli.terminal("init") as terminal:
        shown = terminal.expect("[Y/n/diff] ")
        terminal.answer("")
        terminal.rest()
    assert shown.endswith("Make these changes? ")
    cli.ok("init", "--yes", "--statusline")
    assert json.loads(settings.read_text(encoding="utf-8"))["statusLine"] == own["statusLine"]
    cli.ok("uninstall", "--yes")
    assert json.loads(settings.read_text(encoding="utf-8")) == own


def test_json_shows_the_changes_and_the_backups(cli: Cli, settings: Path) -> None:
    result = cli.json("init", "--yes")

    assert result["done"] is True
    assert result["agents"] == ["claude"]
    assert result["settings"] == str(settings)
    assert [
        change["action"] for change in result["changes"] if change["path"] == str(settings)
    ] == ["change"]
    assert Path(result["backups"][0]).read_text(encoding="utf-8") == '{\n  "theme": "dark"\n}\n'


def test_what_was_wired_runs(cli: Cli, settings: Path, repo: Repo, home: Path) -> None:
    cli.ok("init", "--yes")
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    # Keeps settle from running on.
    (home / ".local/state/leftoff/python").write_text("/bin/true\n/bin/true\n", encoding="utf-8")

    done = subprocess.run(
        ["sh", "-c", command], input=b"{}", cwd=repo.folder, capture_output=True, check=True
    )

    assert (done.stdout, done.stderr) == (b"", b"")
    [letter] = (home / ".local/state/leftoff/spool").iterdir()
    assert letter.name.startswith("claude.Stop.")


def test_a_state_folder_with_odd_letters_is_quoted(
    cli: Cli, settings: Path, tmp_path: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_HOME", str(tmp_path / "it's $HOME; here"))
    cli.ok("init", "--yes")
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    named = tmp_path / "it's $HOME; here" / "python"
    named.write_text("/bin/true\n/bin/true\n", encoding="utf-8")

    subprocess.run(
        ["sh", "-c", hooks["Stop"][0]["hooks"][0]["command"]],
        input=b"{}",
        cwd=repo.folder,
        check=True,
    )

    assert len(list((tmp_path / "it's $HOME; here" / "spool").iterdir())) == 1
    cli.ok("uninstall", "--yes")
    assert settings.read_text(encoding="utf-8") == '{\n  "theme": "dark"\n}\n'


def test_the_config_folder_of_claude_code_is_respected(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    cli.ok("init", "--yes", "--agent", "claude")

    assert (tmp_path / "elsewhere" / "settings.json").is_file()
    assert not (tmp_path / "home" / ".claude").exists()


def test_scope_project_writes_the_projects_settings_from_any_folder_in_it(
    cli: Cli, repo: Repo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.folder / "sub").mkdir()
    monkeypatch.chdir(repo.folder / "sub")
    result = cli.ok("init", "--yes", "--scope", "project")

    assert (repo.folder / ".claude" / "settings.json").is_file()
    assert "do not commit it" in result.out
    assert not (home / ".claude" / "settings.json").exists()


def test_without_any_agent_init_says_how_to_go_on(cli: Cli, tmp_path: Path) -> None:
    result = cli.process("init", "--yes", env={"PATH": "/nowhere"})

    assert result.returncode == 1
    assert "No supported agent found" in result.stderr
    assert "leftoff init --agent claude" in result.stderr
    assert not (tmp_path / "home" / ".local").exists()


@pytest.mark.skipif(shutil.which("sh") is None, reason="no sh on this machine")
def test_an_agent_is_found_on_the_path(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "bin" / "claude").chmod(0o755)
    result = cli.process("init", "--yes", env={"PATH": f"{tmp_path / 'bin'}"})

    assert result.returncode == 0
    assert (tmp_path / "home" / ".claude" / "settings.json").is_file()


def test_every_agent_whose_sessions_are_read_can_be_wired() -> None:
    assert [*WIRINGS] == [*AGENTS] == [*TITLES]


def test_the_preview_shows_the_entry_of_the_mcp_server_and_changes_nothing(
    cli: Cli, home: Path
) -> None:
    # opencode reads this file, too, and then no other.
    opencode = home / ".config" / "opencode" / "opencode.jsonc"
    opencode.parent.mkdir(parents=True)
    opencode.write_text("{}\n", encoding="utf-8")
    shown = cli.ok("init", "--mcp", "--agent", "cursor", "--agent", "opencode", "--dry-run").out

    assert '+  "mcpServers": {' in shown
    assert '+  "mcp": {' in shown
    assert "leftoff's MCP server" in shown
    assert not (home / ".cursor").exists()
    assert opencode.read_text(encoding="utf-8") == "{}\n"


def test_every_agent_that_is_found_is_wired(cli: Cli, home: Path, settings: Path) -> None:
    (home / ".codex").mkdir()
    planned = cli.json("init", "--dry-run")
    result = cli.ok("init", "--yes")

    assert planned["agents"] == ["claude", "codex"]
    assert {change["agent"] for change in planned["changes"]} == {"", "claude", "codex"}
    assert "Installed the hooks of Claude Code and Codex:" in result.out
    assert "Codex does not run new hooks until you trust them." in result.out
    assert "hooks" in settings.read_text(encoding="utf-8")
    assert (home / ".codex" / "hooks.json").is_file()
    assert cli.json("init")["changes"] == []


def test_an_agent_is_found_where_its_variable_says(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    cli.ok("init", "--yes")

    assert (tmp_path / "elsewhere" / "hooks.json").is_file()
    assert not (home / ".codex").exists()


def test_one_agent_can_be_named(cli: Cli, settings: Path, home: Path) -> None:
    cli.ok("init", "--agent", "codex", "--yes")

    assert (home / ".codex" / "hooks.json").is_file()
    assert "hooks" not in settings.read_text(encoding="utf-8")
    assert (home / ".agents/skills/leftoff/SKILL.md").is_file()
    assert not (home / ".claude/skills").exists()


def test_all_agents_can_be_wired_before_they_are_there(cli: Cli, home: Path) -> None:
    result = cli.json("init", "--all", "--yes")

    assert result["agents"] == [*WIRINGS]
    assert all(
        WIRINGS[agent].is_wired(find_places(read_environment())) for agent in result["agents"]
    )
    assert cli("init", "--all", "--agent", "codex").code == 2
    cli.ok("uninstall", "--yes")
    assert not (home / ".codex").exists()


def test_hooks_of_codex_are_not_written_into_a_project(cli: Cli, home: Path) -> None:
    result = cli("init", "--agent", "codex", "--scope", "project", "--yes")

    assert result.code == 2
    assert "does not write the hooks of Codex into a project" in result.err
    assert not (home / ".codex").exists()


def test_broken_settings_are_one_sentence_and_nothing_changes(cli: Cli, settings: Path) -> None:
    settings.write_text('{"theme": "dark",}', encoding="utf-8")
    result = cli("init", "--yes")

    assert result.code == 1
    assert f"{settings} cannot be used" in result.err
    assert len(result.err.splitlines()) == 2
    assert settings.read_text(encoding="utf-8") == '{"theme": "dark",}'


def test_a_python_that_hooks_cannot_use_is_refused(
    cli: Cli, settings: Path, tmp_path: Path
) -> None:
    # Hooks run Python isolated, so packages that only PYTHONPATH shows are not there.
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    done = subprocess.run(
        [bare / "bin" / "python", "-m", "leftoff", "init", "--yes"],
        env=with_our_path(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "Hooks cannot run leftoff with" in done.stderr
    assert "hooks" not in settings.read_text(encoding="utf-8")
    del cli


def test_a_python_file_of_the_project_is_not_a_module_of_what_agents_start(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    """Without a program named leftoff, agents start Python with the module, in the project."""
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    packages = next(bare.glob("lib/python3*/site-packages"))
    (packages / "ours.pth").write_text("\n".join(each for each in sys.path if each), "utf-8")
    python, env = bare / "bin" / "python", {**os.environ, "PATH": "/usr/bin:/bin"}
    words = ["init", "--yes", "--agent", "claude", "--mcp", "--statusline"]
    subprocess.run([python, "-P", "-m", "leftoff", *words], env=env, check=True)
    home = Path(os.environ["HOME"])
    server = json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"]["leftoff"]
    line = json.loads((home / ".claude" / "settings.json").read_text("utf-8"))["statusLine"]
    mark = tmp_path / "ran"
    for name in ("leftoff", "json", "msgspec"):
        repo.write(f"{name}.py", f"open({str(mark)!r}, 'w')\n")

    for command in ([server["command"], *server["args"]], shlex.split(line["command"])):
        assert command[0] == str(python)
        subprocess.run(command, cwd=repo.folder, env=env, input=b"", check=True)

    assert not mark.exists()
    subprocess.run([python, "-P", "-m", "leftoff", "uninstall", "--yes"], env=env, check=True)
    assert not (home / ".claude.json").exists()
    del cli


def test_a_key_in_the_settings_is_not_shown(cli: Cli, settings: Path) -> None:
    key = "sk-ant-api03-" + "aB3dE6gH9j" * 6
    settings.write_text(f'{{\n  "env": {{"ANTHROPIC_API_KEY": "{key}"}}\n}}\n', encoding="utf-8")

    shown = cli.ok("init", "--dry-run").out
    asked = cli("init")

    assert "ANTHROPIC_API_KEY" in shown
    assert key not in shown + asked.out + asked.err


def test_settings_that_let_no_hook_run_are_reported(cli: Cli, settings: Path) -> None:
    settings.write_text('{"disableAllHooks": true}', encoding="utf-8")

    assert "disableAllHooks is set" in cli.ok("init", "--yes").out


@pytest.mark.parametrize("moved", [False, True], ids=["at home", "moved"])
def test_the_skill_is_installed_where_agents_look_and_removed_without_a_trace(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, *, moved: bool
) -> None:
    claude = home / ("elsewhere" if moved else ".claude")
    claude.mkdir(exist_ok=True)
    if moved:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude))
    before = {*home.rglob("*")}

    cli.ok("init", "--yes")

    for folder in (claude, home / ".agents"):
        skill = folder / "skills" / "leftoff" / "SKILL.md"
        assert skill.read_text(encoding="utf-8").startswith("---\nname: leftoff\n")
    installed = contents(home)
    cli.ok("init", "--yes")
    assert contents(home) == installed
    cli.ok("uninstall", "--yes")
    left = {path for path in home.rglob("*") if not path.is_relative_to(home / ".local")}
    assert left == before


COMMANDS = ("checkpoint", "continue", "dashboard")


def test_a_profile_brings_its_slash_commands_and_uninstall_removes_them(
    cli: Cli, home: Path
) -> None:
    folder = home / ".claude" / "commands"
    cli.ok("init", "--yes")
    assert not folder.exists()

    cli.ok("init", "--profile", "sail", "--yes")
    installed = contents(home)
    assert sorted(path.stem for path in folder.iterdir()) == [*COMMANDS]
    assert "already installed; nothing to do" in cli.ok("init", "--profile", "sail", "--yes").out
    assert {path: installed[path] for path in installed if "commands" in path} == {
        path: digest for path, digest in contents(home).items() if "commands" in path
    }

    cli.ok("uninstall", "--yes")
    assert not folder.exists()


def test_a_command_of_the_same_name_stays_and_the_user_learns_why(cli: Cli, home: Path) -> None:
    own = home / ".claude" / "commands" / "checkpoint.md"
    own.parent.mkdir()
    own.write_text("my own", encoding="utf-8")

    said = cli.ok("init", "--profile", "sail", "--yes").out
    cli.ok("uninstall", "--yes")

    assert f"/checkpoint was not replaced, because {own} is not leftoff's" in said
    assert own.read_text(encoding="utf-8") == "my own"
    assert [path.name for path in own.parent.iterdir()] == ["checkpoint.md"]


def test_the_commands_of_a_project_are_in_its_own_folder(cli: Cli, home: Path, repo: Repo) -> None:
    cli.ok("init", "--profile", "guardz", "--scope", "project", "--yes")
    folder = repo.folder / ".claude" / "commands"
    assert sorted(path.stem for path in folder.iterdir()) == [*COMMANDS]

    cli.ok("uninstall", "--yes")
    assert not folder.exists()
    assert not (home / ".claude" / "commands").exists()


def test_a_skill_that_the_user_has_edited_is_left_alone(cli: Cli, home: Path) -> None:
    skill = home / ".agents" / "skills" / "leftoff" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine", encoding="utf-8")

    assert f"You edited {skill}" in cli.ok("init", "--yes").out
    assert f"You edited {skill}" in cli.ok("uninstall", "--yes").out
    assert skill.read_text(encoding="utf-8") == "mine"


COMMENTED = '{\n  // mine\n  "model": "opus"\n}\n'


def test_if_no_agent_can_be_wired_each_reason_is_named_and_no_file_of_others_stops_the_removal(
    cli: Cli, settings: Path, home: Path
) -> None:
    settings.write_text('{"hooks": []}', encoding="utf-8")
    cursor = home / ".cursor" / "hooks.json"
    cursor.parent.mkdir()
    cursor.write_text('{ /* our cursor setup */ "version": 1}', encoding="utf-8")
    err = cli("init", "--yes", "--agent=claude", "--agent=cursor").err

    first = err.index(f"{settings} cannot be used (its hooks are not a JSON object)")
    assert f"{cursor} cannot be used" in err
    # What kind of JSON Claude Code accepts is not the problem.
    assert "JSON without comments" not in err[first:]
    cli.ok("init", "--yes", "--agent=codex")
    cli.ok("uninstall", "--yes")
    assert "our cursor setup" in cursor.read_text(encoding="utf-8")


def test_each_agent_is_wired_on_its_own(cli: Cli, settings: Path, home: Path) -> None:
    settings.write_text(COMMENTED, encoding="utf-8")
    result = cli("init", "--yes", "--agent=claude", "--agent=codex")

    assert result.code == 1
    assert "warning: " in result.err
    assert "settings.json cannot be used" in result.err
    assert "Installed the hooks of Codex:" in result.out
    assert (home / ".codex" / "hooks.json").is_file()
    assert settings.read_text(encoding="utf-8") == COMMENTED


def test_an_agent_whose_servers_cannot_be_changed_is_left_out(cli: Cli, home: Path) -> None:
    broken = home / ".cursor" / "mcp.json"
    broken.parent.mkdir()
    broken.write_text("{", encoding="utf-8")
    loop = home / ".codex" / "config.toml"
    loop.parent.mkdir()
    loop.symlink_to(loop)

    result = cli("init", "--yes", "--mcp", "--agent=claude", "--agent=codex", "--agent=cursor")

    assert result.code == 1
    assert "The settings of cursor cannot be changed" in result.err
    assert f"{loop}: Too many levels of symbolic links" in result.err
    assert "Installed the hooks of Claude Code:" in result.out
    assert not (home / ".cursor" / "hooks.json").exists()


def test_a_file_that_changes_twice_is_shown_and_backed_up_once(cli: Cli, settings: Path) -> None:
    before = settings.read_bytes()
    result = cli.json("init", "--yes", "--statusline")

    assert [each["path"] for each in result["changes"]].count(str(settings)) == 1
    assert [Path(each).read_bytes() for each in result["backups"]] == [before]
    cli.ok("uninstall", "--yes")
    assert settings.read_bytes() == before


def test_what_is_added_is_said_before_the_question(cli: Cli, settings: Path) -> None:
    del settings
    with cli.terminal("init", "--no-statusline") as terminal:
        terminal.expect("Make these changes? [Y/n/diff] ")
        terminal.answer("n")
        assert "Nothing was changed." in terminal.rest()
    with cli.terminal("init") as terminal:
        shown = " ".join(terminal.expect("[Y/n] ").split())
        terminal.leave("c")

    for part in ("hooks that save your sessions", "without asking you", "a skill"):
        assert part in shown
