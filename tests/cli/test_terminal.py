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
        shown = terminal.expect("[Y/n] ")
        terminal.answer("yes")
        terminal.rest()

    plain = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n")
    assert "leftoff-briefing" not in plain
    assert "not instructions" not in plain
    assert " ".join(plain.split()).startswith(f"{task} login-form · just now · main")
    assert max(map(len, plain.splitlines())) <= 80
    assert "Left off     │ Half of validate() is written\n" in plain


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
        terminal.expect('Save it as "validate-login-form"? [Y/n] ')
        terminal.answer("")
        assert 'Saved checkpoint "validate-login-form"' in terminal.rest()

    assert terminal.code == 0
    assert names(cli) == ["validate-login-form"]


def test_a_different_name_is_asked_for_until_it_can_be_one(cli: Cli) -> None:
    with cli.terminal("save", *WORK) as terminal:
        terminal.expect('Save it as "validate-login-form"? [Y/n] ')
        terminal.answer("7")
        terminal.expect("Answer y or n. Press Ctrl-C to cancel.")
        terminal.answer("n")
        terminal.expect("Name: ")
        terminal.answer("task")
        terminal.expect("says nothing about the work")
        terminal.expect("Name: ")
        terminal.answer("Form Rules")
        shown = terminal.rest()

    assert 'Saved checkpoint "form-rules"' in shown
    assert names(cli) == ["form-rules"]


def test_the_suggested_name_is_used_without_asking_on_request(cli: Cli) -> None:
    with cli.terminal("save", *WORK, "--auto-name") as terminal:
        assert 'Saved checkpoint "validate-login-form"' in terminal.rest()


@pytest.mark.accept(7)
def test_a_name_in_use_shows_the_old_date_and_left_off_and_asks(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("save", "login-form", "--summary=Another summary") as terminal:
        shown = terminal.expect('Overwrite "login-form"? [Y/n] ')
        assert 'A checkpoint named "login-form" exists, saved 20' in shown
        assert "The password is not checked yet" in shown.replace("\r\n", " ")
        terminal.answer("")
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
        terminal.answer("n")
        terminal.expect("Name: ")
        terminal.answer("second-form")
        terminal.expect('Overwrite "second-form"? ')
        terminal.answer("no")
        terminal.expect("Name: ")
        terminal.answer("third-form")
        assert 'Saved checkpoint "third-form"' in terminal.rest()

    assert sorted(names(cli)) == ["login-form", "second-form", "third-form"]
    assert cli.json("show", "login-form")["summary"] == "Validate the login form"


@pytest.mark.parametrize("key", ["c", "d"])
@pytest.mark.parametrize(
    ("command", "question"),
    [
        ("save --summary=Validate-the-form", "[Y/n] "),
        ("save login-form --summary=x", 'Overwrite "login-form"? '),
        ("resume login-form", "[Y/n] "),
        ("purge --older-than=1d --open", "for good? [y/N] "),
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
    with cli.terminal("resume", env={"TERM": "dumb"}) as terminal:
        shown = terminal.expect("Which one do you want to resume? ")
        assert f"1. login-form  {saved['login-form']}" in shown
        assert "main    Validate the login form" in shown
        assert f"2. old-form    {saved['old-form']}" in shown
        terminal.answer("2")
        assert "Work on old-form" in terminal.expect("[Y/n] ")
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
        assert "Validate the login form" in terminal.expect('Resume "login-form"? [Y/n] ')
        terminal.answer("perhaps")
        terminal.expect("[Y/n] ")
        assert truth(stored) == before
        terminal.answer(answer)
        rest = terminal.rest()

    assert "[Y/n]" not in rest
    assert ("Starting fresh; login-form is kept." in rest) == (answer == "no")
    assert cli.json("list")[0]["state"] == state


@pytest.mark.parametrize(("answer", "left"), [("", 2), ("n", 2), ("y", 0)])
def test_a_purge_asks_and_does_nothing_without_a_yes(
    cli: Cli, repo: Repo, answer: str, left: int
) -> None:
    save_at(repo.folder, {"login-form": timedelta(days=2), "other-form": timedelta(days=2)})
    with cli.terminal("purge", "--older-than=1d", "--open") as terminal:
        assert "Delete 2 checkpoints" in terminal.expect("[y/N] ")
        terminal.answer(answer)
        assert f"Deleted {2 - left} checkpoints" in terminal.rest()

    assert len(names(cli)) == left


def test_json_asks_nothing_even_on_a_terminal(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("save", "login-form", "--json") as terminal:
        assert '"choice": "overwrite"' in terminal.rest()

    assert terminal.code == 3


def test_a_wide_terminal_shows_the_facts_beside_the_task(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("list", columns=200) as terminal:
        row, *_ = terminal.rest().splitlines()

    assert row.startswith("\x1b[1mValidate the login form\x1b[0m")
    assert "\x1b[36mlogin-form\x1b[0m" in row


def test_a_narrow_terminal_wraps_the_task_and_shows_the_facts_below(cli: Cli) -> None:
    long = "Validate the login form, then the form for new users, then all the other forms we have"
    cli.ok("save", "login-form", f"--summary={long}", "--next=Run pytest tests/test_login.py")
    with cli.terminal("list", columns=80, env={"NO_COLOR": "1"}) as terminal:
        lines = terminal.rest().splitlines()

    assert lines == [
        "Validate the login form, then the form for new users, then all the other forms",
        "we have",
        "login-form · just now · main",
        "→ Run pytest tests/test_login.py",
    ]


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("command", ["list", "show login-form", "status", "search login", "config"])
def test_no_color_where_none_is_wanted(cli: Cli, env: dict[str, str], command: str) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal(*command.split(), env=env) as terminal:
        assert "\x1b" not in terminal.rest()


def test_an_empty_no_color_means_color(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("list", env={"NO_COLOR": ""}) as terminal:
        assert "\x1b[1m" in terminal.rest()


@pytest.mark.parametrize(
    ("when", "env", "has_color"),
    [("never", {}, False), ("always", {"NO_COLOR": "1"}, True), ("auto", {}, True)],
)
def test_the_option_decides_on_color(
    cli: Cli, when: str, env: dict[str, str], *, has_color: bool
) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("list", f"--color={when}", env=env) as terminal:
        assert ("\x1b[1m" in terminal.rest()) is has_color


def test_color_can_be_asked_for_in_a_pipe(cli: Cli) -> None:
    cli.ok("save", "login-form", *WORK)

    assert "\x1b" not in cli.ok("list").out
    assert "\x1b[1mname" in cli.ok("list", "--color=always").out


def test_what_does_not_fit_on_the_screen_goes_to_the_pager(cli: Cli) -> None:
    for number in range(20):
        cli.ok("save", f"form-{number}", *WORK, "--no-capture")
    with cli.terminal("list", env={"PAGER": "tee /dev/stderr"}) as terminal:
        assert terminal.rest().count("form-19") == 2
    with cli.terminal("list", "--limit=1", env={"PAGER": "false"}) as terminal:
        assert "form-19" in terminal.rest()
    with cli.terminal("help", "all", env={"PAGER": "tee /dev/stderr"}) as terminal:
        assert terminal.rest().count("dispatch-check") == 2


def test_texts_cannot_steer_a_real_terminal(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=\x1b[8m hidden\x1b]0;title\x07 \x9b2J \u202eback")
    for command in ("list", "show login-form", "resume login-form --accept", "search hidden",
                    "show --raw login-form"):  # fmt: skip
        with cli.terminal(*command.split()) as terminal:
            shown = terminal.rest()
        plain = re.sub(r"\x1b\[\d*m", "", shown)
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


@pytest.mark.parametrize("answer", ["", "y", "Y", "ye", "yes"])
def test_enter_and_first_letters_answer_a_question(cli: Cli, answer: str) -> None:
    cli.ok("save", "login-form", *WORK)
    with cli.terminal("resume") as terminal:
        terminal.expect('Resume "login-form"? [Y/n] ')
        terminal.answer(answer)
        terminal.rest()

    assert cli.json("list")[0]["state"] == "resumed"


def test_stale_work_is_resumed_anyway_or_left(cli: Cli, repo: Repo) -> None:
    repo.write("app.py")
    cli.ok("save", "login-form", *WORK, "--file=app.py")
    (repo.folder / "app.py").unlink()
    with cli.terminal("resume") as terminal:
        question = 'Some of "login-form" is stale. Resume anyway? No means start fresh. [Y/n] '
        terminal.expect(question)
        terminal.answer("start fresh")
        assert "Starting fresh; login-form is kept." in terminal.rest()


@pytest.mark.parametrize(
    "command",
    [
        "resume --accept --decline",
        "resume --no-read-artifacts --read-artifacts",
        "save x --no-plan --plan plan.md",
        "save x --from s-1 --no-capture",
        "status --plan --next",
        "intent --at-start --in-session hello",
    ],
)
def test_options_that_contradict_each_other_are_refused(cli: Cli, command: str) -> None:
    cli.ok("save", "login-form", *WORK)
    result = cli(*command.split())

    assert result.code == 2
    assert result.err.startswith("leftoff: ")
    assert cli.json("list")[0]["state"] == "open"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("config set budget many", "budget must be a whole number, not a text"),
        ("config set budget 5", "budget must be a whole number of at least 100"),
        ("config set profile none", "Invalid value 'none'"),
    ],
)
def test_a_message_shows_no_internals(cli: Cli, command: str, expected: str) -> None:
    result = cli(*command.split())

    assert result.code == 2
    assert expected in result.err
    assert "$" not in result.err
    assert "`" not in result.err.partition("\n")[0]


def test_another_spelling_of_the_name_is_mentioned(cli: Cli) -> None:
    found = 'The name is "bad-name": names are lowercase words joined by dashes.'

    assert found in cli.ok("save", "bad/name", "--summary=Some work").out
    assert "The name is" not in cli.ok("save", "good-name", "--summary=Some work").out


def test_a_thread_of_a_bare_save_can_be_done(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Validate the login form")

    assert 'Marked "login-form" as done' in cli.ok("done", "login-form").out


def test_where_nothing_is_open_other_projects_are_named(cli: Cli, repo: Repo) -> None:
    other = Repo(repo.folder.parent / "other")
    save_at(other.folder, {"login-form": timedelta(days=2)})
    for command in ("list", "resume", "show"):
        with cli.terminal(command) as terminal:
            shown = " ".join(terminal.rest().split())
        assert "`leftoff list --everywhere` to see what is open" in shown, command
