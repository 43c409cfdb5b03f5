"""Every project with a store is on the list of all projects, wherever it is now."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project, read_environment
from leftoff.projects import known_projects
from leftoff.store import Store
from stores import draft


def save(folder: Path, name: str = "work") -> None:
    with closing(Store(find_project(folder))) as store:
        store.save(draft(name), overwrite=True)


def listed() -> list[Path]:
    return known_projects.list_known(read_environment())


@pytest.fixture
def repos(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "a", tmp_path / "b\udcff"]
    for folder in folders:
        Repo(folder)
        save(folder)
    return folders


def test_a_save_adds_its_project_once(repos: list[Path], tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    save(plain)
    save(plain)

    assert sorted(listed()) == sorted([*repos, plain])


def test_a_store_of_an_earlier_version_is_added_when_it_is_listed(repos: list[Path]) -> None:
    shutil.rmtree(read_environment().state_folder / "known")

    with closing(Store(find_project(repos[0]))) as store:
        store.index()

    assert listed() == [repos[0]]


def test_looking_at_a_folder_without_a_store_adds_nothing(tmp_path: Path) -> None:
    Repo(tmp_path / "new")
    with closing(Store(find_project(tmp_path / "new"))) as store:
        store.index()

    assert listed() == []


def test_a_moved_project_is_known_by_its_new_path_only(repos: list[Path]) -> None:
    moved = repos[0].rename(repos[0].with_name("moved"))
    save(moved)

    assert sorted(listed()) == sorted([moved, repos[1]])


def test_a_project_can_be_forgotten_and_comes_back(repos: list[Path]) -> None:
    known_projects.forget(read_environment(), repos[0])
    assert listed() == [repos[1]]

    save(repos[0])
    assert sorted(listed()) == sorted(repos)


def test_damaged_marks_are_ignored(repos: list[Path]) -> None:
    folder = read_environment().state_folder / "known"
    (folder / "torn").write_text('{"folder": "/a', encoding="utf-8")
    (folder / "relative").write_text('{"folder": "a"}', encoding="utf-8")
    (folder / "nul").write_text('{"folder": "/a\\u0000b"}', encoding="utf-8")
    (folder / "link").symlink_to(folder / "torn")
    (folder / "folder").mkdir()

    assert sorted(listed()) == sorted(repos)


def test_a_state_folder_that_cannot_be_written_does_not_fail_a_save(tmp_path: Path) -> None:
    state = read_environment().state_folder
    state.mkdir(parents=True)
    (state / "known").write_text("in the way", encoding="utf-8")
    Repo(tmp_path / "a")

    save(tmp_path / "a")

    assert listed() == []
