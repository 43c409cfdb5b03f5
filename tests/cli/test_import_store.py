"""leftoff names checkpoints that are elsewhere, and a command moves them here."""

import os
import shutil
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.context import find_project, state_folder

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def save(cli: Cli, name: str) -> None:
    cli.ok("save", name, "--summary", f"Work on {name}", "--next", "Run the tests")


def names(cli: Cli) -> set[str]:
    return {each["name"] for each in cli.json("list")}


@pytest.fixture
def plain(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Save in a plain folder, copy it as to another disk, and go to the copy."""
    folder, copy = tmp_path / "plain", tmp_path / "copy"
    folder.mkdir()
    (folder / "notes.md").write_text("notes", encoding="utf-8")
    monkeypatch.chdir(folder)
    save(cli, "one")
    shutil.copytree(folder, copy)
    monkeypatch.chdir(copy)
    return folder


def test_the_store_of_a_folder_that_is_gone_is_named_and_moved(plain: Path, cli: Cli) -> None:
    store = find_project(plain).store
    assert "import --from-store" not in cli.ok("list").err
    shutil.rmtree(plain)

    assert f"leftoff import --from-store {store}" in cli.ok("list").err
    findings = cli("doctor", "--json").json["findings"]
    assert any(str(store) in each["do"] for each in findings)
    result = cli.ok("import", "--from-store", str(store))

    assert "Moved 1 checkpoint" in result.out
    assert names(cli) == {"one"}
    assert not store.exists()
    assert "import --from-store" not in cli.ok("list").err


@pytest.mark.parametrize("has_own", [False, True])
def test_what_is_moved_becomes_private(
    plain: Path, cli: Cli, tmp_path: Path, *, has_own: bool
) -> None:
    if has_own:
        save(cli, "two")
    store = find_project(plain).store
    outside = tmp_path / "outside"
    outside.touch(mode=0o644)
    (store / "link").symlink_to(outside)
    for path in (store, *store.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)

    cli.ok("import", "--from-store", str(store))

    moved = find_project(Path.cwd()).store
    found = [path for path in (moved, *moved.rglob("*")) if not path.is_symlink()]
    assert {f"{path.stat().st_mode & 0o777:o}" for path in found if path.is_file()} == {"600"}
    assert {f"{path.stat().st_mode & 0o777:o}" for path in found if path.is_dir()} == {"700"}
    assert outside.stat().st_mode & 0o777 == 0o644


def test_moving_into_a_project_with_checkpoints_keeps_both(plain: Path, cli: Cli) -> None:
    save(cli, "two")
    store = find_project(plain).store

    assert cli.json("import", "--from-store", str(store))["imported"] == 1
    assert names(cli) == {"one", "two"}


@pytest.mark.parametrize("place", [".", "own", "gone"])
def test_what_is_not_another_store_is_refused(cli: Cli, stored: Path, place: str) -> None:
    save(cli, "one")

    result = cli("import", "--from-store", str(stored) if place == "own" else place)

    assert result.code in {1, 2}
    assert names(cli) == {"one"}


def test_without_a_source_import_says_what_it_can_do(cli: Cli) -> None:
    result = cli("import")

    assert result.code == 2
    assert "--from-store" in result.err


def test_checkpoints_from_before_leftoff_home_are_named(
    cli: Cli, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(cli, "one")
    monkeypatch.setenv("LEFTOFF_HOME", str(tmp_path / "elsewhere"))

    assert f"leftoff import --from-store {stored}" in cli.ok("list").err
    assert stored.is_dir()


@pytest.mark.parametrize("place", ["plain", "."])
def test_a_repository_names_the_store_of_a_folder_that_was_there_or_below(
    plain: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    store = find_project(plain).store
    if place == "plain":
        plain.rename(plain.with_name("renamed"))
    repo = Repo(plain.parent / place)
    # A repository that has no store yet would take those of folders in it.
    (repo.folder / ".git" / "leftoff").mkdir(mode=0o700)
    monkeypatch.chdir(repo.folder)

    assert f"leftoff import --from-store {store}" in cli.ok("list").err
    assert names(cli) == set()
    findings = cli("doctor", "--json").json["findings"]
    assert any(str(store) in each["do"] for each in findings)
    cli.ok("import", "--from-store", str(store))
    assert names(cli) == {"one"}


@needs_root
def test_a_repository_of_another_user_is_named_with_the_way_out(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for place in (repo.folder, repo.folder / ".git"):
        os.chown(place, 12345, -1)

    result = cli.ok("save", "one", "--summary", "Work", "--next", "Run the tests")

    way_out = f"git config --global --add safe.directory {repo.folder}"
    assert result.err.count(way_out) == 1
    assert way_out in cli("ship").err
    assert any(way_out in each["do"] for each in cli("doctor", "--json").json["findings"])
    assert not (repo.folder / ".git" / "leftoff").exists()
    assert any((state_folder() / "projects").iterdir())

    settings = tmp_path / "gitconfig"
    settings.write_text(f"[safe]\n\tdirectory = {repo.folder}\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))

    assert names(cli) == {"one"}
    assert way_out not in cli.ok("list").err


@pytest.mark.parametrize("other", [["--from", "guardz"], ["folder"]])
def test_a_store_is_imported_alone(cli: Cli, tmp_path: Path, other: list[str]) -> None:
    (tmp_path / "store" / "checkpoints").mkdir(parents=True)
    result = cli("import", "--from-store", str(tmp_path / "store"), *other)
    assert result.code == 2
    assert "cannot be combined" in result.err
