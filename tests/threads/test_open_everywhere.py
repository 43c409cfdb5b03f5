"""The newest threads of all projects are found without reading every store."""

import os
import shutil
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project, read_environment
from leftoff.store import Store
from leftoff.threads.open_everywhere import read_newest
from stores import Clock, block, draft

HOURS = 3600


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Make three projects; the later ones were active later."""
    clock = Clock()
    made = []
    for number in range(3):
        folder = tmp_path / f"p{number}"
        Repo(folder)
        with closing(Store(find_project(folder), now=clock)) as store:
            store.save(draft(f"first-{number}"))
            store.save(draft(f"second-{number}"))
        touch(folder, clock)
        clock.now += timedelta(hours=1)
        made.append(folder)
    return made


def touch(folder: Path, clock: Clock) -> None:
    """Date the log of a store as the store's own clock would."""
    at = clock.now.timestamp()
    os.utime(folder / ".git" / "leftoff" / "events.jsonl", (at, at))


def names(limit: int = 10) -> list[str | None]:
    return [each.entry.name for each in read_newest(read_environment(), limit=limit).threads]


@pytest.mark.usefixtures("folders")
def test_the_newest_come_first_across_projects() -> None:
    assert names() == ["second-2", "first-2", "second-1", "first-1", "second-0", "first-0"]
    assert names(3) == ["second-2", "first-2", "second-1"]


@pytest.mark.usefixtures("folders")
def test_stores_that_cannot_hold_anything_newer_are_not_read() -> None:
    read: list[int] = []
    found = read_newest(read_environment(), limit=1, on_project=read.append)

    assert (read, found.is_cut, len(found.threads)) == ([1], True, 1)
    assert not read_newest(read_environment(), limit=6).is_cut


def test_ended_threads_are_left_out(folders: list[Path]) -> None:
    with closing(Store(find_project(folders[2]))) as store:
        store.record("consumed", [each.id for each in store.index().newest(9)])

    assert names(2) == ["second-1", "first-1"]


def test_projects_that_are_gone_or_cannot_be_read_do_not_hide_the_others(
    folders: list[Path],
) -> None:
    shutil.rmtree(folders[0])
    project = find_project(folders[1])
    shutil.rmtree(project.store)
    block(project)

    found = read_newest(read_environment(), limit=9)

    assert found.gone == [folders[0]]
    assert [each.entry.name for each in found.threads] == ["second-2", "first-2"]


def test_a_store_that_refuses_is_named(folders: list[Path]) -> None:
    shard = next((folders[1] / ".git" / "leftoff" / "checkpoints").iterdir())
    store = shard.parent.parent
    (store / "index.sqlite").unlink()
    shutil.rmtree(shard.parent)
    shard.parent.symlink_to(folders[2])

    found = read_newest(read_environment(), limit=9)

    assert "second-1" not in [each.entry.name for each in found.threads]
    assert [each.entry.name for each in found.threads][:2] == ["second-2", "first-2"]


def test_worktrees_of_one_repository_count_once(folders: list[Path]) -> None:
    repo = Repo(folders[0].with_name("extra"))
    linked = folders[0].with_name("linked")
    repo.commit("Start", {"a": "a"})
    repo.git("worktree", "add", "-q", str(linked))
    with closing(Store(find_project(linked))) as store:
        store.save(draft("shared"))

    assert names().count("shared") == 1
