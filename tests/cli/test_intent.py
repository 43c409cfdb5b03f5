"""leftoff intent."""

from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from talk import Talk

# Every trigger that the texts of the five systems name, and what it means to their users.
TRIGGERS = {
    "guardz": {
        "save checkpoint": "leftoff save",
        "save checkpoint login flow": "leftoff save login-flow",
        "checkpoint": "leftoff save",
        "save my progress": "leftoff save",
        "continue": "leftoff resume --accept",
        "continue my-feature": "leftoff resume my-feature --accept",
        "resume": "leftoff resume --accept",
        "resume work": "leftoff resume --accept",
        "clear checkpoint my-feature": "leftoff clear my-feature",
        "clear all checkpoints": "leftoff clear --all",
    },
    "openclaw": {
        "/checkpoint save meeting-prep": "leftoff save meeting-prep",
        '/checkpoint save build-login-page --task "Build the page"': (
            "leftoff save build-login-page --task 'Build the page'"
        ),
        "/checkpoint list": "leftoff list",
        "what was I working on?": "leftoff list",
        "/checkpoint resume my-feature": "leftoff resume my-feature",
        "continue where we left off": "leftoff resume",
        "resume task my-feature": "leftoff resume my-feature",
        "where did we stop?": "leftoff resume",
        "/checkpoint delete my-feature": "leftoff delete my-feature",
    },
    "sail": {
        "/checkpoint": "leftoff save",
        '/checkpoint --summary "Lua works"': "leftoff save --summary 'Lua works'",
        "/dashboard": "leftoff status --plan",
        "/start": "leftoff status --next",
    },
    "quoin": {
        "/checkpoint": "leftoff save",
        "/checkpoint halfway through the plan": "leftoff save --note 'halfway through the plan'",
        "save my place": "leftoff save",
        "checkpoint": "leftoff save",
        "save session": "leftoff save",
        "/checkpoint --restore": "leftoff resume --pending",
        "restore checkpoint": "leftoff resume --pending",
        "resume from checkpoint": "leftoff resume --pending",
        "[no-redispatch] /checkpoint": "leftoff save",
        "[no-redispatch] /checkpoint --restore": "leftoff resume --pending",
    },
    "harness": {
        "/checkpoint": "leftoff save",
        "/claude-harness:checkpoint": "leftoff save",
        "save work": "leftoff save",
        "save session progress": "leftoff save",
        "create a PR": "leftoff ship",
        "preserve session state": "leftoff save",
        "checkpoint my progress": "leftoff save",
        "/start": "leftoff status --next",
    },
}


@pytest.mark.accept(24)
def test_a_sentence_is_turned_into_its_command(cli: Cli) -> None:
    cli.ok("save", "my-feature", "--next", "Run pytest")

    assert cli.ok("intent", "save my progress").out == "leftoff save\n"
    assert cli.ok("intent", "clear", "all", "checkpoints").out == "leftoff clear --all\n"
    assert cli.ok("intent", "resume work").out == "leftoff resume\n"
    assert cli.json("intent", "continue my-feature") == {
        "intent": "resume",
        "name": "my-feature",
        "command": "leftoff resume my-feature",
    }


@pytest.mark.accept(24)
def test_a_bare_continue_resumes_only_at_the_start_and_with_a_checkpoint(cli: Cli) -> None:
    assert cli.ok("intent", "continue", "--at-start").out == "none\n"

    cli.ok("save", "my-feature", "--next", "Run pytest")
    assert cli.ok("intent", "continue", "--in-session").out == "none\n"
    assert cli.ok("intent", "continue", "--at-start").out == "leftoff resume\n"

    cli.ok("clear", "--all")
    assert cli.ok("intent", "continue", "--at-start").out == "none\n"


@pytest.mark.accept(24)
def test_outside_of_a_session_every_message_is_the_first(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.ok("intent", "continue").out == "none\n"

    cli.ok("save", "my-feature", "--next", "Run pytest")
    assert cli.ok("intent", "continue").out == "leftoff resume\n"

    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "0b2f8a54-2d2c-4f8e-9c55-6f6f3a1d9e01")
    assert cli.ok("intent", "continue").out == "none\n"


@pytest.mark.promise("guardz", 69)
def test_a_continue_that_answers_the_offer_resumes(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "login-flow", "--summary", "Build the login")
    talk = Talk(repo.folder, "session-2")
    talk.start()
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    assert cli.ok("intent", "continue").out == "leftoff resume\n"

    talk.ask("Rename the exporter in app.py")
    talk.fire("UserPromptSubmit", prompt="Rename the exporter in app.py")
    assert cli.ok("intent", "continue").out == "none\n"


def test_what_means_no_command_is_reported_as_none(cli: Cli) -> None:
    nothing = {"intent": None, "name": None, "command": None}

    assert cli.json("intent", "fix the login form") == nothing


def test_the_command_it_names_can_be_run(cli: Cli) -> None:
    cli.ok("save", "my-feature", "--next", "Run pytest")
    words = cli.ok("intent", "where did we stop?").out.split()

    assert words[0] == "leftoff"
    assert "Run pytest" in cli.ok(*words[1:]).out


@pytest.mark.parametrize("profile", TRIGGERS)
def test_every_trigger_of_every_system_means_its_command(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    cli.ok("save", "my-feature", "--next", "Run pytest")
    monkeypatch.setenv("LEFTOFF_PROFILE", profile)
    monkeypatch.setenv("LEFTOFF_MIRROR", "none")

    for text, command in TRIGGERS[profile].items():
        assert cli.ok("intent", text, "--at-start").out == f"{command}\n", text


def test_a_slash_command_is_read_outside_of_a_project(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path / "home")

    assert cli.ok("intent", "/checkpoint list").out == "leftoff list\n"
