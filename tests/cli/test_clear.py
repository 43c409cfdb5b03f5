import errno
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli, save_at, truth
from gitrepo import Repo

WORK = ("--summary=Some work", "--next=Run make test", "--done=Wrote app.py")


@pytest.fixture
def three(cli: Cli) -> Cli:
    for name in ("first-thing", "second-thing", "third-thing"):
        cli.ok("save", name, *WORK)
    return cli


def names(cli: Cli) -> list[str]:
    return [each["name"] for each in cli.json("list")]


@pytest.mark.accept(23)
def test_one_is_cleared_by_name(three: Cli) -> None:
    assert three.ok("clear", "first-thing").out == 'Cleared checkpoint "first-thing"\n'
    assert names(three) == ["third-thing", "second-thing"]


@pytest.mark.accept(23)
def test_all_are_cleared_and_counted(three: Cli) -> None:
    assert three.ok("clear", "--all").out == "Cleared 3 checkpoint(s)\n"
    assert names(three) == []
    assert three.ok("clear", "--all").out == "Cleared 0 checkpoint(s)\n"


def test_several_are_cleared_each_once(three: Cli) -> None:
    result = three.json("clear", "first-thing", "First Thing", "third-thing")

    assert result == {"cleared": ["first-thing", "third-thing"]}
    assert names(three) == ["second-thing"]


def test_one_unknown_name_and_none_is_cleared(three: Cli, stored: Path) -> None:
    before = truth(stored)

    assert three("clear", "first-thing", "no-such-thing").code == 1
    assert truth(stored) == before


@pytest.mark.parametrize("arguments", [[], ["first-thing", "--all"]])
def test_it_must_be_said_which_ones(three: Cli, arguments: list[str]) -> None:
    result = three("clear", *arguments)

    assert result.code == 2
    assert "Name the checkpoints to clear, or pass --all." in result.err


@pytest.mark.accept(39)
def test_delete_moves_one_to_the_trash(three: Cli) -> None:
    assert three.ok("delete", "first-thing").out == 'Deleted checkpoint "first-thing"\n'
    assert three.json("trash")[0]["name"] == "first-thing"
    assert three("delete", "first-thing").code == 1
    assert "is already cleared" in three("delete", "first-thing").err


@pytest.mark.accept(39)
def test_the_word_autosave_deletes_nothing(three: Cli) -> None:
    result = three("delete", "autosave")

    assert result.code == 1
    assert "Cannot delete 'autosave': leftoff saved it automatically." in result.err
    assert len(names(three)) == 3


@pytest.mark.accept(39)
def test_what_one_works_on_is_deleted_only_by_force(
    three: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.ok("resume", "first-thing", "--accept")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "abc")
    three.ok("save", "of-this-session", *WORK)

    for name in ("first-thing", "of-this-session"):
        assert three("delete", name).code == 1
        assert "--force" in three("delete", name).err
        three.ok("delete", name, "--force")


@pytest.mark.accept(31)
def test_what_has_no_next_action_and_nothing_done_cannot_be_completed(cli: Cli) -> None:
    cli.ok("save", "bare-one", "--summary=Some work")
    result = cli("complete", "bare-one")

    assert result.code == 1
    assert "it has no next action" in result.err
    assert names(cli) == ["bare-one"]
    cli.ok("done", "bare-one")
    assert names(cli) == []


def test_a_completed_checkpoint_is_consumed(three: Cli) -> None:
    assert three.ok("complete", "first-thing").out.startswith('Marked "first-thing" as done\n')
    assert three.json("trash")[0]["state"] == "consumed"


@pytest.mark.accept(166)
@pytest.mark.parametrize(
    "act",
    [
        ["clear", "second-thing"],
        ["clear", "--all"],
        ["delete", "second-thing"],
        ["complete", "second-thing"],
        ["resume", "second-thing", "--decline"],
        ["save", "second-thing", "--summary=Overwritten", "--overwrite"],
    ],
)
def test_undo_brings_back_the_former_content(three: Cli, act: list[str]) -> None:
    before = three.json("list")
    contents = three.json("show", "second-thing")
    three.ok(*act)
    result = three.json("undo")

    assert "second-thing" in result["names"]
    assert strip_age(three.json("list")) == strip_age(before)
    assert three.json("show", "second-thing") == contents


def strip_age(listed: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{**each, "age_seconds": 0} for each in listed]


def test_undo_repeats_further_back_and_then_says_that_nothing_is_left(three: Cli) -> None:
    three.ok("clear", "first-thing")
    three.ok("save", "second-thing", *WORK, "--overwrite")
    three.ok("clear", "--all")

    said = [three.ok("undo").out.splitlines()[0] for _ in range(6)]

    assert said == [
        "Undid clearing second-thing, third-thing",
        "Undid saving second-thing again",
        "Undid clearing first-thing",
        "Undid saving third-thing",
        "Undid saving second-thing",
        "Undid saving first-thing",
    ]
    assert three.ok("undo").out == "Nothing to undo.\n"
    assert three.json("undo") == {"undone": None, "ids": [], "names": []}
    assert names(three) == []


def test_redo_brings_back_what_was_undone_and_says_so(three: Cli) -> None:
    three.ok("drop", "first-thing")
    three.ok("undo")
    assert "first-thing" in names(three)

    assert three.ok("redo", "--dry-run").out.startswith("Would redo dropping first-thing (")
    assert "first-thing" in names(three)
    assert three.ok("redo").out == "Redid dropping first-thing\n"
    assert "first-thing" not in names(three)
    assert three.ok("redo").out == "Nothing to redo.\n"
    assert three.json("redo") == {"redone": None, "ids": [], "names": []}


def test_undo_reverts_an_accepted_resume_before_an_older_save(three: Cli) -> None:
    three.ok("save", "second-thing", *WORK, "--overwrite")
    three.ok("resume", "first-thing", "--accept")
    before = state_of(three, "first-thing"), len(three.json("log", "second-thing")["revisions"])

    assert three.ok("undo", "--dry-run").out.startswith("Would undo resuming first-thing (")
    assert three.json("undo", "--dry-run")["would_undo"] == "resumed"
    assert state_of(three, "first-thing") == "resumed"
    assert three.json("undo")["undone"] == "resumed"

    assert state_of(three, "first-thing") == "open"
    assert before == ("resumed", 2)
    assert state_of(three, "second-thing") == "open"
    assert three.json("redo")["redone"] == "resumed"
    assert state_of(three, "first-thing") == "resumed"


def test_every_way_to_end_work_can_be_undone_and_redone(three: Cli) -> None:
    ways = {
        "dropped": ("drop", "first-thing"),
        "consumed": ("done", "first-thing"),
        "cleared": ("clear", "first-thing"),
        "declined": ("resume", "first-thing", "--decline"),
    }
    for state, words in ways.items():
        three.ok(*words)
        assert state_of(three, "first-thing") == state
        three.ok("undo")
        assert state_of(three, "first-thing") == "open"
        three.ok("redo")
        assert state_of(three, "first-thing") == state
        three.ok("undo")


def test_dropped_work_is_listed_in_the_trash_and_can_be_saved_again(three: Cli) -> None:
    assert three.ok("drop", "first-thing", "second-thing").out.startswith('Dropped "first-thing"')
    assert names(three) == ["third-thing"]
    assert "already dropped" in three("drop", "first-thing").err
    assert {each["state"] for each in three.json("trash")} == {"dropped"}
    three.ok("save", "first-thing", *WORK)
    assert "first-thing" in names(three)


def state_of(cli: Cli, name: str) -> str:
    listed = cli.json("list", "--all")
    return str(next(each["state"] for each in listed if each["name"] == name))


def test_undo_of_many_names_a_few(cli: Cli) -> None:
    for number in range(8):
        cli.ok("save", f"thing-{number}", *WORK)
    cli.ok("clear", "--all")

    assert cli.ok("undo").out.splitlines()[0].endswith(" and 3 more")


def test_the_trash_lists_and_restores(three: Cli) -> None:
    assert three.ok("trash", "list").out == "The trash is empty.\n"
    assert three.json("trash", "list") == []
    three.ok("clear", "first-thing", "second-thing")

    assert [each["name"] for each in three.json("trash")] == ["second-thing", "first-thing"]
    assert "first-thing" in three.ok("trash").out
    assert three.ok("trash", "restore", "First Thing").out == 'Restored checkpoint "first-thing"\n'
    assert three.json("trash", "restore", "second-thing")["restored"] == "second-thing"
    assert len(names(three)) == 3


def test_what_is_brought_back_behind_a_newer_one_is_reported_with_a_way_to_it(cli: Cli) -> None:
    old = cli.json("save", "login-form", "--summary=The old form")["id"]
    cli.ok("clear", "login-form")
    cli.ok("save", "login-form", "--summary=The new form")

    restored = cli.ok("trash", "restore", "login-form")

    assert f"`leftoff resume {old}`" in restored.err
    assert "The old form" in cli.ok("resume", old).out
    cli.ok("undo")
    cli.ok("undo")
    assert cli.json("list") == []
    cli.ok("undo")
    assert [each["summary"] for each in cli.json("list")] == ["The old form"]
    cli.ok("redo")
    cli.ok("redo")
    assert [each["summary"] for each in cli.json("list")] == ["The new form"]


def test_what_is_not_in_the_trash_cannot_be_restored(three: Cli) -> None:
    assert "is not in the trash" in three("trash", "restore", "first-thing").err
    assert three("trash", "restore", "no-such-thing").code == 1


def test_a_restore_can_be_undone(three: Cli) -> None:
    three.ok("clear", "first-thing")
    three.ok("trash", "restore", "first-thing")
    three.ok("undo")

    assert names(three) == ["third-thing", "second-thing"]


@pytest.fixture
def aged(cli: Cli, repo: Repo) -> Cli:
    things = ("first-thing", "second-thing", "third-thing")
    save_at(repo.folder, {name: timedelta(days=10) for name in things})
    return cli


def test_a_purge_asks_first_and_changes_nothing(aged: Cli, stored: Path) -> None:
    aged.ok("clear", "first-thing")
    before = truth(stored)
    result = aged("purge", "--older-than", "9d")

    assert result.code == 3
    assert "Delete 1 checkpoint" in result.json["question"]
    assert result.json["choices"][0]["command"] == "leftoff purge --older-than 9d --yes"
    assert truth(stored) == before


def test_a_purge_destroys_what_is_out_of_sight_and_leaves_the_rest(aged: Cli) -> None:
    cleared = aged.json("show", "first-thing")["path"]
    replaced = aged.json("show", "second-thing")["path"]
    aged.ok("clear", "first-thing")
    aged.ok("save", "second-thing", *WORK, "--overwrite")
    result = aged.json("purge", "--older-than", "9d", "--yes")

    assert len(result["purged"]) == 2
    assert not Path(cleared).exists()
    assert not Path(replaced).exists()
    assert names(aged) == ["second-thing", "third-thing"]
    assert aged.json("trash") == []


def test_a_purge_takes_what_is_open_only_on_request(aged: Cli) -> None:
    assert aged.json("purge", "--older-than=9d", "--yes") == {"purged": []}
    choice = aged("purge", "--older-than=9d", "--open").json["choices"][0]
    assert choice["command"] == "leftoff purge --older-than=9d --open --yes"
    assert aged.ok("purge", "--older-than=9d", "--open", "--yes").out == "Deleted 3 checkpoints\n"
    assert names(aged) == []


@pytest.mark.parametrize("span", ["11d", "90d", "600000d", "999999w"])
def test_a_purge_never_takes_what_is_younger(aged: Cli, span: str) -> None:
    aged.ok("clear", "--all")

    assert aged.json("purge", "--older-than", span, "--yes") == {"purged": []}
    aged.ok("undo")
    assert len(names(aged)) == 3


@pytest.mark.parametrize("span", ["", "90", "d", "-5d", "1y", "9999999d", "soon"])
def test_a_span_that_is_none_is_refused(aged: Cli, span: str) -> None:
    assert aged("purge", f"--older-than={span}", "--yes").code == 2


def test_undo_in_a_repository_that_cannot_be_read_says_so(
    three: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.ok("clear", "first-thing")
    real: Any = Path.open

    def refuse(path: Path, *words: str) -> Any:
        if path.name == "HEAD":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, *words)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        ended = three("undo")

    assert (ended.code, ended.out) == (1, "")
    assert f"{repo.folder / '.git' / 'HEAD'}: Input/output error" in ended.err
    assert three.json("undo")["names"] == ["first-thing"]


# --- without a name ---


@pytest.mark.parametrize(("verb", "expected"), [("done", 'Marked "login-form" as done'),
                                            ("drop", 'Dropped "login-form"')])  # fmt: skip
def test_the_only_open_thread_needs_no_name(cli: Cli, verb: str, expected: str) -> None:
    cli.ok("save", "login-form", "--summary=Some work", "--next=Run make")

    assert cli.ok(verb).out == f"{expected}\nRun `leftoff undo` to reopen it.\n"
    assert cli.json("list") == []


@pytest.mark.parametrize("verb", ["done", "drop", "diff"])
def test_of_several_threads_one_must_be_chosen(cli: Cli, verb: str) -> None:
    for name in ("login-form", "csv-export"):
        cli.ok("save", name, "--summary=Some work", "--next=Run make")
        cli.ok("save", name, "--summary=Some work", "--next=Run pytest", "--overwrite")

    result = cli(verb)

    assert result.code == 3
    assert {each["command"] for each in result.json["choices"]} == {
        f"leftoff {verb} login-form", f"leftoff {verb} csv-export"
    }  # fmt: skip
    assert "2 threads are open." in result.err
    with cli.terminal(verb) as terminal:
        terminal.expect("Which one do you want to ")
        terminal.answer("login")
        rest = terminal.rest()
    assert terminal.code == 0
    assert "login-form" in rest


def test_without_a_name_and_with_nothing_open_the_done_threads_are_named(cli: Cli) -> None:
    assert "Nothing is open." in cli("drop").err
    for name in ("login-form", "csv-export"):
        cli.ok("save", name, "--summary=Some work", "--next=Run make")
    cli.ok("done", "login-form")
    cli.ok("drop", "csv-export")
    nothing = "Nothing is open; 1 thread is done and 1 thread is dropped: `leftoff log` shows"

    for command in ("list", "resume"):
        assert cli.ok(command).out.startswith(nothing)
    assert nothing.replace("Nothing is open", "open     nothing") in cli.ok("status").out
    for command in ("done", "drop", "diff", "show"):
        assert nothing in cli(command).err
    assert "done                  login-form" in cli.ok("log").out
    assert "consumed" not in cli.ok("log").out + cli.ok("list", "--all").out


def test_nothing_comes_next_in_work_that_is_done(cli: Cli) -> None:
    cli.ok("save", "login-form", "--summary=Validate it", "--next=Run make test")
    cli.ok("done")

    (row,) = cli.ok("list", "--all").out.splitlines()[1:]

    assert row.endswith("done   Validate it  -")
    assert cli.json("list", "--all")[0]["next_action"] == "Run make test"


def test_several_threads_are_dropped_and_reopened_as_one(cli: Cli) -> None:
    for name in ("login-form", "csv-export"):
        cli.ok("save", name, "--summary=Some work")

    dropped = cli.ok("drop", "login-form", "csv-export").out.splitlines()

    assert dropped[2] == "Run `leftoff undo` to reopen them."
    assert cli.ok("undo").out.startswith("Undid dropping login-form, csv-export\n")
    assert len(cli.json("list")) == 2
