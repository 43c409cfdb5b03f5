"""What people see at 60, 80 and 140 columns, and how keys drive the picker."""

import base64
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.runs import Cli, truth
from cli.screens import GOLDEN, compare_with_golden, show
from gitrepo import Repo
from leftoff.checkpoint import Checkpoint, Decision, Failure, FileRef, NextAction
from leftoff.context import find_project, read_environment
from leftoff.store import Store
from recordings import leave_session
from stores import Clock, draft

WIDTHS = (60, 80, 140)
UP, DOWN, ENTER, ESCAPE, BACKSPACE = "\x1b[A", "\x1b[B", "\r", "\x1b", "\x7f"
CTRL = {letter: chr(ord(letter) - 96) for letter in "cdfntxyz"}

AGENT = """\
#!/bin/sh
printf 'started in %s with %s words\\n' "$(basename "$PWD")" "$#"
"""

# The eldest first.
THREADS = (
    draft("שלום-עולם", "לתקן את טופס הכניסה", agent="gemini"),
    draft(
        "csv-export",
        "Export all orders as CSV, with one row for each line of an order and the totals of each "
        "order and of the whole file in the last row",
        agent="codex",
        branch="feat/csv",
    ),
    draft("login-form", "ログインフォームを検証する: validate the login form 🔐 on the server"),
    draft(
        "cart-totals",
        "Round cart totals to cents",
        agent="claude",
        branch="main",
        done=["Wrote a test that shows the drift of one cent in a hundred", "Found the cause"],
        decisions=[Decision(what="Decimal, not cents", why="the tax rules need half cents")],
        failed=[Failure(what="round() at the end", why="the drift is already in the sum")],
        left_off="In the middle of total()\nThe tests are red",
        files=[FileRef(path="src/cart.py", role="edited")],
    ),
)


@pytest.fixture(autouse=True)
def _threads(repo: Repo) -> None:
    """Save four threads, one to four hours ago."""
    clock = Clock()
    store = Store(find_project(repo.folder), now=clock)
    for hours, thread in zip(range(len(THREADS), 0, -1), THREADS, strict=True):
        clock.now = datetime.now(UTC) - timedelta(hours=hours, minutes=5)
        action = NextAction(text=f"Write the first test of {thread.name}, then run all of them")
        values = {"worktree": str(repo.folder), "next_action": action}
        store.save(_replace(thread, **values))
    store.close()


def _replace(checkpoint: Checkpoint, **values: Any) -> Checkpoint:
    return msgspec.structs.replace(checkpoint, **values)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("list", "list"),
        ("show", "show cart-totals"),
        ("log", "log --all"),
        ("search", "search cart first test"),
    ],
)
def test_a_screen_is_as_it_was_agreed(cli: Cli, name: str, command: str, columns: int) -> None:
    del cli
    with show(*command.split(), columns=columns) as screen:
        compare_with_golden(f"{name}-{columns}", screen.finish())


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_log_of_a_thread_has_ids_that_are_short_and_enough(cli: Cli, columns: int) -> None:
    cli.ok("save", "cart-totals", "--overwrite", "--summary=Round totals", "--next=Go on")
    with show("log", "cart-totals", columns=columns) as screen:
        shown = screen.finish()

    short = re.findall(r"20\d{6}T\d{4,}", shown)
    assert len(short) == 2
    assert "saved on request" in shown
    assert "…" not in shown
    assert cli.json("show", short[1])["summary"] == "Round cart totals to cents"
    assert "+ Round totals" in cli.ok("diff", short[1], short[0]).out


def test_sessions_have_ids_that_are_short_and_enough_to_save_them(cli: Cli, repo: Repo) -> None:
    agents = ("codex", "copilot", "gemini")
    for agent in agents:
        leave_session(agent, read_environment().find_agent_folder(agent), repo.folder)
    ids = {each["agent"]: each["session_id"] for each in cli.json("sessions")}
    with show("sessions", columns=80) as screen:
        lines = screen.finish().splitlines()

    shown = {line.rsplit(" · ", 1)[-1]: line.split(" · ")[0] for line in lines if " · " in line}
    assert {*shown} == {*agents}
    assert all(ids[agent].startswith(short) and len(short) == 8 for agent, short in shown.items())
    cli.ok("save", "--from", shown["codex"], "--next=Run make test")
    assert ids["codex"] in [each["session_id"] for each in cli.json("list")]


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_status_shows_the_tasks_of_the_newest_threads(
    cli: Cli, repo: Repo, columns: int
) -> None:
    del cli
    with show("status", columns=columns) as screen:
        # The path of the project differs from run to run.
        _, branch, rest = screen.finish().partition("branch ")
        compare_with_golden(f"status-{columns}", branch + rest)
    with show("status", columns=columns, rows=24) as screen:
        screen.wait("`leftoff list` shows all of them.")
        assert repo.folder.name in screen.raw.splitlines()[0]


@pytest.mark.parametrize("command", ["status", "doctor", "help all", "init --all --dry-run"])
def test_no_word_is_broken_at_60_columns(cli: Cli, command: str) -> None:
    del cli
    with show(*command.split(), columns=60) as screen:
        screen.finish()
    lines = re.sub(r"\x1b\[[\d;]*m", "", screen.raw).replace("\r\n", "\n").split("\n")
    # The lines of a diff stay as they are, and so does a path that is longer than a line.
    prose = [line for line in lines if not line.startswith(("+", "-", "@", " " * 12))]

    assert [line for line in prose if len(line) > 60 and len(line.split()) > 2] == []


def test_the_documentation_shows_these_screens() -> None:
    page = (Path(__file__).parents[2] / "docs" / "terminal.md").read_text(encoding="utf-8")
    shown = re.findall(r"<!-- screen: (\S+) -->\n```text\n(.*?)```\n", page, re.DOTALL)

    assert shown
    for name, text in shown:
        assert text == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"), name


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_question_is_below_the_briefing_and_wraps(cli: Cli, columns: int) -> None:
    del cli
    with show("resume", "cart-totals", columns=columns) as screen:
        compare_with_golden(f"resume-{columns}", screen.wait("[Y/n]"))


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_picker_is_driven_by_keys(cli: Cli, columns: int) -> None:
    with show("resume", columns=columns, rows=30) as screen:
        screen.wait("Decimal, not cents")
        compare_with_golden(f"picker-{columns}", screen.read())
        screen.press(DOWN)
        screen.wait("Next action")
        screen.wait_without("Decimal, not cents")
        screen.press("csvqq")
        screen.wait("0 of 4")
        screen.press(BACKSPACE * 2)
        screen.wait("1 of 4")
        screen.press(ENTER)
        shown = screen.finish()

    assert screen.code == 0
    assert 'Resumed "csv-export"' in shown
    states = {each["name"]: each["state"] for each in cli.json("list")}
    assert states["csv-export"] == "resumed"
    assert list(states.values()).count("resumed") == 1


def test_keys_end_threads_and_bring_them_back_without_leaving(cli: Cli) -> None:
    with show("done", columns=80, rows=30) as screen:
        screen.wait("4 of 4")
        screen.press(CTRL["x"])
        screen.wait("Dropped cart-totals; `leftoff undo` reopens it.")
        screen.wait("3 of 3")
        screen.press(CTRL["z"])
        screen.wait("4 of 4")
        screen.press(CTRL["z"])
        screen.wait("Nothing to undo here.")
        screen.press(DOWN)
        screen.press(CTRL["t"])
        screen.wait("Marked login-form as done")
        screen.press(ESCAPE)
        left = screen.finish()

    assert screen.code == 130
    # What was done stays in view after the picker has closed.
    assert "Marked login-form as done; `leftoff undo` reopens it." in left
    names = [each["name"] for each in cli.json("list")]
    assert sorted(names) == sorted(["cart-totals", "csv-export", "שלום-עולם"])


def test_texts_cannot_steer_the_picker(cli: Cli) -> None:
    cli.ok(
        "save", "evil", "--summary=\x1b[8mhidden\x1b]0;title\x07 \x01\x02 \u202eback", "--next=Go"
    )
    with show("resume", columns=80, rows=30) as screen:
        screen.wait("hidden")
        screen.wait("Next action")
        screen.press(CTRL["c"])
        screen.finish()

    assert "\x1b[8m" not in screen.raw
    assert "\x1b]0;title" not in screen.raw
    assert "\u202e" not in screen.raw


def test_a_resized_terminal_is_drawn_anew(cli: Cli) -> None:
    del cli
    with show("resume", columns=60, rows=30) as screen:
        screen.wait("Decimal, not cents")
        screen.resize(30, 140)
        screen.wait("Decisions            Decimal, not cents")
        screen.press(CTRL["c"])
        screen.finish()


def test_a_key_shows_what_the_last_save_changed(cli: Cli) -> None:
    cli.ok("save", "cart-totals", "--overwrite", "--summary=Round totals", "--next=Go on")
    with show("resume", columns=140, rows=30) as screen:
        screen.wait("Go on")
        screen.press(CTRL["f"])
        screen.wait("+ Round totals")
        screen.wait("- Round cart totals to cents")
        screen.press(CTRL["f"])
        screen.wait("Go on")
        screen.press(CTRL["c"])
        screen.finish()


def test_what_cannot_be_compared_is_said_in_whole_words(cli: Cli) -> None:
    del cli
    with show("resume", columns=40, rows=30) as screen:
        screen.wait("4 of 4")
        screen.press(CTRL["f"])
        screen.wait("nothing to compare.")
        screen.press(CTRL["c"])
        screen.finish()


def test_a_save_says_to_people_what_was_saved_and_not_where(cli: Cli) -> None:
    words = ("save", "tax-rules", "--summary=Look up the tax rules", "--next=Ask Mira")
    with show(*words, columns=80) as screen:
        shown = screen.finish()

    assert 'Saved checkpoint "tax-rules"\n  Task  Look up the tax rules\n' in shown
    assert "Path" not in shown
    assert "  Path  /" in cli.ok("save", "tax-rules-2", *words[2:]).out


def test_a_key_copies_the_briefing(cli: Cli) -> None:
    del cli
    with show("resume", columns=80, rows=30) as screen:
        screen.wait("4 of 4")
        screen.press(CTRL["y"])
        screen.wait("Copied the briefing of cart-totals.")
        copied = _find_copied(screen.raw)
        screen.press(ESCAPE)
        screen.finish()

    assert copied.startswith("<leftoff-briefing>")
    assert "Task: Round cart totals to cents" in copied


@pytest.mark.parametrize("key", [CTRL["c"], CTRL["d"], ESCAPE])
def test_leaving_the_picker_changes_nothing(cli: Cli, stored: Path, key: str) -> None:
    cli.ok("list")
    before = truth(stored)
    with show("resume", columns=80, rows=24) as screen:
        screen.wait("4 of 4")
        screen.press(key)
        assert "Interrupted" not in screen.finish()

    assert screen.code == 130
    assert truth(stored) == before


@pytest.mark.parametrize(("command", "text"), [("show", "Last commit"), ("log", "saved")])
def test_show_and_log_let_people_choose(cli: Cli, command: str, text: str) -> None:
    del cli
    with show(command, columns=80) as screen:
        screen.wait("4 of 4")
        screen.press("login")
        screen.wait("1 of 4")
        screen.press(ENTER)
        shown = screen.finish()

    assert screen.code == 0
    assert "login-form" in shown
    assert "cart-totals" not in shown
    assert text in shown or command == "show"


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("done", "Enter done  ^X drop  ^Y copy  ^F diff  Esc leave"),
        ("drop", "Enter drop  ^T done  ^Y copy  ^F diff  Esc leave"),
    ],
)
def test_what_enter_does_is_not_named_twice(cli: Cli, command: str, keys: str) -> None:
    del cli
    with show(command, columns=80) as screen:
        screen.wait("Esc leave")
        shown = screen.read()
        screen.press(ESCAPE)
        screen.finish()

    assert keys in shown


def test_a_dumb_terminal_asks_for_a_number(cli: Cli) -> None:
    del cli
    with show("done", columns=80, env={"TERM": "dumb"}) as screen:
        screen.wait("Which one do you want to mark as done?")
        screen.press(f"2{ENTER}")
        assert 'Marked "login-form" as done' in screen.finish()


@pytest.mark.parametrize("command", ["show", "log"])
def test_a_dumb_terminal_asks_by_number_what_to_look_at(cli: Cli, command: str) -> None:
    del cli
    with show(command, columns=80, env={"TERM": "dumb"}) as screen:
        screen.wait("do you want to see? [1]")
        screen.press(f"x{ENTER}")
        screen.wait("Enter a number from 1 to 4.")
        screen.press(f"2{ENTER}")
        shown = screen.finish()

    assert screen.code == 0
    assert "login-form · 2h ago" in shown


def test_resume_ends_in_the_agent_last_used(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    del cli
    env = _install(tmp_path, "codex", "claude")
    with show("resume", "csv-export", columns=80, env=env) as screen:
        screen.wait("[Y/n]")
        screen.press(ENTER)
        screen.wait("Start an agent with it? [Codex/claude/n]")
        screen.press(ENTER)
        shown = screen.finish()

    assert f"started in {repo.folder.name} with 1 words" in shown


def test_without_an_agent_the_exact_commands_are_printed(cli: Cli, tmp_path: Path) -> None:
    env = _install(tmp_path, "claude")
    with show("resume", "cart-totals", columns=80, env=env) as screen:
        screen.wait("[Y/n]")
        screen.press(ENTER)
        screen.wait("[Claude/n]")
        screen.press(f"no{ENTER}")
        shown = screen.finish()

    assert "To start Claude Code with it:\n  leftoff resume cart-totals --in claude" in shown
    assert cli.json("show", "cart-totals")["state"] == "resumed"


def test_an_interrupt_at_the_last_question_resumes_nothing(
    cli: Cli, stored: Path, tmp_path: Path
) -> None:
    cli.ok("list")
    before = truth(stored)
    env = _install(tmp_path, "claude")
    with show("resume", "cart-totals", columns=80, env=env) as screen:
        screen.wait("[Y/n]")
        screen.press(ENTER)
        screen.wait("[Claude/n]")
        screen.press(CTRL["d"])
        screen.finish()

    assert screen.code == 130
    assert truth(stored) == before


def test_resume_copies_the_briefing_instead_of_starting_an_agent(cli: Cli, tmp_path: Path) -> None:
    env = _install(tmp_path, "claude")
    with show("resume", "cart-totals", "--copy", columns=80, env=env) as screen:
        screen.wait("[Y/n]")
        screen.press(ENTER)
        shown = screen.finish()

    assert "Copied the briefing; paste it into your agent." in shown
    assert "Task: Round cart totals to cents" in _find_copied(screen.raw)
    assert cli.json("show", "cart-totals")["state"] == "resumed"


def test_undo_and_redo_say_what_they_will_do_and_ask(cli: Cli) -> None:
    with show("undo", columns=60) as screen:
        screen.wait("This undoes saving cart-totals (1h ago).\nUndo it? [Y/n]")
        screen.press(f"n{ENTER}")
        assert "Nothing was changed." in screen.finish()
    assert len(cli.json("list")) == len(THREADS)
    with show("undo", columns=60) as screen:
        screen.wait("Undo it? [Y/n]")
        screen.press(ENTER)
        assert "Undid saving cart-totals" in screen.finish()
    with show("redo", "--yes", columns=60) as screen:
        assert screen.finish() == "Redid saving cart-totals"


def test_a_warning_and_an_error_wrap_at_words(cli: Cli) -> None:
    del cli
    with show("resume", "nothing-of-this-name", columns=40) as screen:
        shown = screen.finish().splitlines()

    assert screen.code == 1
    assert len(shown) > 1
    assert all(line.startswith(("leftoff: ", "  ")) or line.strip() for line in shown)
    assert "\x1b[31m\x1b[1mleftoff:" in screen.raw


def _install(folder: Path, *agents: str) -> dict[str, str]:
    """Put programs on the PATH that stand for agents."""
    programs = folder / "programs"
    programs.mkdir()
    for agent in agents:
        (programs / agent).write_text(AGENT, encoding="utf-8")
        (programs / agent).chmod(0o755)
    return {"PATH": f"{programs}:/usr/bin:/bin"}


def _find_copied(raw: str) -> str:
    found = re.search(r"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", raw)
    assert found is not None
    return base64.b64decode(found[1]).decode()
