"""Doctor finds what is broken, says what to do, and tests what works."""

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli, Result
from gitrepo import Repo
from leftoff.hooks import lease, trouble
from leftoff.wiring.agent_wirings import WIRINGS
from stores import contents

pytestmark = pytest.mark.slow("fires real hooks")


@pytest.fixture
def state(cli: Cli, tmp_path: Path) -> Path:
    """Install leftoff; return where its state is."""
    (tmp_path / "home" / ".claude").mkdir()
    cli.ok("init", "--yes")
    return tmp_path / "home" / ".local" / "state" / "leftoff"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".claude" / "settings.json"


def found(result: Result, level: str) -> dict[str, dict[str, Any]]:
    """Return the findings of a level by what they are about."""
    return {each["check"]: each for each in result.json["findings"] if each["level"] == level}


def test_all_is_well_after_init(cli: Cli, state: Path) -> None:
    result = cli("doctor", "--json")

    assert result.code == 0
    assert result.json["broken"] is False
    assert found(result, "broken") == {}
    well = found(result, "ok")
    assert "8 hooks in" in well["settings"]["what"]
    assert (
        "8 events saved as a checkpoint, which the next session got" in well["round trip"]["what"]
    )
    assert state.is_dir()


def test_it_leaves_no_trace(cli: Cli, state: Path, repo: Repo, tmp_path: Path) -> None:
    cli.ok("doctor")
    before = {**contents(tmp_path / "home"), **contents(repo.folder)}
    cli.ok("doctor")

    assert {**contents(tmp_path / "home"), **contents(repo.folder)} == before
    assert list((tmp_path / "tmp").iterdir()) == []
    assert state.is_dir()


def test_a_person_gets_a_checklist(cli: Cli, state: Path) -> None:
    lines = cli.ok("doctor").out.splitlines()

    assert any(line.startswith("ok      round trip: ") for line in lines)
    assert state.is_dir()


def test_before_init_it_says_what_to_do(cli: Cli, tmp_path: Path) -> None:
    result = cli.ok("doctor")

    assert "warning settings: The hooks are not installed" in result.out
    assert "Run `leftoff init` to save sessions automatically." in result.out
    assert result.out.endswith("Nothing is broken; 1 warning.\n")
    assert not (tmp_path / "home" / ".local").exists()


def _break_python(state: Path) -> None:
    (state / "python").write_text("/nowhere/bin/python\n", encoding="utf-8")


def _lose_python(state: Path) -> None:
    (state / "python").unlink()


def _lose_hook(state: Path) -> None:
    (state / "hook").unlink()


def _lock_hook(state: Path) -> None:
    (state / "hook").chmod(0o600)


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (_break_python, "python"),
        (_lose_python, "python"),
        (_lose_hook, "hook"),
        (_lock_hook, "hook"),
    ],
)
def test_what_keeps_hooks_from_working_is_found_and_init_repairs_it(
    cli: Cli, state: Path, damage: Any, check: str
) -> None:
    damage(state)
    result = cli("doctor", "--json")

    assert result.code == 1
    broken = found(result, "broken")
    assert check in broken
    assert {"hooks", "round trip"} & set(broken)
    assert all(each["why"] and each["do"] for each in broken.values())
    cli.ok("init", "--yes")
    cli.ok("doctor")


def test_a_hook_of_another_version_is_a_warning(cli: Cli, state: Path) -> None:
    with (state / "hook").open("a", encoding="utf-8") as file:
        file.write("# edited\n")

    result = cli("doctor", "--json")
    assert result.code == 0
    assert "does not match leftoff" in found(result, "warning")["hook"]["what"]


def test_a_missing_event_is_broken_and_named(cli: Cli, state: Path, settings: Path) -> None:
    values = json.loads(settings.read_text(encoding="utf-8"))
    del values["hooks"]["PreCompact"]
    settings.write_text(json.dumps(values), encoding="utf-8")

    result = cli("doctor", "--json")
    assert result.code == 1
    assert found(result, "broken")["settings"]["what"] == "No hook for PreCompact"
    assert state.is_dir()


def test_doubled_and_foreign_entries_are_warnings(cli: Cli, state: Path, settings: Path) -> None:
    values = json.loads(settings.read_text(encoding="utf-8"))
    other = {"hooks": [{"type": "command", "command": "/old/leftoff/hook claude Stop"}]}
    values["hooks"]["Stop"].append(other)
    settings.write_text(json.dumps(values), encoding="utf-8")

    findings = [
        each["what"] for each in cli.json("doctor")["findings"] if each["level"] == "warning"
    ]
    assert any("another program: /old/leftoff/hook" in what for what in findings)
    assert any("more than one hook for Stop" in what for what in findings)
    assert state.is_dir()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"hooks": {,}}', "cannot be used"),
        ('{"disableAllHooks": true}', "disableAllHooks is set"),
    ],
)
def test_settings_that_stop_all_hooks_are_found(
    cli: Cli, state: Path, settings: Path, text: str, what: str
) -> None:
    settings.write_text(text, encoding="utf-8")

    result = cli("doctor")
    assert result.code == 1
    assert what in result.out
    assert state.is_dir()


def test_torn_settings_are_found_although_another_agent_has_the_hooks(
    cli: Cli, settings: Path
) -> None:
    cli.ok("init", "--agent", "codex", "--agent", "claude", "--yes")
    settings.write_text(settings.read_text(encoding="utf-8")[:-40], encoding="utf-8")

    result = cli("doctor", "--json")
    assert result.code == 1
    finding = found(result, "broken")["claude"]
    assert f"{settings} cannot be used" in finding["what"]
    assert "line " in finding["what"]


def test_the_plugin_alone_is_enough(cli: Cli, settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"leftoff@leftoff": true}}', encoding="utf-8")

    result = cli("doctor", "--json")
    assert result.code == 0
    assert "The plugin provides the hooks" in found(result, "ok")["settings"]["what"]
    assert "round trip" in found(result, "ok")


def test_events_that_wait_are_settled_and_reported(cli: Cli, state: Path) -> None:
    (state / "spool").mkdir(mode=0o700)
    letter = state / "spool" / "claude.Stop.1.0"
    letter.write_text("{}", encoding="utf-8")
    letter.chmod(0o600)
    os.utime(letter, (time.time() - 7200, time.time() - 7200))
    (state / "settling.4194305.-.0").touch(mode=0o600)

    result = cli("doctor", "--json")
    assert "1 event waited too long (oldest: 2h ago)" in found(result, "warning")["spool"]["what"]
    assert not letter.exists()
    assert lease.list_marks(str(state)) == []
    assert "spool" in found(cli("doctor", "--json"), "ok")


def test_a_mark_of_a_dead_settle_is_removed_and_reported(cli: Cli, state: Path) -> None:
    (state / "settling.4194305.-.0").touch(mode=0o600)

    assert "left its mark" in found(cli("doctor", "--json"), "warning")["spool"]["what"]
    assert "spool" not in found(cli("doctor", "--json"), "warning")


def test_troubles_and_events_set_aside_are_reported_until_they_are_cleared(
    cli: Cli, state: Path
) -> None:
    trouble.note(state, "settle", ValueError("made up"))
    (state / "poison").mkdir(mode=0o700)
    (state / "poison" / "claude.Stop.1.0").write_text("{", encoding="utf-8")

    warned = found(cli("doctor", "--json"), "warning")
    assert "ValueError: made up" in warned["troubles"]["what"]
    assert "1 event in " in warned["events set aside"]["what"]
    cleared = found(cli("doctor", "--clear", "--json"), "warning")
    assert not {"troubles", "events set aside"} & set(cleared)


def test_a_check_that_the_system_refuses_is_a_finding_and_the_others_go_on(
    cli: Cli, state: Path
) -> None:
    (state / "trying").mkdir()

    result = cli("doctor", "--json")

    assert result.code == 1
    assert "trying is not a regular file" in found(result, "broken")["state"]["what"]
    assert {"space", "round trip"} <= set(found(result, "ok"))


def test_what_others_can_read_is_reported(cli: Cli, state: Path) -> None:
    (state / "spool").mkdir(mode=0o755)
    (state / "spool").chmod(0o755)

    findings = found(cli("doctor", "--json"), "warning")["permissions"]
    assert str(state / "spool") in findings["what"]
    assert "chmod" in findings["do"]


def test_a_checkpoint_that_cannot_be_read_is_reported(cli: Cli, state: Path) -> None:
    saved = cli.json("save", "login-form", "--summary=Validate the form")
    Path(saved["path"]).write_text("{", encoding="utf-8")

    findings = found(cli("doctor", "--json"), "warning")["store"]
    assert saved["id"] in findings["what"]
    assert "--raw" in findings["do"]
    assert state.is_dir()


def test_checkpoints_in_the_fallback_are_reported(cli: Cli, state: Path, stored: Path) -> None:
    stored.parent.joinpath("leftoff").write_text("in the way", encoding="utf-8")
    cli.ok("save", "login-form", "--summary=Validate the form")

    assert any(
        "Some checkpoints are in " in each["what"]
        for each in cli("doctor", "--json").json["findings"]
    )
    assert state.is_dir()


def test_disabled_hooks_are_reported(
    cli: Cli, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_DISABLED_HOOKS", "stop,typo")

    findings = [
        each["what"] for each in cli.json("doctor")["findings"] if each["level"] == "warning"
    ]
    assert "LEFTOFF_DISABLED_HOOKS disables stop" in findings
    assert "LEFTOFF_DISABLED_HOOKS contains unknown names: typo" in findings
    assert state.is_dir()


def test_a_claude_on_the_path_is_named_with_its_version(
    cli: Cli, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    claude = tmp_path / "bin" / "claude"
    claude.write_text("#!/bin/sh\necho 2.1.325 '(Claude Code)'\n", encoding="utf-8")
    claude.chmod(0o755)
    done = cli.process("doctor", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})

    assert "claude 2.1.325 (Claude Code)" in done.stdout
    assert state.is_dir()


def test_every_version_that_was_not_tested_is_named(cli: Cli, state: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for wiring in WIRINGS.values():
        program = tmp_path / "bin" / wiring.table.programs[0]
        program.write_text(f"#!/bin/sh\necho 9{wiring.table.tested}\n", encoding="utf-8")
        program.chmod(0o755)
    # Gemini CLI leaves files even when it only prints its version.
    leaves = 'mkdir -p "${GEMINI_CLI_HOME:-$HOME}/.gemini/left"'
    (tmp_path / "bin" / "gemini").write_text(f"#!/bin/sh\n{leaves}\necho 99\n", "utf-8")
    done = cli.process("doctor", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})

    for agent, wiring in WIRINGS.items():
        table = wiring.table
        assert f"{agent} 9{table.tested if agent != 'gemini' else 9}" in done.stdout
        tested = f"was tested with {table.title} {table.tested}"
        shown = tested if table.tested else f"was not tested with any version of {table.title}"
        assert f"leftoff {shown}" in done.stdout
    assert not (tmp_path / "home" / ".gemini").exists()
    assert state.is_dir()


def test_hooks_that_complain_are_found(cli: Cli, state: Path) -> None:
    (state / "hook").write_text("#!/bin/sh\necho oops >&2\necho not json\n", encoding="utf-8")

    broken = found(cli("doctor", "--json"), "broken")
    assert "printed an invalid reply" in broken["hooks"]["what"]


def test_it_works_outside_a_project(cli: Cli, state: Path, tmp_path: Path) -> None:
    done = cli.process("doctor", "--json", cwd=tmp_path / "home")

    assert done.returncode == 0, done.stdout
    assert state.is_dir()


def test_another_program_with_the_name_of_the_command_is_reported(
    cli: Cli, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    assert "command" not in found(cli("doctor", "--json"), "warning")
    assert state.is_dir()
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "leftoff"
    other.write_text("#!/bin/sh\nread -r title || exit 1\n", encoding="utf-8")
    other.chmod(0o755)

    done = cli.process("doctor", env={"PATH": f"{other.parent}:{os.environ['PATH']}"})

    assert f"warning command: {other} is not leftoff" in done.stdout
    assert "Agents run the first `leftoff` on the PATH." in done.stdout


def test_a_command_that_agents_cannot_find_is_reported(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "git")
    own, path = Path(sys.executable).parent, f"{tmp_path / 'bin'}:/nowhere"
    advice = f"Add {own} to the PATH of the shell in which you start your agent."

    monkeypatch.setenv("PATH", path)
    assert "command" not in found(cli("doctor", "--json"), "warning")
    installed = cli.ok("init", "--agent", "claude", "--yes").out
    missing = found(cli("doctor", "--json"), "warning")["command"]
    monkeypatch.setenv("PATH", f"{path}:{own}")

    assert "leftoff is not on the PATH. " in installed
    assert advice in installed
    assert (missing["what"], missing["do"]) == ("leftoff is not on the PATH", advice)
    assert "command" not in found(cli("doctor", "--json"), "warning")
    assert "PATH" not in cli.ok("init", "--agent", "claude", "--yes").out


def test_an_agent_that_is_there_but_fails_is_not_called_missing(
    cli: Cli, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin" / "opencode"
    broken.write_text("#!/bin/sh\necho first >&2\necho no such module >&2\nexit 3\n", "utf-8")
    broken.chmod(0o755)
    done = cli.process("doctor", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})

    assert state.is_dir()
    said = "warning versions: opencode does not run: it exits with 3: no such module"
    assert said in " ".join(done.stdout.split())
    assert "Run `opencode --version` to see what is wrong with opencode." in done.stdout
    assert "opencode is not on the PATH" not in done.stdout


def test_a_git_that_fails_is_not_called_missing(cli: Cli, state: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin" / "git"
    broken.write_text("#!/bin/sh\necho no license >&2\nexit 69\n", "utf-8")
    broken.chmod(0o755)
    done = cli.process("doctor", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})

    assert state.is_dir()
    assert "warning versions: git does not run: it exits with 69: no license" in done.stdout
    assert "Install git." not in done.stdout


def test_agents_that_the_user_left_out_are_named_in_one_line_without_a_warning(
    cli: Cli, state: Path, tmp_path: Path
) -> None:
    for folder in (".codex", ".gemini", ".copilot"):
        (tmp_path / "home" / folder).mkdir()

    findings = cli("doctor", "--json").json["findings"]

    assert state.is_dir()
    (named,) = [each for each in findings if each["check"] == "agents"]
    titles = "Codex, Gemini CLI and Copilot CLI"
    assert named["what"] == f"No hooks for {titles}; `leftoff init` installs them"
    assert named["level"] == "ok"
    assert not any("hooks are not installed" in each["what"] for each in findings)
