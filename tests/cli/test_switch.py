"""After `leftoff off`, real hooks leave no file and print nothing."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import syncs
from cli.runs import Cli
from gitrepo import Repo
from leftoff import context
from leftoff.context import read_environment
from leftoff.hooks import replies, settle
from leftoff.session import records
from leftoff.wiring import claude_hooks, install
from leftoff.wiring.install_places import find_places
from stores import contents
from talk import Talk

EVENTS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "good night"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "make", "timeout": 99_000}},
    "Stop": {},
    "PreCompact": {"trigger": "auto"},
    "SessionEnd": {"reason": "other"},
}


class Hooks:
    """The hooks of an installed leftoff, fired as the agent does."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.state = context.state_folder()

    def fire_all(self, cwd: Path) -> bytes:
        """Fire a whole session's events; return all that was printed."""
        said = b""
        for event, fields in EVENTS.items():
            command = claude_hooks.command_line(self.state / "hook", event)
            done = subprocess.run(
                ["sh", "-c", command],
                input=json.dumps({**self.talk.payload(event, **fields), "cwd": str(cwd)}).encode(),
                cwd=cwd,
                capture_output=True,
                check=True,
            )
            said += done.stdout + done.stderr
        assert settle.run(self.state, wait_seconds=120)
        return said

    def spooled(self) -> list[Path]:
        spool = self.state / "spool"
        return list(spool.iterdir()) if spool.is_dir() else []


@pytest.fixture
def hooks(repo: Repo, tmp_path: Path) -> Hooks:
    (tmp_path / "home" / ".claude").mkdir()
    places = find_places(read_environment())
    install.install(places, install.plan_install(places))
    talk = Talk(repo.folder)
    talk.ask("Add a login form")
    talk.edit("form.py")
    talk.say("Next I will run pytest.")
    return Hooks(talk)


def test_an_off_project_gets_no_file_and_no_reply(
    cli: Cli, hooks: Hooks, repo: Repo, stored: Path
) -> None:
    cli.ok("save", "login-form", "--summary=Validate the form")
    cli.ok("off")
    before = contents(stored)

    assert hooks.fire_all(repo.folder) == b""
    assert hooks.spooled() == []
    assert contents(stored) == before
    assert not (hooks.state / "live").exists() or not list((hooks.state / "live").iterdir())


@pytest.mark.parametrize("place", ["sub", "worktree", "worktree made later"])
def test_off_holds_in_every_folder_of_the_project(
    cli: Cli, hooks: Hooks, repo: Repo, tmp_path: Path, place: str
) -> None:
    stored = repo.folder / ".git" / "leftoff"
    folder = repo.folder / "sub" if place == "sub" else tmp_path / "tree"
    if place == "worktree":
        repo.worktree(folder, "feature")
    cli.ok("save", "login-form", "--summary=Validate the form")
    cli.ok("off")
    before = contents(stored)
    if place == "worktree made later":
        repo.worktree(folder, "feature")
    folder.mkdir(exist_ok=True)

    assert hooks.fire_all(folder) == b""
    assert hooks.spooled() == []
    assert contents(stored) == before


def test_a_prepared_reply_is_not_given_after_off(cli: Cli, hooks: Hooks, repo: Repo) -> None:
    sub = repo.folder / "sub"
    sub.mkdir()
    ready = replies.place_of(hooks.state, sub) / "claude.UserPromptSubmit.any"
    ready.parent.mkdir(parents=True)
    ready.write_text('{"a": 1}\n', encoding="utf-8")
    cli.ok("off")

    assert hooks.fire_all(sub) == b""


def test_on_brings_hooks_back(cli: Cli, hooks: Hooks, repo: Repo, stored: Path) -> None:
    cli.ok("off")
    result = cli.json("on")

    assert result == {"project": str(repo.folder), "on": True, "folders": [str(repo.folder)]}
    hooks.fire_all(repo.folder)
    assert list(stored.glob("checkpoints/*/*.json"))


def test_what_a_session_does_while_off_is_not_recovered_later(
    cli: Cli, hooks: Hooks, repo: Repo
) -> None:
    hooks.talk.start()
    assert records.list_lives(hooks.state, context.find_project(repo.folder))
    cli.ok("off")

    assert not records.list_lives(hooks.state, context.find_project(repo.folder))


def test_off_says_what_it_means_and_saving_by_hand_still_works(cli: Cli, repo: Repo) -> None:
    result = cli.ok("off")

    assert result.out == (
        f"leftoff is off; your checkpoints stay, and `leftoff save` still works: {repo.folder}\n"
    )
    cli.ok("save", "login-form", "--summary=Validate the form")


def test_doctor_says_that_a_project_is_off(cli: Cli) -> None:
    cli.ok("off")
    done = cli.process("doctor")

    assert "leftoff is off for " in done.stdout


@pytest.mark.parametrize("shape", ["folder", "fifo", "link"])
def test_only_a_regular_file_in_the_store_switches_hooks_off(
    cli: Cli, repo: Repo, stored: Path, shape: str
) -> None:
    cli.ok("save", "login-form", "--summary", "Add a login form")
    if shape == "folder":
        (stored / "off").mkdir()
    elif shape == "fifo":
        os.mkfifo(stored / "off")
    else:
        (stored / "off").symlink_to("lock")

    assert "Add a login form" in Talk(repo.folder).start()
    assert "is not a regular file" in cli("off").err
    cli.ok("on")


def test_a_switch_survives_a_power_cut(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "login-form", "--summary=Some work")
    synced = syncs.watch(monkeypatch)
    store = repo.folder / ".git" / "leftoff"

    cli.ok("off")
    assert store in synced
    synced.clear()
    cli.ok("on")
    assert store in synced
