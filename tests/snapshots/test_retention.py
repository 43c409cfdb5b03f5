"""Snapshots stay within their limit, and the newest of each open thread always stays."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.hooks import tidy_snapshots
from leftoff.projects.project import Project
from leftoff.snapshots import retention
from leftoff.snapshots.retention import OpenThreads
from leftoff.snapshots.shelf import Shelf, find_snapshot, list_snapshots
from leftoff.snapshots.take import Reason, take_snapshot


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def take(project: Project, thread: str | None, size: int = 40_000) -> str:
    """Take a snapshot of a new file that cannot be compressed."""
    (project.worktree / "random.bin").write_bytes(os.urandom(size))
    taken = take_snapshot(project, Reason(trigger="turn", thread=thread))
    assert taken is not None
    return taken.id


def ids(project: Project) -> list[str]:
    return [each.id for _, each in list_snapshots(project)]


def test_ended_threads_go_first_and_the_newest_of_open_ones_stay(project: Project) -> None:
    kept_old = take(project, "open")
    ended = [take(project, "ended") for _ in range(3)]
    kept_new = take(project, "open")
    other = take(project, "other")

    retention.tidy(project, limit=250_000, open_threads=OpenThreads(slots={"open", "other"}))

    assert {kept_old, kept_new, other} <= {*ids(project)}
    assert ended[0] not in ids(project)
    retention.tidy(project, limit=1, open_threads=OpenThreads(slots={"open", "other"}))
    assert ids(project) == [other, kept_new]
    for each in ids(project):
        stored = find_snapshot(project, each)
        assert stored is not None
        assert [len(data) for _, data in stored.read(stored.content.work)] == [40_000]


def test_a_snapshot_older_than_its_thread_counts_for_it(project: Project) -> None:
    (project.worktree / "random.bin").write_bytes(os.urandom(40_000))
    reason = Reason(trigger="command", session="s", command="git reset --hard")
    early = take_snapshot(project, reason)
    assert early is not None
    other = take(project, None)
    known = OpenThreads(slots={"open"}, by_session={"s": "open"})

    retention.tidy(project, limit=1, open_threads=known)
    assert ids(project) == [other, early.id]
    newer = take(project, "open")
    retention.tidy(project, limit=1, open_threads=known)
    assert ids(project) == [newer, other]


def test_the_settings_of_the_project_apply(project: Project) -> None:
    for _ in range(30):
        take(project, None, size=60_000)
    (project.store / "config.toml").write_text("snapshot_limit = 1\n", encoding="utf-8")

    assert tidy_snapshots.tidy_project(project.worktree) > 0
    assert retention.measure(project) < 1_200_000


def test_below_the_limit_nothing_is_touched(project: Project) -> None:
    take(project, "t")

    assert not retention.needs_tidying(project, limit=1_000_000)
    assert retention.tidy(project, limit=1_000_000, open_threads=OpenThreads()) == 0


def test_snapshots_can_be_taken_while_others_are_packed(project: Project) -> None:
    shelf = Shelf(project.store)
    taken = [take(project, "t", 1000) for _ in range(5)]
    with ThreadPoolExecutor(2) as pool:
        packing = pool.submit(shelf.objects.pack)
        while not packing.done():
            taken.append(take(project, "t", 1000))
        packing.result()

    for each in taken:
        stored = find_snapshot(project, each)
        assert stored is not None
        assert [len(data) for _, data in stored.read(stored.content.work)] == [1000]
