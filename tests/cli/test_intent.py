"""leftoff intent."""

import pytest

from cli.runs import Cli


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


def test_what_means_no_command_is_told_as_such(cli: Cli) -> None:
    nothing = {"intent": None, "name": None, "command": None}

    assert cli.json("intent", "fix the login form") == nothing


def test_the_command_it_names_can_be_run(cli: Cli) -> None:
    cli.ok("save", "my-feature", "--next", "Run pytest")
    words = cli.ok("intent", "where did we stop?").out.split()

    assert words[0] == "leftoff"
    assert "Run pytest" in cli.ok(*words[1:]).out
