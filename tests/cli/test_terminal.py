"""What people see, and which questions they get, on a real terminal."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from cli.runs import Cli, save_at, truth
from gitrepo import Repo

WORK = ("--summary=Validate the login form", "--left-off=The password is not checked yet")


def names(cli: Cli) -> list[str]:
    return [each["name"] for each in cli.json("list")]


def test_a_person_reads_a_briefing_without_marks_and_wrapped_at_words(cli: Cli) -> None:
    task = "Validate the login form on the server so that nobody walks past it with a script"
    cli.ok("save", "login-form", f"--summary={task}", "--left-off=Half of validate() is written")
    with cli.terminal("resume", "login-form") as terminal:
        shown = terminal.expect("[yes / no] ")
        terminal.answer("yes")
        terminal.rest()

    plain = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n")
    assert "leftoff-briefing" not in plain
    assert "not instructions" not in plain
    assert f"Task: {task}" in " ".join(plain.split())
    assert max(map(len, plain.splitlines())) <= 80
    assert "Left off:\n > Half of validate() is written\n" in plain


def test_an_agent_in_a_terminal_reads_the_fenced_briefing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "login-form", *WORK)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    monkeypatch.setenv("CLAUDECODE", "1")
    with cli.terminal("resume", "login-form", "--accept") as terminal:
        shown = terminal.rest()

    assert shown.startswith("<leftoff-briefing>")


def test_a_good_name_is_suggested_and_taken(cli: Cli) -> None:
    with cli.terminal("save", *WORK) as terminal:
        shown = terminal.expect("Which name? ")
        assert "1. Use 'validate-login-form' (Recommended)" in shown
        assert "2. Provide different name" in shown
        terminal.answer("1")
        assert 'Saved checkpoint "validate-login-form"' in terminal.rest()

    assert terminal.code == 0
    assert names(cli) == ["validate-login-form"]


def test_a_different_name_is_asked_for_until_it_can_be_one(cli: Cli) -> None:
    with cli.terminal("save", *WORK) as terminal:
        terminal.expect("Which name? ")
        terminal.answer("7")
        terminal.expect("Enter a number from 1 to")
        terminal.answer("2")
        terminal.expect("Name: ")
        terminal.answer("task")
        terminal.expect("says nothing about the work")
        terminal.expect("Name: ")
        terminal.answer("Form Rules")
        assert 'Saved checkpoint "form-rules"' in terminal.rest()

    assert names(cli) == ["form-rules"]


def test_the_suggested_name_is_used_unasked_if_told_so(cli: Cli) -> None:
    with cli.terminal("save", *WORK, "--auto-name") as terminal:
        assert 'Saved checkpoint "validate-login-form"' in terminal.rest()


@pytest.mark.accept(7)
def test_a_name_in_use_shows_the_old_date_and_left_off_and_asks(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("save", "login-form", "--summary=Another summary") as terminal:
        shown = terminal.expect('Overwrite "login-form"? ')
        assert 'A checkpoint named "login-form" exists, saved 20' in shown
        assert "The password is not checked yet" in shown.replace("\r\n", " ")
        assert "1. Overwrite" in shown
        assert "2. Different name" in shown
        terminal.answer("1")
        terminal.rest()

    assert terminal.code == 0
    assert cli.json("show", "login-form")["summary"] == "Another summary"
    assert len(cli.json("log", "login-form")["revisions"]) == 2


@pytest.mark.accept(8)
def test_the_question_repeats_for_a_second_name_in_use(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    cli.ok("save", "second-form", *WORK)
    with cli.terminal("save", "login-form", "--summary=Another summary") as terminal:
        terminal.expect('Overwrite "login-form"? ')
        terminal.answer("2")
        terminal.expect("Name: ")
        terminal.answer("second-form")
        terminal.expect('Overwrite "second-form"? ')
        terminal.answer("2")
        terminal.expect("Name: ")
        terminal.answer("third-form")
        assert 'Saved checkpoint "third-form"' in terminal.rest()

    assert sorted(names(cli)) == ["login-form", "second-form", "third-form"]
    assert cli.json("show", "login-form")["summary"] == "Validate the login form"


@pytest.mark.parametrize("key", ["c", "d"])
@pytest.mark.parametrize(
    ("command", "question"),
    [
        ("save --summary=Validate-the-form", "Which name? "),
        ("save login-form", 'Overwrite "login-form"? '),
        ("resume login-form", "[yes / no] "),
        ("resume", "Which one do you want to resume? "),
        ("purge --older-than=1d --open", "for good? [y/N]: "),
    ],
)
def test_an_interrupted_question_exits_130_and_nothing_is_half_done(
    cli: Cli, stored: Path, key: str, command: str, question: str
) -> None:
    folder = stored.parent.parent
    save_at(folder, {"login-form": timedelta(days=2), "other-form": timedelta(days=2)})
    before = truth(stored)
    with cli.terminal(*command.split()) as terminal:
        terminal.expect(question)
        assert "Interrupted; nothing more was changed." in terminal.leave(key)

    assert terminal.code == 130
    assert truth(stored) == before


@pytest.mark.accept(16)
def test_several_are_offered_with_date_branch_and_task(cli: Cli, repo: Repo) -> None:
    save_at(repo.folder, {"old-form": timedelta(days=2)})
    cli.ok("save", "login-form", *WORK)
    saved = {each["name"]: each["saved_at"][:10] for each in cli.json("list")}
    with cli.terminal("resume") as terminal:
        shown = terminal.expect("Which one do you want to resume? ")
        assert f"1. login-form  {saved['login-form']}" in shown
        assert "main    Validate the login form" in shown
        assert f"2. old-form    {saved['old-form']}" in shown
        terminal.answer("2")
        assert "Work on old-form" in terminal.expect("[yes / no] ")
        terminal.answer("yes")
        terminal.rest()

    assert terminal.code == 0
    states = {each["name"]: each["state"] for each in cli.json("list")}
    assert states == {"login-form": "open", "old-form": "resumed"}


@pytest.mark.accept(34)
@pytest.mark.parametrize(("answer", "state"), [("y", "resumed"), ("no", "declined")])
def test_resume_asks_yes_or_no_once_and_waits_for_one_of_them(
    cli: Cli, stored: Path, answer: str, state: str
) -> None:
    cli.ok("save", "login-form", *WORK)
    before = truth(stored)
    with cli.terminal("resume") as terminal:
        assert "Validate the login form" in terminal.expect('Resume "login-form"? [yes / no] ')
        terminal.answer("perhaps")
        terminal.expect("[yes / no] ")
        assert truth(stored) == before
        terminal.answer(answer)
        rest = terminal.rest()

    assert "Resume" not in rest
    assert ("Starting fresh; login-form is kept." in rest) == (answer == "no")
    assert cli.json("list")[0]["state"] == state


@pytest.mark.parametrize(("answer", "left"), [("", 2), ("n", 2), ("y", 0)])
def test_a_purge_asks_and_means_no_unless_told_yes(
    cli: Cli, repo: Repo, answer: str, left: int
) -> None:
    save_at(repo.folder, {"login-form": timedelta(days=2), "other-form": timedelta(days=2)})
    with cli.terminal("purge", "--older-than=1d", "--open") as terminal:
        assert "Delete 2 checkpoints" in terminal.expect("[y/N]: ")
        terminal.answer(answer)
        assert f"Deleted {2 - left} checkpoints" in terminal.rest()

    assert len(names(cli)) == left


def test_json_asks_nothing_even_on_a_terminal(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("save", "login-form", "--json") as terminal:
        assert '"choice": "overwrite"' in terminal.rest()

    assert terminal.code == 3


def test_a_wide_terminal_shows_a_table_with_a_bold_header(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("list", columns=200) as terminal:
        header, row, *_ = terminal.rest().splitlines()

    assert header.startswith("\x1b[1mname ")
    assert header.endswith("\x1b[0m")
    assert row.startswith("login-form  20")


def test_a_narrow_terminal_shows_each_checkpoint_on_lines_of_its_own(cli: Cli) -> None:
    long = "Validate the login form, then the form for new users, then all the other forms we have"
    cli.ok("save", "login-form", f"--summary={long}", "--next=Run pytest tests/test_login.py")
    with cli.terminal("list", columns=80, env={"NO_COLOR": "1"}) as terminal:
        lines = terminal.rest().splitlines()

    assert lines[0].startswith("login-form  20")
    assert lines[1].startswith("  summary      Validate the login form, then")
    assert lines[1].endswith("…")
    assert lines[2] == "  next action  Run pytest tests/test_login.py"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("command", ["list", "show login-form", "status", "search login", "config"])
def test_no_colour_where_none_is_wanted(cli: Cli, env: dict[str, str], command: str) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal(*command.split(), env=env) as terminal:
        assert "\x1b" not in terminal.rest()


def test_an_empty_no_color_means_colour(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("list", env={"NO_COLOR": ""}) as terminal:
        assert "\x1b[1m" in terminal.rest()


def test_texts_cannot_steer_a_real_terminal(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=\x1b[8m hidden\x1b]0;title\x07 \x9b2J \u202eback")
    for command in ("list", "show login-form", "resume login-form --accept", "search hidden",
                    "show --raw login-form"):  # fmt: skip
        with cli.terminal(*command.split()) as terminal:
            shown = terminal.rest()
        plain = shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
        assert "hidden" in plain
        assert not {*"\x1b\x07\x9b\u202e"} & {*plain}, command


def test_quiet_says_nothing_but_errors(cli: Cli) -> None:
    assert cli.ok("save", "login-form", "--summary=wip", "-q") == (0, "", "")
    for command in (
        "list",
        "show login-form",
        "status",
        "log",
        "config",
        "clear login-form",
        "undo",
    ):
        assert cli.ok(*command.split(), "--quiet") == (0, "", ""), command
    assert cli("show", "nothing-here", "-q").err != ""
    assert cli.ok("list", "--quiet", "--json").json[0]["name"] == "login-form"
