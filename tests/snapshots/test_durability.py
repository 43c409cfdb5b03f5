"""A snapshot that counts as taken is on the disk: its files, their names, and what git needs."""

import os
from pathlib import Path

import pytest

import syncs
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.projects.project import Project
from leftoff.snapshots.shelf import Shelf, Snapshot, find_snapshot
from leftoff.snapshots.take import Reason, take_snapshot


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def take(project: Project) -> Snapshot:
    taken = take_snapshot(project, Reason(trigger="manual"))
    assert taken is not None
    return taken


def test_every_folder_with_a_new_name_is_synced_before_the_record(
    repo: Repo, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("new.txt", "new\n")
    synced = syncs.watch(monkeypatch)

    taken = take(project)

    shelf = Shelf(project.store)
    objects = shelf.objects.folder
    written = [each for each in objects.rglob("*") if each.is_file() and "/" in str(each)]
    names = {each.parent for each in written} | {each.parent.parent for each in written}
    at_record = synced.index(next(each for each in synced if taken.id in each.name))
    assert names <= {*synced[:at_record], objects.parent.parent}
    assert objects.joinpath("refs/snapshots") in synced[:at_record]


@pytest.mark.parametrize("name", ["HEAD", "config"])
def test_a_file_that_a_power_cut_left_empty_does_not_hide_the_snapshots(
    repo: Repo, project: Project, name: str
) -> None:
    repo.write("new.txt", "new\n")
    first = take(project)
    place = Shelf(project.store).objects.folder / name
    os.truncate(place, 0)

    found = find_snapshot(project, first.id)

    assert found is not None
    assert [data for _, data in found.read(found.content.work)] == [b"new\n"]
    repo.write("new.txt", "newer\n")
    assert take(project).id != first.id
    assert Path(place).read_bytes()
