"""Only what is in neither the worktree nor git is called gone."""

from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.projects.project import Project
from leftoff.snapshots.lost_files import find_lost, find_lost_of
from leftoff.snapshots.take import Reason, take_snapshot


@pytest.fixture
def project(repo: Repo) -> Project:
    repo.commit("Add files", {"a.txt": "a\n", "b.txt": "b\n"})
    repo.write("a.txt", "work\n")
    repo.write("new.txt", "new\n")
    return find_project(repo.folder)


def take(project: Project, thread: str = "t") -> str:
    taken = take_snapshot(project, Reason(trigger="turn", thread=thread))
    assert taken is not None
    return taken.id


def list_lost(project: Project, snapshot_id: str) -> list[str]:
    found = find_lost(project, snapshot_id)
    return found.paths if found is not None else []


def test_nothing_is_gone_while_all_is_there(repo: Repo, project: Project) -> None:
    taken = take(project)
    repo.write("b.txt", "more\n")

    assert list_lost(project, taken) == []


def test_the_mark_of_a_process_that_ended_is_not_gone(repo: Repo, project: Project) -> None:
    for name in ("checkpoint-4242.pidfile.lock", "server.pid"):
        repo.write(name, "pid=4242\n")
    taken = take(project)
    repo.git("clean", "-fdq")

    assert list_lost(project, taken) == ["new.txt"]


@pytest.mark.parametrize(
    "destroyers",
    [
        [("reset", "--quiet", "--hard"), ("clean", "-fdq")],
        [("stash", "--quiet", "-u"), ("stash", "drop", "--quiet")],
        [("add", "."), ("reset", "--quiet", "--hard")],
    ],
)
def test_destroyed_work_is_gone(
    repo: Repo, project: Project, destroyers: list[tuple[str, ...]]
) -> None:
    taken = take(project)
    for each in destroyers:
        repo.git(*each)

    assert list_lost(project, taken) == ["a.txt", "new.txt"]


def test_an_emptied_file_is_gone_and_one_with_newer_edits_is_not(
    repo: Repo, project: Project
) -> None:
    taken = take(project)
    repo.write("a.txt", "newer\n")
    repo.write("new.txt", "")

    assert list_lost(project, taken) == ["new.txt"]


@pytest.mark.parametrize(
    "safe",
    [
        [("add", "."), ("commit", "--quiet", "--message=Work")],
        [("stash", "--quiet", "-u")],
        [
            ("switch", "--quiet", "--create", "other"),
            ("add", "."),
            ("commit", "--quiet", "--message=Work"),
            ("switch", "--quiet", "-"),
        ],
    ],
)
def test_what_git_has_is_not_gone(
    repo: Repo, project: Project, safe: list[tuple[str, ...]]
) -> None:
    taken = take(project)
    for each in safe:
        repo.git(*each)

    assert list_lost(project, taken) == []


def test_what_was_committed_and_changed_again_is_not_gone(repo: Repo, project: Project) -> None:
    taken = take(project)
    repo.write("a.txt", "better\n")
    (repo.folder / "new.txt").rename(repo.folder / "renamed.txt")
    repo.commit("Work")

    assert list_lost(project, taken) == []


def test_a_renamed_file_is_not_gone(repo: Repo, project: Project) -> None:
    taken = take(project)
    (repo.folder / "new.txt").rename(repo.folder / "renamed.txt")

    assert list_lost(project, taken) == []


def test_work_in_a_removed_worktree_is_gone(repo: Repo, tmp_path: Path) -> None:
    tree = repo.worktree(tmp_path / "tree", "feature")
    tree.write("kept.txt", "kept\n")
    tree.write("lost.txt", "lost\n")
    take(find_project(tree.folder))
    tree.git("add", "kept.txt")
    tree.git("commit", "--quiet", "--message=Keep")
    repo.git("worktree", "remove", "--force", str(tree.folder))

    found = find_lost_of(find_project(repo.folder), "t")

    assert found is not None
    assert (found.paths, found.worktree) == (["lost.txt"], str(tree.folder))


def test_work_in_a_moved_worktree_is_not_gone(repo: Repo, tmp_path: Path) -> None:
    tree = repo.worktree(tmp_path / "tree", "feature")
    tree.write("kept.txt", "kept\n")
    take(find_project(tree.folder))
    repo.git("worktree", "move", str(tree.folder), str(tmp_path / "moved"))

    assert find_lost_of(find_project(repo.folder), "t") is None
    assert find_lost_of(find_project(tmp_path / "moved"), "t") is None


def test_only_the_last_snapshot_of_a_thread_counts(repo: Repo, project: Project) -> None:
    take(project)
    (repo.folder / "new.txt").unlink()
    take(project)
    repo.write("c.txt", "c\n")
    take(project, "another")

    assert find_lost_of(project, "t") is None
    assert find_lost_of(project, "none") is None


def test_a_snapshot_from_before_its_thread_belongs_to_its_session(
    repo: Repo, project: Project
) -> None:
    reason = Reason(trigger="command", session="s", command="git reset --hard")
    assert take_snapshot(project, reason) is not None
    repo.git("reset", "--quiet", "--hard")

    found = find_lost_of(project, "t", {"s"})

    assert found is not None
    assert found.paths == ["a.txt"]
    assert find_lost_of(project, "t", {"another", None}) is None
