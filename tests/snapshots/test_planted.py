"""A store can come from an archive: nothing in its snapshots runs, or reaches other files."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.errors import StoreRefused
from leftoff.git.uncommitted import has_commit, read_committed
from leftoff.projects.project import Project
from leftoff.snapshots.code_patches import write_patch
from leftoff.snapshots.differences import HeadSide, SnapshotSide, list_differences
from leftoff.snapshots.lost_files import find_lost
from leftoff.snapshots.restore import restore_apart
from leftoff.snapshots.shelf import Shelf, Snapshot, StoredSnapshot, find_snapshot
from leftoff.snapshots.take import Reason, take_snapshot


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


class Trap:
    """A program that leaves a mark when it runs."""

    def __init__(self, folder: Path) -> None:
        self.mark, self.program = folder / "mark", folder / "trap"
        self.program.write_text(f"#!/bin/sh\necho ran >>'{self.mark}'\n", encoding="utf-8")
        self.program.chmod(0o755)

    def lend(self, repo: Repo) -> None:
        """Make git run the program when it misses an object."""
        for name, value in {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": str(repo.folder),
            "remote.origin.uploadpack": str(self.program),
        }.items():
            repo.git("config", name, value)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


def take(project: Project) -> Snapshot:
    taken = take_snapshot(project, Reason(trigger="manual"))
    assert taken is not None
    return taken


def find(project: Project, snapshot: Snapshot) -> StoredSnapshot:
    stored = find_snapshot(project, snapshot.id)
    assert stored is not None
    return stored


def test_a_hook_in_the_object_store_does_not_run(repo: Repo, project: Project, trap: Trap) -> None:
    repo.write("a.txt", "one\n")
    take(project)
    hooks = Shelf(project.store).objects.folder / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc"):
        (hooks / name).symlink_to(trap.program)
    repo.write("a.txt", "two\n")

    taken = take(project)

    Shelf(project.store).objects.pack()
    Shelf(project.store).remove([taken.id])
    assert not trap.mark.exists()


def test_settings_of_the_object_store_are_leftoffs_own(
    repo: Repo, project: Project, trap: Trap
) -> None:
    repo.write("a.txt", "one\n")
    taken = take(project)
    objects = Shelf(project.store).objects.folder
    trap.lend(Repo(objects, init=False))
    for each in objects.glob("objects/??/*"):
        each.unlink()

    with pytest.raises(StoreRefused):
        find_snapshot(project, taken.id)

    assert not trap.mark.exists()


def link(place: Path, away: Path) -> None:
    place.rename(away)
    place.symlink_to(away)


def link_store(objects: Path, away: Path) -> None:
    link(objects, away)


def link_objects(objects: Path, away: Path) -> None:
    link(objects / "objects", away)


def link_some_objects(objects: Path, away: Path) -> None:
    away.mkdir()
    (objects / "objects/zz").symlink_to(away)


def link_refs(objects: Path, away: Path) -> None:
    link(objects / "refs/snapshots", away)


def borrow_objects(objects: Path, away: Path) -> None:
    (objects / "objects/info/alternates").write_text(f"{away}\n", encoding="utf-8")


def borrow_settings(objects: Path, away: Path) -> None:
    (objects / "commondir").write_text(f"{away}\n", encoding="utf-8")


def put_fifo(objects: Path, away: Path) -> None:
    del away
    (objects / "HEAD").unlink()
    os.mkfifo(objects / "HEAD")


PLANTED = (
    link_store, link_objects, link_some_objects, link_refs,
    borrow_objects, borrow_settings, put_fifo,
)  # fmt: skip


@pytest.mark.parametrize("plant", PLANTED, ids=lambda each: each.__name__)
def test_a_planted_object_store_is_not_used(
    repo: Repo, project: Project, tmp_path: Path, plant: Callable[[Path, Path], None]
) -> None:
    repo.write("a.txt", "one\n")
    first = take(project)
    plant(Shelf(project.store).objects.folder, tmp_path / "elsewhere")
    away = sorted(str(each) for each in tmp_path.glob("elsewhere/**/*"))
    repo.write("a.txt", "two\n")

    with pytest.raises(StoreRefused, match="leftoff did not create"):
        find_snapshot(project, first.id)
    # The next one is kept in the user's own folder.
    stored = find(project, take(project))

    assert stored.shelf.root.is_relative_to(project.fallback)
    assert [data for _, data in stored.read(stored.content.work)] == [b"two\n"]
    assert sorted(str(each) for each in tmp_path.glob("elsewhere/**/*")) == away


def test_a_planted_cache_does_not_stop_a_snapshot(repo: Repo, project: Project) -> None:
    repo.write("a.txt", "one\n")
    take(project)
    place = Shelf(project.store).stat_cache(repo.folder)
    place.unlink()
    os.mkfifo(place)
    repo.write("a.txt", "two\n")

    stored = find(project, take(project))

    assert [data for _, data in stored.read(stored.content.work)] == [b"two\n"]


def plant_tree(objects: Path, name: str, work: list[str], absent: list[str]) -> None:
    """Replace the content of a snapshot by files with any names."""

    def git(*words: str, given: bytes = b"") -> str:
        done = subprocess.run(
            ("git", f"--git-dir={objects}", "-c", "user.name=a", "-c", "user.email=a@x", *words),
            input=given, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout.decode().strip()

    def tree(*entries: tuple[str, str, str]) -> str:
        raw = [b"%s %s\0%s" % (m.encode(), n.encode(), bytes.fromhex(s)) for m, n, s in entries]
        given = b"".join(raw)
        return git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=given)

    blob = git("hash-object", "-w", "--stdin", given=b"evil\n")
    names = git("hash-object", "-w", "--stdin", given="".join(f"{x}\0" for x in absent).encode())
    file = tree(("100644", "evil", blob))
    folders = [("40000", each, file) for each in work]
    root = tree(("100644", "absent", names), ("40000", "work", tree(*folders)))
    git("update-ref", f"refs/snapshots/{name}", git("commit-tree", root, "-m", "x"))


@pytest.mark.parametrize(
    ("work", "absent"),
    [
        ([".."], []),
        ([".git"], []),
        ([".GIT"], []),
        ([".g\N{ZERO WIDTH NON-JOINER}it"], []),
        ([], ["../precious"]),
        ([], ["a/../../precious"]),
        ([], ["/etc/passwd"]),
        ([], [".git/config"]),
    ],
)
def test_a_snapshot_cannot_name_files_outside_the_worktree(
    repo: Repo, project: Project, work: list[str], absent: list[str]
) -> None:
    repo.write("a.txt", "one\n")
    taken = take(project)
    plant_tree(Shelf(project.store).objects.folder, taken.id, work, absent)

    with pytest.raises(StoreRefused, match="outside the worktree"):
        find_snapshot(project, taken.id)
    assert find_lost(project, taken.id) is None


def test_a_restore_removes_nothing_behind_a_link_of_the_commit(
    repo: Repo, project: Project, tmp_path: Path
) -> None:
    precious = tmp_path / "documents" / "precious"
    precious.parent.mkdir()
    precious.write_text("mine\n", encoding="utf-8")
    (repo.folder / "link").symlink_to(precious.parent)
    repo.commit("Add a link", {"b.txt": "b\n"})
    repo.write("a.txt", "one\n")
    taken = take(project)
    objects = Shelf(project.store).objects.folder
    plant_tree(objects, taken.id, ["folder"], ["link/precious", "b.txt"])

    restore_apart(project, find(project, taken), tmp_path / "apart", "apart")

    assert precious.read_text(encoding="utf-8") == "mine\n"
    assert not (tmp_path / "apart" / "b.txt").exists()


def test_a_record_cannot_pass_options_to_git(repo: Repo, project: Project, tmp_path: Path) -> None:
    repo.write("a.txt", "one\n")
    taken = take(project)
    (repo.folder / "a.txt").unlink()
    precious = tmp_path / "precious"
    precious.write_text("mine\n", encoding="utf-8")
    record = msgspec.structs.replace(taken, head=f"--output={precious}")
    place = Shelf(project.store).root / "records" / f"{taken.id}.json"
    place.write_bytes(msgspec.json.encode(record))

    assert find_lost(project, taken.id) is None
    assert find_snapshot(project, taken.id) is None
    assert precious.read_text(encoding="utf-8") == "mine\n"


def test_looking_for_a_commit_fetches_nothing(
    repo: Repo, project: Project, trap: Trap, tmp_path: Path
) -> None:
    """A partial clone runs programs that its settings name, to get what is missing."""
    repo.commit("Add a file", {"b.txt": "b\n"})
    repo.write("a.txt", "one\n")
    stored = find(project, take(project))
    gone = msgspec.structs.replace(stored.record, head="1" * 40)
    foreign = StoredSnapshot(stored.shelf, gone, stored.content)
    trap.lend(repo)

    assert not has_commit(repo.folder, "1" * 40)
    assert read_committed(repo.folder, "1" * 40, "b.txt", limit=10) is None
    assert read_committed(repo.folder, "HEAD", "b.txt", limit=10) == b"b\n"
    assert [*list_differences(SnapshotSide(foreign, repo.folder), HeadSide(repo.folder))]
    with pytest.raises(Exception, match="is gone"):
        write_patch(project, foreign)
    assert restore_apart(project, foreign, tmp_path / "apart", "apart").is_base_gone
    assert not trap.mark.exists()
