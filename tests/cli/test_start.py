"""`leftoff start` shows what to do first, and what else."""

import json

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.knowledge import features
from leftoff.store import Store
from stores import contents


@pytest.mark.accept(75)
def test_the_next_action_of_the_last_checkpoint_is_recommended(cli: Cli, repo: Repo) -> None:
    for number in range(4):
        repo.commit(f"Commit {number}")
    repo.write("app.py", "print('changed')\n")
    cli.ok("save", "billing", "--summary=Round totals", "--next=Fix money.py")
    cli.ok("save", "login", "--summary=Validate the form", "--next=Run pytest -k login")
    store = Store(find_project(repo.folder))
    features.add(store, features.ItemDraft(name="Export orders"))
    store.close()
    before = contents(repo.folder)

    result = cli.json("start")
    text = cli.ok("start").out

    assert result["recommended"]["what"] == "Run pytest -k login"
    assert result["recommended"]["command"] == "leftoff resume login"
    assert [each["what"] for each in result["alternatives"]] == [
        "Fix money.py",
        "feature-001: Export orders",
    ]
    assert [each["subject"] for each in result["commits"]] == ["Commit 3", "Commit 2", "Commit 1"]
    assert (result["branch"], result["changed"]) == ("main", ["app.py"])
    assert text.startswith("Recommended: Run pytest -k login\n")
    assert contents(repo.folder) == before


@pytest.mark.accept(75)
def test_many_things_are_cut_to_three_alternatives(cli: Cli) -> None:
    for number in range(6):
        cli.ok("save", f"thing-{number}", f"--summary=Thing {number}", f"--next=Do {number}")
    fields = {"summary": "More", "todos": [{"text": f"Todo {number}"} for number in range(5)]}
    cli.ok("save", "more-things", "--from-json=-", stdin=str(fields).replace("'", '"'))

    assert len(cli.json("start")["alternatives"]) == 3


def test_a_person_reads_a_question_and_an_agent_whom_to_ask(cli: Cli) -> None:
    action = {"text": "Ask the user: Log errors, too?", "origin": "inferred"}
    fields = json.dumps({"summary": "Add a retry", "next_action": action})
    cli.ok("save", "retry", "--from-json=-", stdin=fields)

    assert cli.ok("start").out.startswith("Recommended: Ask the user: Log errors, too?\n")
    with cli.terminal("status", "--next") as terminal:
        assert "Recommended: Answer the question: Log errors, too?" in terminal.rest()


def test_where_nothing_is_open_it_says_how_to_begin(cli: Cli) -> None:
    assert "leftoff save --summary" in cli.ok("start").out


def test_features_that_cannot_be_read_keep_nobody_from_starting(cli: Cli, repo: Repo) -> None:
    cli.ok("save", "login", "--summary=Validate the form", "--next=Run pytest -k login")
    (find_project(repo.folder).store / "features.json").write_bytes(b"{")

    assert cli.json("start")["recommended"]["what"] == "Run pytest -k login"
