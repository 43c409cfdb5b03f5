"""A save that meets trouble loses nothing, and one sentence says what to do."""

import json
import os
from pathlib import Path

import pytest

from cli.runs import Cli, truth
from gitrepo import Repo
from leftoff.context import state_folder

GOOD = (
    "--summary=Validate the login form",
    "--left-off=src/login.py checks the mail address; the password is not checked yet",
    "--done=Wrote tests/test_login.py, 4 of 6 pass",
    "--next=Run pytest tests/test_login.py and make test_password pass",
)


@pytest.mark.accept(4)
def test_outside_git_everything_works_and_the_branch_is_unknown(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.chdir(plain)
    saved = cli.json("save", "login-form", *GOOD)

    assert "on branch unknown" in cli.ok("show", "login-form").out
    assert Path(saved["path"]).is_relative_to(tmp_path / "home" / ".local" / "state" / "leftoff")
    assert cli.json("resume")["checks"]["branch"] == {
        "saved": None,
        "now": None,
        "same": True,
        "is_gone": False,
    }
    assert not [*plain.iterdir()]


def test_without_git_on_the_path_the_branch_is_still_known(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = cli.process("save", "login-form", *GOOD, env={"PATH": str(empty)})

    assert done.returncode == 0, done.stderr
    shown = cli.json("show", "login-form")
    assert (shown["branch"], shown["head"]) == ("main", repo.head())


def test_worktrees_share_the_store_and_submodules_have_their_own(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repo.worktree(tmp_path / "other", "side")
    for number in range(300):
        # Of worktrees that were deleted by hand git keeps such folders.
        (repo.folder / ".git" / "worktrees" / f"gone-{number}").mkdir()
    inner = Repo(tmp_path / "inner")
    inner.commit("Inner")
    repo.git("submodule", "--quiet", "add", str(inner.folder), "sub")
    monkeypatch.chdir(other.folder)
    cli.ok("save", "in-worktree", *GOOD)
    monkeypatch.chdir(repo.folder)

    assert [each["name"] for each in cli.json("list")] == ["in-worktree"]
    monkeypatch.chdir(repo.folder / "sub")
    saved = cli.json("save", "in-submodule", *GOOD)
    assert Path(saved["path"]).is_relative_to(repo.folder / ".git" / "modules" / "sub")
    assert [each["name"] for each in cli.json("list")] == ["in-submodule"]


def test_huge_texts_and_lists_are_cut_and_reported(cli: Cli) -> None:
    fields = json.dumps({"notes": ["word " * 1_000_000], "summary": "Short one"})
    result = cli.ok("save", "login-form", "--from-json", "-", stdin=fields)
    many = cli.ok("save", "many-steps", *GOOD, *["--done=step done"] * 10_000)

    assert "notes was longer than 4000 characters and was shortened." in result.err
    assert "done had 10001 entries; the first 200 were kept." in many.err
    assert len(cli.json("show", "login-form")["notes"][0]) == 4000
    assert len(cli.json("show", "many-steps")["done"]) == 200


def test_files_of_every_kind_are_taken_and_none_is_waited_for(cli: Cli, repo: Repo) -> None:
    os.mkfifo(repo.folder / "fifo")
    (repo.folder / "loop").symlink_to("loop")
    (repo.folder / "folder").mkdir()
    repo.write("two\nlines")
    named = ("fifo", "loop", "folder", "two\nlines", "missing", "../outside", "~nobody/x", "~")
    flags = [part for path in named for part in ("--file", path)]
    saved = cli.json("save", "login-form", *GOOD, *flags, "--plan", "loop")

    missing = [each for each in saved["warnings"] if each.startswith("There is no file")]
    assert [each.rpartition("/")[2].split()[-1] for each in missing] == [
        "loop", "missing", "outside", "x"
    ]  # fmt: skip
    states = {each["path"]: each["state"] for each in cli.json("resume")["checks"]["files"]}
    assert states["fifo"] == states["folder"] == states["two\nlines"] == "same"
    assert states["missing"] == "missing"


@pytest.mark.parametrize("flag", ["--file", "--plan"])
def test_what_cannot_be_a_path_is_refused(cli: Cli, stored: Path, flag: str) -> None:
    result = cli("save", "login-form", *GOOD, flag, "x" * 5000)

    assert result.code == 2
    assert "is not a valid file path" in result.err
    assert not truth(stored)


def test_stray_bytes_in_texts_and_file_names_are_kept_readable(cli: Cli, repo: Repo) -> None:
    path = os.fsencode(repo.folder) + b"/caf\xe9.txt"
    with open(path, "wb") as file:  # noqa: PTH123 - a name that is not UTF-8
        file.write(b"text")
    done = cli.process(
        b"save", b"login-form", b"--summary=bad \xff byte", b"--file", b"caf\xe9.txt", b"--json"
    )

    assert done.returncode == 0, done.stderr
    shown = cli.json("show", "login-form")
    assert shown["summary"] == r"bad \xff byte"
    assert shown["files"][0]["path"] == r"caf\xe9.txt"
    assert shown["files"][0]["size"] == 4
    assert cli.json("resume")["checks"]["files"][0]["state"] == "same"


def test_a_closed_stdin_is_reported(cli: Cli) -> None:
    done = cli.shell("leftoff save login-form --from-json - <&-")

    assert done.returncode == 2
    assert "standard input is closed" in done.stderr


@pytest.mark.accept(86)
def test_when_nothing_can_be_written_the_save_fails_in_one_sentence(cli: Cli, stored: Path) -> None:
    stored.write_text("in the way")
    state_folder().mkdir(parents=True)
    (state_folder() / "fallback").write_text("in the way too")
    result = cli("save", "login-form", *GOOD)

    assert result.code == 1
    assert result.err.startswith("leftoff: Nothing could be written: ")
    assert len(result.err.splitlines()) == 2


def test_a_store_that_cannot_be_written_is_reported_and_the_save_is_kept(
    cli: Cli, stored: Path
) -> None:
    stored.write_text("in the way")
    result = cli.ok("save", "login-form", *GOOD)

    assert "The store is not writable" in result.err
    assert "Errno" not in result.err
    assert str(state_folder() / "fallback") in result.err
    stored.unlink()
    cli.ok("save", "other-name", *GOOD)
    assert [each["name"] for each in cli.json("list")] == ["other-name", "login-form"]
    assert cli.json("show", "login-form")["path"].startswith(str(stored))


def test_a_huge_file_among_the_checkpoints_keeps_the_others_in_sight(
    cli: Cli, stored: Path
) -> None:
    cli.ok("save", "here", "--next", "Run make test")
    shard = next((stored / "checkpoints").iterdir())
    planted = shard / f"{shard.name.replace('-', '')}01T000000000Z-00000000.json"
    planted.touch()
    os.truncate(planted, 2**40)

    assert "here" in cli.ok("list").out
