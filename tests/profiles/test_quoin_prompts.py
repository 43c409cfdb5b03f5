"""quoin's prompt files contain captured prompts, and lose the ones that were handled."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli, Terminal
from gitrepo import Repo
from hooks.letterboxes import SCRIPT, install_python, replied
from leftoff import context
from leftoff.hooks import settle
from leftoff.profiles.quoin import sentinels
from leftoff.session.prompt_files import FilePrompt
from profiles.quoinspace import OTHER, SESSION, Workspace, followed
from stores import NOON
from talk import Talk

THREE = """=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===
first thing to do
=== BLOCKED PROMPT [2026-11-15T18:43:55Z] ===
second thing to do
=== BLOCKED PROMPT [2026-11-15T18:50:00Z] [non-replayable:task-notification] ===
agent 3 finished
"""


@pytest.fixture
def work(cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Follow quoin, with one checkpoint that waits for this session."""
    work = followed(cli, repo)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    cli.ok("save", "some-task", "--summary", "Do it")
    return work


def put(work: Workspace, session: str, text: str) -> Path:
    path = work.memory / f"pending-prompt-{session}.txt"
    path.write_text(text, encoding="utf-8")
    return path


def asked(cli: Cli, question: str, *answers: str) -> str:
    """Restore on a terminal, answer, and return what is printed after the last answer."""
    with cli.terminal("restore", columns=200) as terminal:
        read_nothing(terminal)
        terminal.expect(question)
        for answer in answers:
            terminal.answer(answer)
        return terminal.rest()


def read_nothing(terminal: Terminal) -> None:
    """Answer the question that comes before those about prompts."""
    terminal.expect("Re-fire reads on artifacts now? [y / n]")
    terminal.answer("n")


@pytest.mark.promise("quoin", 43)
@pytest.mark.accept(100)
def test_without_prompts_a_restore_does_not_speak_of_them(cli: Cli, work: Workspace) -> None:
    assert work.marks() == [SESSION]
    assert "prompt" not in cli.ok("restore").out.lower()


@pytest.mark.promise("quoin", 44, 45)
@pytest.mark.accept(101)
@pytest.mark.parametrize("answers", [["y"], ["n"], ["edit", "something else", "in two lines", "."]])
def test_one_prompt_as_it_was_typed_is_run_dropped_or_edited(
    cli: Cli, work: Workspace, answers: list[str]
) -> None:
    path = put(work, SESSION, "rename the column\nand rerun migrations\n")
    rest = asked(cli, "Run it now? [y / n / edit]", *answers)

    shown = rest.replace("\r", "")
    assert (" > rename the column\n > and rerun migrations\n" in shown) is (answers[0] != "n")
    assert (" > something else\n > in two lines\n" in shown) is (answers[0] == "edit")
    assert not path.exists()
    assert path.name in work.trashed()
    assert "prompt" not in cli.ok("restore").out.lower()


@pytest.mark.promise("quoin", 44, 45)
@pytest.mark.parametrize("answer", ["y", "n", "edit"])
def test_without_a_terminal_one_prompt_is_shown_with_a_command_for_each_answer(
    cli: Cli, work: Workspace, answer: str
) -> None:
    path = put(work, SESSION, "rename the column\nand rerun migrations\n")
    out = cli.ok("restore").out

    assert "Your previous prompt was: rename the column\n" in out
    assert "and rerun migrations" in out
    assert "\nRun it now? [y / n / edit]\n" in out
    assert path.exists()
    result = cli.json("restore")["prompt_question"]
    assert result["question"] == "Run it now? [y / n / edit]"
    assert [each["choice"] for each in result["choices"]] == ["y", "n", "edit"]
    if answer == "edit":
        cli.ok("prompts", "edit", "1", "something else\nin two lines")
    command = find_command(out, "n" if answer == "n" else "y")
    printed = cli.ok(*command).out
    assert (" > rename the column\n > and rerun migrations\n" in printed) is (answer == "y")
    assert (" > something else\n > in two lines\n" in printed) is (answer == "edit")
    assert path.name in work.trashed()


def find_command(out: str, answer: str) -> list[str]:
    """Return the command that a restore names for an answer."""
    (line,) = (line for line in out.splitlines() if line.startswith(f"- {answer}: "))
    return line.partition("`leftoff ")[2].partition("`")[0].split()


@pytest.mark.promise("quoin", 46, 47, 52)
@pytest.mark.parametrize(
    ("answer", "wanted", "left"),
    [
        ("all", ["first thing to do", "second thing to do"], 1),
        ("3", ["agent 3 finished"], 2),
        ("none", [], 0),
    ],
)
def test_without_a_terminal_several_are_numbered_with_a_command_for_each_answer(
    cli: Cli, work: Workspace, answer: str, wanted: list[str], left: int
) -> None:
    path = put(work, SESSION, THREE)
    out = cli.ok("restore").out

    assert "3 blocked prompt(s) were saved while context was overloaded:\n1. [2026" in out
    assert "\n2. [2026-11-15T18:43:55Z] second thing to do\n" in out
    assert "\nReplay which? [all / 1 / 2 / 1,3 / edit 1 / none]\n" in out
    printed = cli.ok(*find_command(out, answer)).out
    assert re.findall(r"^ > (.*)", printed, re.MULTILINE) == wanted
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    assert kept.count("=== BLOCKED PROMPT") == left


@pytest.mark.promise("quoin", 46)
def test_a_long_prompt_is_cut_after_80_characters(cli: Cli, work: Workspace) -> None:
    put(work, SESSION, THREE.replace("second thing to do", f"second thing {'x' * 90}"))

    line = f"2. [2026-11-15T18:43:55Z] second thing {'x' * 67}..."
    assert line in cli.ok("restore").out.splitlines()


@pytest.mark.promise("quoin", 49, 50, 51)
@pytest.mark.parametrize("text", ["rename the column\n", THREE])
def test_without_a_terminal_prompts_of_another_session_come_with_the_warning(
    cli: Cli, work: Workspace, text: str
) -> None:
    path = put(work, OTHER, text)
    out = cli.ok("restore").out

    assert (
        "Stale pending-prompt sentinel detected "
        f"(session-id MISMATCH: was {OTHER}, current {SESSION}).\n"
    ) in out
    is_single = text != THREE
    assert ("Content: rename the column\n" in out) is is_single
    question = "Run it now? [y / n / delete]" if is_single else "edit 1 / none / delete]"
    assert question in out
    assert f"- {'n' if is_single else 'none'}: leave the file as it is\n" in out
    cli.ok(*find_command(out, "y" if is_single else "1"))
    assert path.exists()
    assert cli.ok("restore").out.count(question) == 1
    cli.ok(*find_command(out, "delete"))
    assert path.name in work.trashed()


@pytest.mark.promise("quoin", 46)
def test_commands_name_prompts_by_id_where_the_numbers_would_differ(
    cli: Cli, work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an agent's session, other commands do not know whose prompts come first."""
    put(work, OTHER, "=== BLOCKED PROMPT [2026-11-15T18:00:00Z] ===\nof the other session\n")
    put(work, SESSION, "=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===\nof this session\n")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    out = cli.ok("restore").out

    assert "\n1. [2026-11-15T18:41:07Z] of this session\n" in out
    assert " > of this session\n" in cli.ok(*find_command(out, "1")).out


@pytest.mark.promise("quoin", 49)
def test_outside_of_a_session_no_prompt_is_yours(
    cli: Cli, work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(work, SESSION, "of the session that saved\n")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    with cli.terminal("restore", columns=200) as terminal:
        read_nothing(terminal)
        before = terminal.expect("Run it now? [y / n / delete]")
        terminal.answer("n")
        terminal.rest()

    assert f"(session-id MISMATCH: was {SESSION}, current unknown).\r\n" in before
    assert "Content: of the session that saved\r\n" in before
    assert path.exists()
    asked(cli, "Run it now? [y / n / delete]", "delete")
    assert path.name in work.trashed()


@pytest.mark.promise("quoin", 46, 47, 52)
@pytest.mark.accept(102, 105)
@pytest.mark.parametrize(
    ("answers", "wanted", "left"),
    [
        (["all"], ["first thing to do", "second thing to do"], 1),
        (["3"], ["agent 3 finished"], 2),
        (["2,1"], ["first thing to do", "second thing to do"], 1),
        (["none"], [], 0),
        (["what", "7"], [], 0),
    ],
)
def test_several_are_numbered_and_chosen_from(
    cli: Cli, work: Workspace, answers: list[str], wanted: list[str], left: int
) -> None:
    path = put(work, SESSION, THREE)
    question = "Replay which? [all / 1 / 2 / 1,3 / edit 1 / none]"
    with cli.terminal("restore", columns=200) as terminal:
        read_nothing(terminal)
        before = terminal.expect(question)
        for answer in answers:
            terminal.answer(answer)
        rest = terminal.rest().replace("\r", "")

    assert "3 blocked prompt(s) were saved while context was overloaded:" in before
    assert "1. [2026-11-15T18:41:07Z] first thing to do" in before
    assert re.findall(r"^ > (.*)", rest, re.MULTILINE) == wanted
    assert all(text in rest for text in wanted)
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    assert kept.count("=== BLOCKED PROMPT") == left


@pytest.mark.promise("quoin", 48)
@pytest.mark.accept(103)
def test_text_before_the_first_header_is_the_first_entry(cli: Cli, work: Workspace) -> None:
    put(work, SESSION, f"typed before anyone kept times\n{THREE}")

    rows = cli.json("restore")["prompts"]
    assert rows[0]["text"] == "typed before anyone kept times"
    assert "1. [legacy] typed before anyone kept times" in cli.ok("prompts", "list").out


@pytest.mark.promise("quoin", 49, 50, 51)
@pytest.mark.accept(104)
@pytest.mark.parametrize(("answer", "stays"), [("n", True), ("delete", False), ("y", True)])
def test_prompts_of_another_session_come_with_a_warning(
    cli: Cli, work: Workspace, answer: str, *, stays: bool
) -> None:
    path = put(work, OTHER, "rename the column\n")
    with cli.terminal("restore", columns=200) as terminal:
        read_nothing(terminal)
        stale = f"(session-id MISMATCH: was {OTHER}, current {SESSION})."
        terminal.expect(f"Stale pending-prompt sentinel detected {stale}")
        terminal.expect("Content: rename the column")
        terminal.expect("Run it now? [y / n / delete]")
        terminal.answer(answer)
        terminal.rest()

    assert path.exists() is stays
    assert (path.name in work.trashed()) is not stays


# Captured by hooks


def typed(talk: Talk, prompt: str) -> dict[str, Any] | None:
    """Type a prompt: run the real letterbox and return what it prints."""
    payload = talk.payload("UserPromptSubmit", prompt=prompt)
    reply: dict[str, Any] | None = replied(talk, "UserPromptSubmit", payload)
    return reply


@pytest.fixture
def full(work: Workspace, repo: Repo, python: None) -> Talk:
    """Make a session whose context is nearly full."""
    del work, python
    talk = Talk(repo.folder, SESSION)
    talk.ask("Add a login form to app.py")
    talk.say("Done.", percent=96)
    talk.fire("Stop")
    return talk


@pytest.fixture
def python() -> None:
    """Let the letterbox know our Python."""
    install_python()


def settled() -> None:
    assert settle.run(context.state_folder(), wait_seconds=120)


def pending(work: Workspace, session: str = SESSION) -> str:
    path = work.memory / f"pending-prompt-{session}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.promise("quoin", 66)
@pytest.mark.accept(109)
def test_a_blocked_prompt_is_in_the_file_before_it_is_blocked(
    cli: Cli, work: Workspace, full: Talk
) -> None:
    cli.ok("config", "set", "prompts", "block", "--project")
    full.fire("Stop")
    reply = typed(full, "also rename the button")

    assert reply is not None
    assert reply["decision"] == "block"
    assert "also rename the button\n" in pending(work)
    settled()


@pytest.mark.accept(109)
def test_by_default_no_prompt_is_blocked_and_all_are_kept(work: Workspace, full: Talk) -> None:
    """D15: blocking was given up by its author, so it is off unless asked for."""
    reply = typed(full, "also rename the button")
    settled()

    assert "decision" not in (reply or {})
    assert "also rename the button\n" in pending(work)


@pytest.mark.accept(110)
def test_prompts_captured_at_once_are_all_kept_whole(work: Workspace, full: Talk) -> None:
    """D12: a second blocked prompt must not overwrite the first."""
    texts = [f"do thing number {number}\nwith a second line" for number in range(5)]
    data = [json.dumps(full.payload("UserPromptSubmit", prompt=text)).encode() for text in texts]
    running = [
        subprocess.Popen(["sh", SCRIPT, "claude", "UserPromptSubmit"],
                         stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=full.folder)
        for _ in texts
    ]  # fmt: skip
    for process, each in zip(running, data, strict=True):
        process.communicate(each, timeout=120)
    settled()

    found = sentinels.prompts(work.root)[SESSION]
    assert sorted(each.text for each in found) == texts
    assert pending(work).count("=== BLOCKED PROMPT [") == 5


@pytest.mark.accept(110)
def test_a_file_without_headers_is_migrated_and_nothing_is_lost(
    work: Workspace, full: Talk
) -> None:
    put(work, SESSION, "typed before anyone kept times\n")
    typed(full, "also rename the button")
    settled()

    text = pending(work)
    assert text.startswith(
        "=== BLOCKED PROMPT [legacy-pre-migration] ===\ntyped before anyone kept times\n"
    )
    assert text.endswith("] ===\nalso rename the button\n")


@pytest.mark.accept(111)
@pytest.mark.parametrize(
    ("prompt", "is_kept"),
    [
        ("/checkpoint", False),
        ("\n /checkpoint --restore", False),
        ("/compact", False),
        ("/clear", False),
        ("/help", False),
        ("/checkpoint --purge", True),
        ("/checkpointfoo", True),
    ],
)
def test_the_ways_out_are_not_captured(
    work: Workspace, full: Talk, prompt: str, *, is_kept: bool
) -> None:
    typed(full, prompt)
    settled()

    assert (prompt in pending(work)) is is_kept


@pytest.mark.accept(129)
def test_nothing_is_written_through_a_link(work: Workspace, full: Talk, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.txt"
    target.write_text("not ours\n", encoding="utf-8")
    (work.memory / f"pending-prompt-{SESSION}.txt").symlink_to(target)
    typed(full, "also rename the button")
    settled()

    assert target.read_text(encoding="utf-8") == "not ours\n"


def test_what_others_wrote_between_our_entries_stays() -> None:
    def entry(text: str) -> FilePrompt:
        return FilePrompt(text=text, written_at="2026-11-15T12:00:00Z", at=NOON)

    first = sentinels.with_prompts("", [entry("one"), entry("two")], [])
    theirs = f"{first}=== BLOCKED PROMPT [2026-11-15T13:00:00Z] ===\ntheirs\n"
    after = sentinels.with_prompts(theirs, [entry("two"), entry("three")], [entry("one")])

    assert [line for line in after.splitlines() if "===" not in line] == ["two", "theirs", "three"]
    assert sentinels.with_prompts(after, [entry("two"), entry("three")], [entry("one")]) == after


@pytest.mark.promise("quoin", 77)
def test_a_file_of_prompts_stays_as_it_is_until_one_is_added(work: Workspace, cli: Cli) -> None:
    path = put(work, OTHER, "rename the column\n\nand rerun\n")
    before = path.read_bytes()
    cli.ok("list")
    cli.ok("prompts")
    cli.ok("save", "some-task", "--summary", "Do more")

    assert path.read_bytes() == before
    waiting = [FilePrompt(text="and this", written_at="2026-11-15T18:41:07Z", at=NOON)]
    text = sentinels.with_prompts(before.decode(), waiting, [])
    assert text.startswith("=== BLOCKED PROMPT [legacy-pre-migration] ===\nrename the column")


@pytest.mark.promise("quoin", 78)
def test_prompts_that_come_back_from_the_trash_wait_again(work: Workspace, cli: Cli) -> None:
    path = put(work, SESSION, THREE)
    cli.ok("prompts", "replay", "none")
    assert not path.exists()
    next((work.memory / "trash").glob(f"*/{path.name}")).rename(path)

    assert "first thing to do" in cli.ok("prompts").out
    assert "3 blocked prompt(s)" in cli.ok("restore").out


@pytest.mark.promise("quoin", 79)
def test_a_slash_command_in_the_file_was_blocked_and_waits(work: Workspace, cli: Cli) -> None:
    put(work, SESSION, "=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===\n/implement T-04\n")

    assert "1. [2026-11-15T18:41:07Z] /implement T-04" in cli.ok("restore").out
