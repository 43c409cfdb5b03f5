"""A session is offered earlier work after the project moved or became a repository."""

from contextlib import closing
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project, state_folder
from leftoff.session import records
from leftoff.store import Store
from leftoff.threads import persist
from stores import compose
from talk import Talk


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Make a plain folder with something left off in it."""
    folder = tmp_path / "around" / "plain"
    (folder / "src").mkdir(parents=True)
    with closing(Store(find_project(folder))) as store:
        plain = {"summary": "Add a login form", "next_action": {"text": "Run pytest -k login"}}
        persist.save(store, compose(plain, store), name="login-form")
    return folder


def test_after_git_init(plain: Path) -> None:
    Repo(plain)

    assert "Add a login form" in Talk(plain).start()


def test_after_git_init_and_the_first_commit(plain: Path) -> None:
    Repo(plain).commit("Begin", {"app.py": "print()\n"})

    assert "Add a login form" in Talk(plain / "src").start()


def test_after_git_init_above(plain: Path) -> None:
    Repo(plain.parent).commit("Begin")

    assert "Add a login form" in Talk(plain).start()


@pytest.mark.parametrize("name", ["renamed", "../elsewhere"])
def test_after_a_rename(plain: Path, name: str) -> None:
    new = plain.parent / name
    plain.rename(new)

    reply = Talk(new).start()

    assert "Add a login form" in reply
    assert "worktree" not in reply


@pytest.mark.parametrize("names", [["q", "r"], ["q", "plain"]])
def test_after_each_of_two_renames(plain: Path, names: list[str]) -> None:
    folder = plain
    for name in names:
        folder = folder.rename(plain.with_name(name))
        assert "Add a login form" in Talk(folder, name).start()


def test_after_a_rename_when_another_folder_has_the_old_path(plain: Path) -> None:
    new = plain.rename(plain.with_name("renamed"))
    Repo(plain).commit("Begin")

    assert "Add a login form" not in Talk(plain, "one").start()
    assert "Add a login form" in Talk(new, "two").start()


def test_a_worktree_of_its_own_is_only_told_what_another_left_off(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("Begin")
    other = repo.worktree(tmp_path / "other", "topic")
    other.git("switch", "--quiet", "--detach")
    with closing(Store(find_project(other.folder))) as store:
        plain = {"summary": "Add a login form", "next_action": {"text": "Run pytest -k login"}}
        persist.save(store, compose(plain, store), name="login-form")

    assert "Add a login form" in Talk(other.folder).start()
    text = Talk(repo.folder, "two").start()
    assert "nothing was left off here, but in other worktrees" in text
    assert "Do not continue it here unless the user asks for it." in text


def test_a_session_goes_on_through_git_init(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    talk = Talk(folder, "first")
    talk.start()
    talk.ask("Add a login form to app.py")
    talk.edit("app.py")
    talk.fire("Stop")
    Repo(folder)
    assert [
        life.session_id for life in records.list_lives(state_folder(), find_project(folder))
    ] == ["first"]

    talk.say("Next I will run the tests.")
    talk.fire("SessionEnd", reason="prompt_input_exit")

    assert "Add a login form to app.py" in Talk(folder, "second").start()
    assert records.list_lives(state_folder(), find_project(folder))[0].session_id == "second"


def test_after_git_init_above_in_the_folder_above(plain: Path) -> None:
    Repo(plain.parent).commit("Begin")

    assert "Add a login form" in Talk(plain.parent).start()
    assert "Add a login form" in Talk(plain, "two").start()


@pytest.mark.parametrize("place", ["repo/plain", "repo/src/deep/plain"])
def test_after_the_folder_was_moved_into_a_repository(plain: Path, place: str) -> None:
    repo = Repo(plain.parent / "repo")
    repo.commit("Begin", {"app.py": "print()\n"})
    with closing(Store(find_project(repo.folder))) as store:
        persist.save(store, compose({"summary": "Other work"}, store), name="other")
    new = plain.parent / place
    new.parent.mkdir(parents=True, exist_ok=True)
    plain.rename(new)

    assert "Add a login form" in Talk(new).start()
