"""A clone cannot supply a store, settings or notes."""

import os
from pathlib import Path

import pytest

from hostile.trees import BAIT, SECRET, below, clone, looks_bare, plant_secret, publish
from leftoff.config import load
from leftoff.context import find_project, read_environment
from talk import Talk

LEAK = 'briefing_file = "../../home/.aws/credentials"\n'


@pytest.fixture(autouse=True)
def _secret() -> None:
    plant_secret()


def test_a_cloned_folder_that_looks_like_a_repository_shows_no_file_of_the_user(
    tmp_path: Path,
) -> None:
    origin = publish(tmp_path / "origin", below("sub", looks_bare(LEAK)))
    victim = clone(origin, tmp_path / "work" / "victim")
    assert (victim.folder / "sub" / "leftoff" / "config.toml").is_file()

    reply = Talk(victim.folder / "sub").start()

    assert SECRET not in reply
    assert BAIT not in reply
    project = find_project(victim.folder / "sub")
    assert project.root == victim.folder
    assert project.store == victim.folder / ".git" / "leftoff"


@pytest.mark.parametrize("deep", ["sub", "a/b/c", "sub/sub.git", "x.git"])
@pytest.mark.parametrize("head", ["ref: refs/heads/main\n", "0" * 40 + "\n"])
def test_no_folder_of_a_clone_is_a_repository_of_its_own(
    tmp_path: Path, deep: str, head: str
) -> None:
    origin = publish(tmp_path / "origin", below(deep, looks_bare(LEAK, head=head)))
    victim = clone(origin, tmp_path / "victim")

    for start in (deep, f"{deep}/leftoff", f"{deep}/objects"):
        assert find_project(victim.folder / start) == find_project(victim.folder)


def test_a_clone_cannot_lend_the_git_folder_of_another_by_its_commondir(tmp_path: Path) -> None:
    files = {"HEAD": "ref: refs/heads/main\n", "commondir": "../evil\n"}
    evil = below("evil", looks_bare(LEAK))
    origin = publish(tmp_path / "origin", {**below("sub", files), **evil})
    victim = clone(origin, tmp_path / "victim")

    assert find_project(victim.folder / "sub").store == victim.folder / ".git" / "leftoff"


def test_a_linked_worktree_and_a_submodule_see_through_an_embedded_repository_too(
    tmp_path: Path,
) -> None:
    origin = publish(tmp_path / "origin", below("sub", looks_bare(LEAK)))
    victim = clone(origin, tmp_path / "victim")
    linked = victim.worktree(tmp_path / "linked", "topic")
    victim.git("submodule", "--quiet", "add", os.fspath(origin.folder), "module")

    assert find_project(linked.folder / "sub").store == victim.folder / ".git" / "leftoff"
    module = find_project(victim.folder / "module" / "sub")
    assert module.root == victim.folder / "module"
    assert module.store == victim.folder / ".git" / "modules" / "module" / "leftoff"


@pytest.mark.parametrize("name", [".GIT", ".Git", "git", ".git ", "GIT~1", ".gi\u200dt"])
def test_only_the_name_git_itself_uses_counts(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "plain"
    for path, text in looks_bare(LEAK).items():
        place = folder / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    assert not find_project(folder).is_git


def test_git_is_not_run_with_the_settings_of_an_embedded_repository(tmp_path: Path) -> None:
    from leftoff.git import query  # noqa: PLC0415 - only here

    files = looks_bare()
    ran = tmp_path / "ran"
    files["config"] = f'[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch {ran};:"\n'
    origin = publish(tmp_path / "origin", below("sub", files))
    victim = clone(origin, tmp_path / "victim")

    state = query.read_state(victim.folder / "sub")

    assert state is not None
    assert state.head == victim.head()
    assert not ran.exists()


def test_settings_in_the_tree_of_a_clone_count_for_nothing(tmp_path: Path) -> None:
    places = ["leftoff/config.toml", ".leftoff/config.toml", ".config/leftoff/config.toml"]
    origin = publish(tmp_path / "origin", dict.fromkeys(places, "budget = 777\n"))
    victim = clone(origin, tmp_path / "victim")

    loaded = load(find_project(victim.folder))

    assert loaded.settings.budget != 777
    assert read_environment().home not in find_project(victim.folder).store.parents
