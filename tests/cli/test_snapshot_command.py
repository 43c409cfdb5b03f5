"""People take, list, compare and restore snapshots, and undo that."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.snapshots.shelf import Shelf
from talk import Talk


@pytest.fixture
def work(repo: Repo) -> Repo:
    """Some files are committed; one is edited, one is new."""
    repo.commit("Add files", {"a.txt": "a\n", "b.txt": "b\n"})
    repo.write("a.txt", "work\n")
    repo.write("new.txt", "new\n")
    return repo


def read(repo: Repo, name: str) -> str | None:
    place = repo.folder / name
    return place.read_text(encoding="utf-8") if place.exists() else None


def read_all(repo: Repo) -> list[str | None]:
    return [read(repo, each) for each in ("a.txt", "b.txt", "new.txt")]


def take(cli: Cli) -> str:
    return str(cli.json("snapshot")["short_id"])


def test_taking_lists_and_shows_what_is_uncommitted(work: Repo, cli: Cli) -> None:
    assert "Took snapshot" in cli.ok("snapshot").out
    assert "Nothing changed since snapshot" in cli.ok("snapshot").out
    (row,) = cli.json("snapshot", "list")
    assert (row["files"], row["absent"], row["trigger"]) == (2, 0, "manual")
    shown = cli.ok("snapshot", "show", row["short_id"]).out
    assert "as now" in shown
    assert "new.txt" in shown
    assert "Nothing is uncommitted" not in shown
    work.git("stash", "--quiet", "-u")
    assert "missing" in cli.ok("snapshot", "show", row["short_id"]).out
    assert "Nothing is uncommitted" in cli.ok("snapshot").out


def test_without_an_id_the_newest_snapshot_is_shown(work: Repo, cli: Cli) -> None:
    assert "No snapshots yet" in cli("snapshot", "show").err
    cli.ok("snapshot")
    work.write("later.txt", "later\n")
    newest = take(cli)

    shown = cli.ok("snapshot", "show")
    assert shown.out == cli.ok("snapshot", "show", newest).out
    assert "later.txt" in shown.out


def test_a_diff_shows_what_is_gone(work: Repo, cli: Cli) -> None:
    taken = take(cli)
    work.git("checkout", "--quiet", ".")

    assert "-work" in cli.ok("snapshot", "diff", taken).out
    assert "+a" in cli.ok("snapshot", "diff", taken, "HEAD").out
    assert "No differences" in cli.ok("snapshot", "diff", taken, taken).out


def test_a_restore_can_be_undone_and_redone(work: Repo, cli: Cli) -> None:
    taken = take(cli)
    work.git("reset", "--quiet", "--hard")
    work.git("clean", "-fdq")
    (work.folder / "b.txt").unlink()
    assert "leftoff undo" in cli.ok("snapshot", "restore", taken, "--here").out
    assert read_all(work) == [
        "work\n",
        "b\n",
        "new\n",
    ]

    assert f"restoring files from snapshot {taken}" in cli.ok("undo").out
    assert read_all(work) == ["a\n", None, None]

    cli.ok("redo")
    assert read_all(work) == [
        "work\n",
        "b\n",
        "new\n",
    ]


def test_undo_writes_into_no_folder_but_the_projects(work: Repo, cli: Cli, tmp_path: Path) -> None:
    taken = take(cli)
    work.git("checkout", "--quiet", ".")
    cli.ok("snapshot", "restore", taken, "--here")
    away = tmp_path / "away"
    away.mkdir()
    records = Shelf(find_project(work.folder).store).root / "records"
    for each in records.iterdir():
        each.write_text(each.read_text("utf-8").replace(str(work.folder), str(away)), "utf-8")

    result = cli("undo")

    assert result.code
    assert "not a worktree of this project" in result.err
    assert [*away.iterdir()] == []


def test_undoing_the_restore_of_one_file_leaves_the_others(work: Repo, cli: Cli) -> None:
    taken = take(cli)
    work.git("reset", "--quiet", "--hard")
    work.git("clean", "-fdq")
    cli.ok("snapshot", "restore", taken, "--file", "new.txt")
    assert [read(work, each) for each in ("a.txt", "new.txt")] == ["a\n", "new\n"]
    work.write("a.txt", "newer\n")

    cli.ok("undo")

    assert [read(work, each) for each in ("a.txt", "new.txt")] == ["newer\n", None]


def test_newer_edits_are_replaced_only_on_request(work: Repo, cli: Cli) -> None:
    taken = take(cli)
    work.write("a.txt", "newer\n")

    refused = cli("snapshot", "restore", taken, "--here")
    assert refused.code != 0
    assert read(work, "a.txt") == "newer\n"
    cli.ok("snapshot", "restore", taken, "--here", "--yes")
    assert read(work, "a.txt") == "work\n"
    cli.ok("undo")
    assert read(work, "a.txt") == "newer\n"


def test_a_save_keeps_the_code_of_its_thread(work: Repo, cli: Cli) -> None:
    cli.ok("save", "csv", "--summary", "Export orders as CSV", "--next", "Write the header")

    (row,) = cli.json("snapshot", "list", "csv")
    assert (row["trigger"], row["files"]) == ("checkpoint", 2)
    assert "2 files, with a checkpoint" in cli.ok("log", "csv").out
    work.git("stash", "--quiet", "-u")
    work.git("stash", "drop", "--quiet")
    resumed = cli.ok("resume", "csv").out
    assert "not in your worktree: uncommitted changes in 2 files" in resumed
    assert f"leftoff snapshot restore {row['short_id']} --here" in resumed


def test_the_command_that_removes_a_restored_worktree_can_be_run_as_it_is(
    work: Repo, cli: Cli, tmp_path: Path
) -> None:
    work.write("app.py", "text\n")
    folder = tmp_path / "my copy"

    told = cli.ok("snapshot", "restore", take(cli), "--to", str(folder)).out

    command = told.partition("  Remove  ")[2].partition("\n")[0]
    assert shlex.split(command)[-1] == str(folder)


def test_nothing_is_kept_if_snapshots_are_off(work: Repo, cli: Cli) -> None:
    cli.ok("config", "set", "snapshots", "off")
    cli.ok("save", "csv", "--summary", "Export orders as CSV", "--next", "Write the header")

    assert cli.json("snapshot", "list") == []
    assert not (work.folder / ".git" / "leftoff" / "snapshots").exists()


def test_status_and_doctor_show_the_size(work: Repo, cli: Cli) -> None:
    work.write("more.txt")
    take(cli)

    assert " KB in snapshots" in cli.ok("status").out
    assert "1 snapshot, " in cli("doctor").out


def test_doctor_reports_a_damaged_snapshot(work: Repo, cli: Cli) -> None:
    take(cli)
    shelf = Shelf(find_project(work.folder).store)
    for each in (shelf.root / "objects.git" / "objects").glob("??/*"):
        each.unlink()
    for each in (shelf.root / "objects.git" / "objects" / "pack").iterdir():
        each.unlink()

    assert "The newest snapshot cannot be read" in cli("doctor").out


def test_the_code_of_a_thread_goes_where_its_checkpoints_go(
    work: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv", "--summary", "Export orders as CSV", "--next", "Write the header")
    exported = cli.json("export", "--to", "sail", str(tmp_path / "out"))
    (patch,) = exported["patches"]
    assert patch == str(tmp_path / "out" / "leftoff-snapshots" / "csv.patch")
    work.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    monkeypatch.chdir(clone.folder)

    assert (
        "Imported 1 snapshot of code."
        in cli.ok("import", "--from", "sail", str(tmp_path / "out")).out.splitlines()
    )
    assert cli.json("import", "--from", "sail", str(tmp_path / "out"))["snapshots"] == 0
    (row,) = cli.json("snapshot", "list", "csv")
    assert f"leftoff snapshot restore {row['short_id']} --here" in cli.ok("resume", "csv").out
    cli.ok("snapshot", "restore", row["short_id"], "--here")
    assert read_all(clone) == ["work\n", "b\n", "new\n"]


@pytest.mark.parametrize("system", ["sail", "harness", "quoin"])
def test_the_code_of_a_thread_that_was_saved_automatically_goes_along(
    work: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    talk = Talk(work.folder)
    talk.ask("Export orders as CSV")
    talk.edit("new.txt")
    talk.say("Next I will write the header.")
    talk.fire("SessionEnd", reason="other")
    cli.ok("export", "--to", system, str(tmp_path / "out"))
    work.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    cli.ok("import", "--from", system, str(tmp_path / "out"))

    (row,) = cli.json("snapshot", "list")
    assert f"leftoff snapshot restore {row['short_id']} --here" in cli.ok("resume").out


def test_a_patch_is_for_git_apply(work: Repo, cli: Cli) -> None:
    taken = take(cli)
    patch = cli.ok("snapshot", "patch", taken).out
    work.git("stash", "--quiet", "-u")

    subprocess.run(("git", "apply"), cwd=work.folder, input=patch.encode(), check=True)

    assert read_all(work) == ["work\n", "b\n", "new\n"]


def test_a_file_can_be_named_from_a_subfolder(
    work: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.write("src/deep.txt", "deep\n")
    taken = take(cli)
    work.write("src/deep.txt", "newer\n")
    monkeypatch.chdir(work.folder / "src")

    asked = cli("snapshot", "restore", taken, "--file", "deep.txt").json
    assert asked["choices"][0]["command"].endswith(f"{taken} --file deep.txt --yes")
    cli.ok("snapshot", "restore", taken, "--file", "deep.txt", "--yes")
    assert read(work, "src/deep.txt") == "deep\n"
    work.write("src/deep.txt", "")
    cli.ok("snapshot", "restore", taken, "--file", "src/deep.txt")
    assert read(work, "src/deep.txt") == "deep\n"
    cli.ok("undo")
    assert read(work, "src/deep.txt") == ""


def test_the_commit_of_a_submodule_is_shown(work: Repo, cli: Cli, tmp_path: Path) -> None:
    Repo.begun(tmp_path / "library")
    work.git("submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    work.commit("Add a library")
    head = Repo(work.folder / "lib", init=False).commit("Change it", {"x.txt": "x\n"})

    taken = take(cli)

    assert f"submodule  lib at {head[:8]}" in cli.ok("snapshot", "show", taken).out
    assert cli.json("snapshot", "show", taken)["submodules"] == {"lib": head}


def test_a_diff_says_its_direction_and_a_restore_what_it_would_replace(
    cli: Cli, work: Repo
) -> None:
    taken = cli.json("snapshot")["short_id"]
    work.write("a.txt", "newer\n")

    heading = cli.ok("snapshot", "diff", taken).out.splitlines()[0]
    assert heading == f"From snapshot {taken} (-) to the files now (+):"
    with cli.terminal("snapshot", "restore", taken, "--here") as terminal:
        shown = terminal.expect("Replace them? [y/N] ")
        terminal.answer("")
        assert "Nothing was changed." in terminal.rest()
    assert "This replaces 1 file that has newer edits:" in shown
    assert read(work, "a.txt") == "newer\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_in_the_repository_of_another_user_it_says_why_there_is_no_snapshot(
    work: Repo, cli: Cli
) -> None:
    os.chown(work.folder / ".git", 12345, -1)

    result = cli("snapshot")

    assert result.code
    assert "belongs to another user" in result.err
    assert "git init" not in result.err
