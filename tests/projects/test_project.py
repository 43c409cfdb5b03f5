import os
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project, read_environment, state_folder
from leftoff.errors import NotAProject
from leftoff.projects.project import list_folders


def test_a_repository_keeps_its_store_in_the_git_folder(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")

    project = find_project(repo.folder)

    assert project.is_git
    assert project.root == project.worktree == repo.folder
    assert project.store == repo.folder / ".git" / "leftoff"


def test_a_subfolder_finds_its_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    deep = repo.folder / "a" / "b"
    deep.mkdir(parents=True)

    assert find_project(deep) == find_project(repo.folder)


def test_all_worktrees_share_one_store(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("First")
    other = repo.worktree(tmp_path / "other", "topic")

    here, there = find_project(repo.folder), find_project(other.folder)

    assert (here.store, here.root, here.fallback) == (there.store, there.root, there.fallback)
    assert (here.worktree, there.worktree) == (repo.folder, other.folder)


@pytest.mark.parametrize("style", ["false", "true"])
def test_a_project_is_known_with_all_its_worktrees(tmp_path: Path, style: str) -> None:
    repo = Repo(tmp_path / "repo")
    repo.git("config", "worktree.useRelativePaths", style)
    repo.commit("First")
    one, two = (repo.worktree(tmp_path / name, name).folder for name in ("one", "two"))

    assert list_folders(find_project(repo.folder)) == [repo.folder, one, two]
    assert list_folders(find_project(two)) == [two, repo.folder, one]


def test_the_nearest_repository_counts(tmp_path: Path) -> None:
    Repo(tmp_path / "outer")
    inner = Repo(tmp_path / "outer" / "inner")

    assert find_project(inner.folder).root == inner.folder


def test_a_plain_folder_keeps_its_store_in_the_state_folder(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()

    project = find_project(folder)

    assert not project.is_git
    assert project.root == folder
    assert project.store.parent == state_folder() / "projects"


def test_plain_folders_of_the_same_name_do_not_share_a_store(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "app", tmp_path / "b" / "app"
    for folder in (one, two):
        folder.mkdir(parents=True)

    assert find_project(one).store != find_project(two).store


@pytest.mark.accept(128)
def test_a_subfolder_of_a_plain_project_finds_the_store_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    find_project(folder).store.mkdir(parents=True)

    assert find_project(deep) == find_project(folder)


@pytest.mark.accept(128)
@pytest.mark.parametrize("place", ["home", "root"])
def test_home_and_root_do_not_become_projects_by_accident(place: str) -> None:
    folder = read_environment().home if place == "home" else Path("/")

    with pytest.raises(NotAProject) as refusal:
        find_project(folder)

    assert "LEFTOFF_PROJECT" in refusal.value.hint


def test_a_repository_at_home_is_not_the_project_of_a_folder_below() -> None:
    Repo(read_environment().home)
    folder = read_environment().home / "notes"
    folder.mkdir()

    assert find_project(folder).root == folder
    assert not find_project(folder).is_git


def test_a_home_that_was_named_is_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFTOFF_PROJECT", str(read_environment().home))

    assert find_project().root == read_environment().home


def test_a_folder_reached_by_a_link_is_the_folder_itself(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    (tmp_path / "link").symlink_to(repo.folder)

    assert find_project(tmp_path / "link") == find_project(repo.folder)


def test_what_only_looks_like_a_repository_is_a_plain_folder(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    (folder / ".git").mkdir(parents=True)

    assert not find_project(folder).is_git


@pytest.mark.parametrize("plant", ["fifo", "garbage", "gone"])
def test_an_odd_git_file_neither_hangs_nor_breaks(tmp_path: Path, plant: str) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    if plant == "fifo":
        os.mkfifo(folder / ".git")
    elif plant == "garbage":
        (folder / ".git").write_bytes(b"\xff\x00" * 10_000)
    else:
        (folder / ".git").write_text("gitdir: ../nowhere\n", encoding="utf-8")

    assert find_project(folder).root == folder


def test_leftoff_home_holds_all_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFTOFF_HOME", str(tmp_path / "elsewhere"))
    repo = Repo(tmp_path / "repo")

    assert state_folder() == tmp_path / "elsewhere"
    assert tmp_path / "elsewhere" in find_project(repo.folder).store.parents


def test_the_fallback_is_in_the_user_s_own_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path / "repo")
    state = tmp_path / "home" / ".local" / "state" / "leftoff"

    fallback = find_project(repo.folder).fallback
    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))

    assert fallback.parent == state / "fallback"
    assert find_project(repo.folder).fallback == fallback


@pytest.mark.parametrize("variable", ["LEFTOFF_HOME", "XDG_STATE_HOME"])
def test_the_fallback_moves_with_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    repo = Repo(tmp_path / "repo")

    monkeypatch.setenv(variable, str(tmp_path / "moved"))

    assert find_project(repo.folder).fallback.is_relative_to(tmp_path / "moved")


def test_a_name_that_is_not_text_can_be_a_project(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()

    assert find_project(folder).root == folder


def test_a_temp_folder_that_an_earlier_version_used_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path / "repo")
    project = find_project(repo.folder)
    left = tmp_path / "tmp" / f"leftoff-{os.getuid()}" / project.fallback.name
    left.mkdir(parents=True)

    assert project.strays == ()
    assert find_project(repo.folder).strays == (left,)

    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))
    assert find_project(repo.folder).strays == ()


# A repository of another user


_OTHER = 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def _give_away(*places: Path) -> None:
    for place in places:
        os.chown(place, _OTHER, -1)


@needs_root
@pytest.mark.parametrize("place", [".", ".git", "worktree"])
def test_a_repository_of_another_user_supplies_no_store(tmp_path: Path, place: str) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("First")
    folder = repo.worktree(tmp_path / "linked", "topic").folder if place == "worktree" else None
    _give_away(folder / ".git" if folder else repo.folder / place)

    project = find_project(folder or repo.folder)

    assert not project.is_git
    assert project.distrusted == (folder or repo.folder)
    assert project.store.parent == state_folder() / "projects"


@needs_root
@pytest.mark.parametrize("value", ["*", "{folder}"])
def test_a_repository_that_the_user_told_git_to_trust_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    repo = Repo(tmp_path / "repo")
    _give_away(repo.folder, repo.folder / ".git")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    text = f"[safe]\n\tdirectory = {value.format(folder=repo.folder)}\n"
    (read_environment().home / ".gitconfig").write_text(text, encoding="utf-8")

    assert find_project(repo.folder).is_git


@needs_root
def test_a_repository_s_own_settings_cannot_make_it_safe(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.git("config", "safe.directory", "*")
    _give_away(repo.folder, repo.folder / ".git")

    assert not find_project(repo.folder).is_git


@needs_root
def test_root_works_in_the_repository_of_who_called_sudo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path / "repo")
    _give_away(repo.folder, repo.folder / ".git")
    monkeypatch.setenv("SUDO_UID", str(_OTHER))

    assert find_project(repo.folder).is_git


@needs_root
def test_a_tree_of_another_user_is_one_project_with_all_its_folders(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "mounted")
    deep = repo.folder / "src" / "deep"
    deep.mkdir(parents=True)
    _give_away(repo.folder, repo.folder / ".git", deep.parent, deep)

    assert find_project(deep) == find_project(repo.folder)


@needs_root
def test_a_repository_that_another_user_put_above_ours_is_left_alone(tmp_path: Path) -> None:
    shared = Repo(tmp_path / "shared")
    _give_away(shared.folder, shared.folder / ".git")
    mine = shared.folder / "mine"
    mine.mkdir()

    project = find_project(mine)

    assert project.root == mine
    assert project.distrusted == shared.folder


def test_a_bare_repository_inside_a_worktree_counts_only_if_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = Repo(tmp_path / "outer")
    bare = Repo(outer.folder / "fixtures" / "x.git", bare=True)

    assert find_project(bare.folder).root == outer.folder

    monkeypatch.setenv("LEFTOFF_PROJECT", str(bare.folder))

    assert find_project().store == bare.folder / "leftoff"


def test_a_bare_repository_in_no_worktree_counts(tmp_path: Path) -> None:
    bare = Repo(tmp_path / "x.git", bare=True)

    assert find_project(bare.folder / "hooks").store == bare.folder / "leftoff"


def test_inside_the_git_folder_the_store_is_that_of_its_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    module = Repo(repo.folder / ".git" / "modules" / "sub", bare=True)

    assert find_project(repo.folder / ".git" / "hooks").store == repo.folder / ".git" / "leftoff"
    assert find_project(module.folder).store == module.folder / "leftoff"
