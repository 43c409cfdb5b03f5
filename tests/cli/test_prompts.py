"""leftoff prompts, and the prompts that `leftoff resume` gives back."""

import re
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from leftoff.agents.hook_events import HookEvent
from leftoff.context import find_project
from leftoff.hooks import hand_over
from leftoff.session import prompt_queue
from leftoff.store import Store
from leftoff.text.fence import disarm

BEGAN = 1_794_767_867.0  # 2026-11-15 18:37:47
FIRST, SECOND, THIRD = "rename the column", "rerun the migrations\nand the tests", "update the docs"
LONG = "explain " + "why " * 50


@pytest.fixture
def store(cli: Cli) -> Store:
    del cli
    return Store(find_project(Path.cwd()))


def keep(store: Store, *texts: str, session_id: str = "s-old") -> None:
    for n, text in enumerate(texts):
        event = HookEvent(
            agent="claude",
            kind="prompt",
            session_id=session_id,
            cwd="/w",
            prompt=text,
            at=BEGAN + 60 * n,
        )
        prompt_queue.keep(store, event)


def rows(cli: Cli, *arguments: str) -> Any:
    return cli.json("prompts", "list", *arguments)


def waiting(cli: Cli) -> list[str]:
    return [row["text"] for row in rows(cli)]


def fates(cli: Cli) -> list[str]:
    return [row["fate"] for row in rows(cli, "--all")]


def given_back(printed: str) -> list[str]:
    """Return the prompts in what was printed; each is quoted under the words of whom it is."""
    parts = printed.rstrip("\n").split("\n\nThe user asked (")
    assert parts[0].startswith("The user asked (2026-")
    return [re.sub(r"(?m)^ > ", "", part.partition("\n")[2]) for part in parts]


def inside(monkeypatch: pytest.MonkeyPatch, session_id: str) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session_id)


# --- looking ---


@pytest.mark.accept(102)
def test_list_numbers_them_with_time_and_first_eighty_characters(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND, LONG)

    lines = cli.ok("prompts").out.splitlines()

    assert lines[0] == f"1. [2026-11-15 18:37] {FIRST}"
    assert lines[1] == "2. [2026-11-15 18:38] rerun the migrations and the tests"
    assert lines[2].startswith("3. [2026-11-15 18:39] explain why why")
    assert lines[2].partition("] ")[2] == f"{LONG[:80]}…"


def test_list_in_json_has_the_whole_text(cli: Cli, store: Store) -> None:
    keep(store, SECOND)

    (row,) = rows(cli)

    assert (row["number"], row["text"], row["session_id"]) == (1, SECOND, "s-old")
    assert row["at"].startswith("2026-11-15T18:37:47")


def test_nothing_waits_in_a_fresh_project(cli: Cli) -> None:
    assert cli.ok("prompts", "list").out == "No prompts are waiting.\n"
    assert rows(cli) == []
    assert cli.ok("prompts", "replay").out == "No prompts are waiting.\n"


def test_show_gives_one_whole_by_number_or_id(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND)

    assert given_back(cli.ok("prompts", "show", "2").out) == [SECOND]
    assert given_back(cli.ok("prompts", "show", rows(cli)[0]["id"]).out) == [FIRST]


@pytest.mark.parametrize("number", ["0", "3", "x", "-1", "²"])
def test_a_number_that_is_not_there_is_refused(cli: Cli, store: Store, number: str) -> None:
    keep(store, FIRST, SECOND)

    result = cli("prompts", "show", "--", number)

    assert result.code == 2
    assert "No prompt" in result.err


# --- replaying ---


@pytest.mark.accept(102)
@pytest.mark.parametrize(
    ("which", "printed"),
    [
        (["all"], [FIRST, SECOND, THIRD]),
        (["2"], [SECOND]),
        (["1,3"], [FIRST, THIRD]),
        (["3", "1"], [FIRST, THIRD]),
        (["3,1,3"], [FIRST, THIRD]),
    ],
)
def test_replay_prints_the_chosen_ones_oldest_first(
    cli: Cli, store: Store, which: list[str], printed: list[str]
) -> None:
    keep(store, FIRST, SECOND, THIRD)

    assert given_back(cli.ok("prompts", "replay", *which).out) == printed
    assert all(text not in printed for text in waiting(cli))
    assert fates(cli).count("replayed") == len(printed)


@pytest.mark.accept(102)
def test_none_drops_a_sessions_own_prompts_and_says_how_to_undo_that(
    cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, FIRST, SECOND)
    inside(monkeypatch, "s-old")

    said = cli.ok("prompts", "replay", "none").out

    assert said.startswith("Dropped 2 prompts; to undo, run: leftoff prompts restore ")
    assert fates(cli) == ["dropped", "dropped"]
    cli.ok(*said.partition("leftoff ")[2].split())
    assert waiting(cli) == [FIRST, SECOND]


@pytest.mark.accept(104)
def test_none_keeps_the_prompts_of_other_sessions(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND)

    said = cli.ok("prompts", "replay", "none").out
    assert said.startswith("Kept 2 prompts; `leftoff prompts drop` removes them")
    assert waiting(cli) == [FIRST, SECOND]
    assert len(cli.json("prompts", "replay", "none")["kept"]) == 2


@pytest.mark.accept(102)
@pytest.mark.parametrize("which", [[], ["9"], ["1,9"], ["some"]])
def test_without_a_terminal_an_open_choice_is_handed_on(
    cli: Cli, store: Store, which: list[str]
) -> None:
    keep(store, FIRST, SECOND)

    result = cli("prompts", "replay", *which)

    assert result.code == 3
    choices = {each["choice"]: each["command"] for each in result.json["choices"]}
    assert choices["2"] == "leftoff prompts replay 2"
    assert {"all", "none"} <= set(choices)
    assert waiting(cli) == [FIRST, SECOND]


@pytest.mark.accept(105)
def test_a_notice_of_a_program_is_replayed_by_its_number_only(cli: Cli, store: Store) -> None:
    notice = "<task-notification>agent 3 finished</task-notification>"
    keep(store, FIRST, notice, THIRD)

    assert given_back(cli.ok("prompts", "replay", "all").out) == [FIRST, THIRD]
    assert given_back(cli.ok("prompts", "replay", "1").out) == [disarm(notice)]


def test_edit_changes_the_words_and_drop_and_restore_the_queue(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND)

    cli.ok("prompts", "edit", "1", "rename", "the table")
    assert waiting(cli) == ["rename the table", SECOND]
    dropped = cli.json("prompts", "drop", "1")["dropped"]
    assert waiting(cli) == [SECOND]
    cli.ok("prompts", "restore", dropped[0])
    assert waiting(cli) == ["rename the table", SECOND]
    cli.ok("prompts", "drop", "--all")
    assert waiting(cli) == []
    assert cli("prompts", "drop").code == 2


# --- whose they are ---


@pytest.mark.accept(104)
def test_prompts_of_another_session_only_come_with_a_warning(
    cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, FIRST)
    inside(monkeypatch, "s-new")

    result = cli("prompts", "replay")

    assert result.code == 3
    assert "It was typed in an earlier session." in result.json["message"]
    cli.ok("prompts", "replay", "none")
    assert waiting(cli) == [FIRST]
    replayed = cli.ok("prompts", "replay", "1")
    assert given_back(replayed.out) == [FIRST]
    assert "It was typed in an earlier session." in replayed.err


def test_a_session_is_asked_only_about_its_own(
    cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, FIRST)
    keep(store, SECOND, session_id="s-new")
    inside(monkeypatch, "s-new")

    assert [row["is_own"] for row in rows(cli)] == [True, False]
    assert given_back(cli.ok("prompts", "replay", "all").out) == [SECOND]
    assert waiting(cli) == [FIRST]


# --- on a terminal ---


@pytest.mark.accept(102)
def test_on_a_terminal_the_choice_is_asked(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND, THIRD)

    with cli.terminal("prompts", "replay") as terminal:
        assert "3. [2026-11-15 18:39] update the docs" in terminal.expect("Replay which?")
        terminal.expect("[All/1/1,2/edit 1/none]")
        terminal.answer("3,1")
        printed = terminal.rest()

    assert given_back(printed.partition("\n")[2]) == [FIRST, THIRD]
    assert waiting(cli) == [SECOND]


@pytest.mark.accept(102)
def test_edit_on_a_terminal_prints_the_new_words(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND)

    with cli.terminal("prompts", "replay") as terminal:
        terminal.expect("none]")
        terminal.answer("edit 1")
        assert FIRST in terminal.expect("then a line with only `.`:")
        terminal.answer("rename the table")
        terminal.answer(".")
        assert terminal.rest().endswith("rename the table\n")

    assert waiting(cli) == [SECOND]


@pytest.mark.accept(102)
def test_two_answers_that_are_none_mean_none(cli: Cli, store: Store) -> None:
    keep(store, FIRST, SECOND)

    with cli.terminal("prompts", "replay", env={"CLAUDE_CODE_SESSION_ID": "s-old"}) as terminal:
        terminal.expect("none]")
        terminal.answer("what?")
        assert "Answer all, none, numbers such as 1,2, or edit 1." in terminal.expect("none]")
        terminal.answer("7")
        terminal.rest()
        assert terminal.code == 0

    assert fates(cli) == ["dropped", "dropped"]


@pytest.mark.accept(104)
@pytest.mark.parametrize(("answer", "fate"), [("n", "pending"), ("delete", "dropped")])
def test_another_sessions_prompt_can_be_left_or_deleted(
    cli: Cli, store: Store, answer: str, fate: str
) -> None:
    keep(store, FIRST)

    with cli.terminal("prompts", "replay", env={"CLAUDE_CODE_SESSION_ID": "s-new"}) as terminal:
        shown = terminal.expect("[Y/n/delete]")
        terminal.answer(answer)
        terminal.rest()

    assert "It was typed in an earlier session." in shown
    assert f"Content: {FIRST}" in shown
    assert fates(cli) == [fate]


# --- in the restore flow ---


def saved(cli: Cli) -> None:
    cli.ok("save", "column-rename", "--next", "Run pytest tests/models")


@pytest.mark.accept(100)
def test_resume_does_not_mention_prompts_when_none_wait(cli: Cli) -> None:
    saved(cli)

    assert "prompt" not in cli.ok("resume", "--accept").out
    assert cli.json("resume", "column-rename", "--accept")["prompts"] == []
    with cli.terminal("resume", "column-rename", "--accept") as terminal:
        assert "Run it now" not in terminal.rest()


def test_resume_shows_an_agent_which_prompts_wait(cli: Cli, store: Store) -> None:
    saved(cli)
    keep(store, FIRST, SECOND)

    result = cli.json("resume", "--accept")

    assert [row["text"] for row in result["prompts"]] == [FIRST, SECOND]
    text = cli.ok("resume", "column-rename", "--accept").out
    assert "2 prompts were never answered: see `leftoff prompts list`" in text


def test_a_prompt_of_an_earlier_session_may_have_been_dealt_with_since(
    cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(cli)
    keep(store, FIRST)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-new")

    text = cli.ok("resume", "column-rename", "--accept").out

    hint = "1 prompt of an earlier session may still be unanswered: see `leftoff prompts list`"
    assert hint in text.splitlines()[-1]


@pytest.mark.accept(101)
@pytest.mark.parametrize(
    ("answer", "printed", "fate"),
    [
        ("y", f"The user asked (2026-11-15 18:37):\n > {FIRST}\n", "replayed"),
        ("n", "Dropped 1 prompt; to undo, run: leftoff prompts restore ", "dropped"),
    ],
)
def test_resume_on_a_terminal_offers_to_run_the_prompt(
    cli: Cli, store: Store, answer: str, printed: str, fate: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        inside(patch, "s-old")
        saved(cli)
    keep(store, FIRST)

    with cli.terminal("resume") as terminal:
        terminal.expect("[Y/n]")
        terminal.answer("yes")
        assert f"Your previous prompt was: {FIRST}" in terminal.expect("Run it now?")
        terminal.expect("[Y/n/edit]")
        terminal.answer(answer)
        assert terminal.rest().partition("\n")[2].startswith(printed)

    assert fates(cli) == [fate]


AGENT = """\
#!/bin/sh
for last; do :; done
printf 'asked to: %s\\n' "$last"
"""


@pytest.mark.parametrize("text", [FIRST, "--version"])
def test_the_agent_that_resume_starts_gets_the_prompt(
    cli: Cli, store: Store, tmp_path: Path, text: str
) -> None:
    env = _install_agent(tmp_path)
    saved(cli)
    keep(store, text)

    with cli.terminal("resume", "column-rename", env=env) as terminal:
        terminal.expect("[Y/n]")
        terminal.answer("")
        terminal.expect("[Y/n/edit]")
        terminal.answer("")
        terminal.expect("[Claude/n]")
        terminal.answer("")
        printed = terminal.rest()

    # Without hooks, the briefing is the first part of the prompt.
    asked = printed.partition("asked to: ")[2]
    assert asked.startswith(f"{hand_over.INTRODUCTION}\n<leftoff-briefing>")
    assert asked.endswith(f"</leftoff-briefing>\n\n{text if text == FIRST else f' {text}'}\n")
    assert fates(cli) == ["replayed"]


def test_an_interrupt_before_the_agent_starts_leaves_the_prompt_in_the_queue(
    cli: Cli, store: Store, tmp_path: Path
) -> None:
    saved(cli)
    keep(store, FIRST)

    with cli.terminal("resume", "column-rename", env=_install_agent(tmp_path)) as terminal:
        terminal.expect("[Y/n]")
        terminal.answer("")
        terminal.expect("[Y/n/edit]")
        terminal.answer("")
        terminal.expect("[Claude/n]")
        terminal.leave("c")

    assert waiting(cli) == [FIRST]
    assert cli.json("show", "column-rename")["state"] == "open"


def _install_agent(folder: Path) -> dict[str, str]:
    (folder / "programs").mkdir()
    program = folder / "programs" / "claude"
    program.write_text(AGENT, encoding="utf-8")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}


@pytest.mark.parametrize("owner", ["", "s-new"])
def test_resuming_other_work_and_answering_n_drops_no_prompt(
    cli: Cli, store: Store, owner: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if owner:
            inside(patch, owner)
        saved(cli)
    keep(store, FIRST)

    with cli.terminal("resume", "--accept") as terminal:
        terminal.expect("Run it now?")
        terminal.answer("n")
        assert "Kept 1 prompt" in terminal.rest()

    assert waiting(cli) == [FIRST]


def test_a_slash_command_is_not_a_prompt(cli: Cli, store: Store) -> None:
    keep(store, "/model opus", "/review 12", "/etc/hosts is wrong", FIRST)

    assert waiting(cli) == ["/etc/hosts is wrong", FIRST]


@pytest.mark.accept(101)
def test_resume_on_a_terminal_lets_the_prompt_be_edited(cli: Cli, store: Store) -> None:
    saved(cli)
    keep(store, FIRST)

    with cli.terminal("resume", "--accept") as terminal:
        terminal.expect("[Y/n/edit]")
        terminal.answer("edit")
        terminal.expect("then a line with only `.`:")
        terminal.answer("rename the table")
        terminal.answer(".")
        assert terminal.rest().endswith("\n > rename the table\n")

    assert waiting(cli) == []


def test_declining_asks_nothing_more(cli: Cli, store: Store) -> None:
    saved(cli)
    keep(store, FIRST)

    with cli.terminal("resume") as terminal:
        terminal.expect("[Y/n]")
        terminal.answer("no")
        assert "Run it now" not in terminal.rest()

    assert waiting(cli) == [FIRST]
