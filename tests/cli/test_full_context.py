"""Saving works when the context is full or nearly full."""

import pytest

from cli.runs import Cli
from gitrepo import Repo
from talk import Talk


def talk_at(repo: Repo, percent: float) -> Talk:
    talk = Talk(repo.folder)
    talk.ask("Add the password rule to app.py")
    talk.say("Next I will run make.", percent=percent)
    return talk


@pytest.mark.accept(120)
def test_a_full_context_is_saved_without_a_question(cli: Cli, repo: Repo) -> None:
    talk = talk_at(repo, 100)

    with cli.terminal("save", "--from", str(talk.transcript)) as terminal:
        shown = terminal.rest()

    assert terminal.code == 0
    assert "Saved checkpoint" in shown
    (saved,) = cli.json("list")
    kept = cli.json("show", saved["name"])
    assert kept["intent"] == "Add the password rule to app.py"
    assert kept["branch"] == "main"
    assert kept["session_id"] == talk.session_id


@pytest.mark.accept(120)
@pytest.mark.parametrize(("percent", "is_told"), [(89.99, False), (90, True)])
def test_from_ninety_per_cent_on_a_save_says_what_to_do(
    cli: Cli, repo: Repo, percent: float, *, is_told: bool
) -> None:
    talk = talk_at(repo, percent)

    output = cli.ok("save", "password-rule", "--from", str(talk.transcript)).err

    assert ("compact or start a fresh session" in output) is is_told
