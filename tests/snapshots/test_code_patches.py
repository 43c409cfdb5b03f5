"""A snapshot travels as a patch: `git apply` on its commit gives exactly what was there."""

import os
import subprocess
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.checkpoint import new_id
from leftoff.context import find_project
from leftoff.errors import LeftoffError
from leftoff.projects.project import Project
from leftoff.snapshots.code_patches import (
    FOLDER,
    ExportedThread,
    export_patches,
    import_patches,
    write_patch,
)
from leftoff.snapshots.shelf import Shelf, StoredSnapshot, find_snapshot, list_snapshots
from leftoff.snapshots.take import MAX_FILE_BYTES, Reason, take_snapshot
from snapshots.repository_state import describe_repository
from snapshots.test_restore import read_tree
from stores import NOON


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def take(project: Project, thread: str | None = None) -> StoredSnapshot:
    taken = take_snapshot(project, Reason(trigger="turn", thread=thread))
    assert taken is not None
    stored = find_snapshot(project, taken.id)
    assert stored is not None
    return stored


def change_all(repo: Repo) -> None:
    """Make every kind of change."""
    repo.commit(
        "Add files",
        {
            "gone.txt": "x\n", "run.sh": "echo\n", "edit.txt": "a\nb\nc\n", "becomes-link": "x\n",
            "folder/now-file": "x\n", "now-folder": "x\n", "no-newline": "1", "plain/deep": "x\n",
        },
    )  # fmt: skip
    (repo.folder / "data.bin").write_bytes(bytes(range(256)) * 40)
    repo.git("add", "data.bin")
    repo.git("commit", "--quiet", "--message=Add data")
    (repo.folder / "data.bin").write_bytes(bytes(range(255, -1, -1)) * 50)
    (repo.folder / "new.bin").write_bytes(b"\0\xff\0")
    (repo.folder / "gone.txt").unlink()
    (repo.folder / "run.sh").chmod(0o755)
    repo.write("edit.txt", "a\nB \r\nc")
    repo.write("no-newline", "2")
    repo.write("empty", "")
    (repo.folder / "becomes-link").unlink()
    (repo.folder / "becomes-link").symlink_to("edit.txt")
    (repo.folder / "folder/now-file").unlink()
    (repo.folder / "folder").rmdir()
    repo.write("folder", "file\n")
    (repo.folder / "now-folder").unlink()
    repo.write("now-folder/x.txt", "x\n").chmod(0o755)
    repo.write('odd/ü "\n\\.txt', "odd")
    Path(os.fsdecode(os.fsencode(repo.folder) + b"/\xff.txt")).write_bytes(b"diff --git a/x b/x\n")


def apply(repo: Repo, patch: bytes) -> None:
    """Do what a user does, in a clone at the commit."""
    subprocess.run(
        ("git", "apply", "--whitespace=nowarn", "-"), cwd=repo.folder, input=patch, check=True
    )


def test_git_apply_gives_exactly_what_was_there(
    repo: Repo, project: Project, tmp_path: Path
) -> None:
    change_all(repo)
    before, state = describe_repository(repo), read_tree(repo.folder)
    patch = write_patch(project, take(project))

    assert describe_repository(repo) == before
    repo.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    apply(clone, patch)
    assert read_tree(clone.folder) == state


@pytest.mark.parametrize("attributes", ["* text=auto eol=crlf", "* text eol=lf", "* -text"])
def test_line_ends_come_back_as_they_were(
    repo: Repo, project: Project, tmp_path: Path, attributes: str
) -> None:
    repo.commit("Begin", {".gitattributes": f"{attributes}\n", "a.txt": "1\n2\n3\n"})
    (repo.folder / "a.txt").unlink()
    repo.git("checkout", "--", "a.txt")
    text = (repo.folder / "a.txt").read_bytes().replace(b"2", b"two")
    (repo.folder / "a.txt").write_bytes(text)
    (repo.folder / "new.txt").write_bytes(b"1\r\n2\r\n")
    patch = write_patch(project, take(project))

    repo.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    apply(clone, patch)
    assert (clone.folder / "a.txt").read_bytes() == text
    assert (clone.folder / "new.txt").read_bytes() == b"1\r\n2\r\n"


def test_a_repository_without_commits_has_a_patch_too(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "fresh")
    repo.write("first.txt", "first\n")
    patch = write_patch(find_project(repo.folder), take(find_project(repo.folder)))

    other = Repo(tmp_path / "other")
    apply(other, patch)
    assert read_tree(other.folder) == {"first.txt": ("file", b"first\n")}


def test_the_head_of_a_submodule_is_in_the_patch(repo: Repo, tmp_path: Path) -> None:
    Repo.begun(tmp_path / "library")
    repo.git("submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    repo.commit("Add a library")
    head = Repo(repo.folder / "lib", init=False).commit("Change it", {"x.txt": "x\n"})
    project = find_project(repo.folder)

    assert f"+Subproject commit {head}".encode() in write_patch(project, take(project))


def test_without_its_commit_there_is_no_patch(repo: Repo, project: Project) -> None:
    repo.commit("Add a file", {"a.txt": "a\n"})
    repo.write("a.txt", "work\n")
    stored = take(project)
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")

    with pytest.raises(LeftoffError, match="commit below this snapshot is gone"):
        write_patch(project, stored)


def test_exported_code_is_imported_elsewhere(repo: Repo, project: Project, tmp_path: Path) -> None:
    change_all(repo)
    stored = take(project, "slot")
    repo.write("server.pem", "key")
    stored = take(project, "slot")
    done = export_patches(
        project, [ExportedThread(slot="slot", name="csv-export")], tmp_path / "out"
    )
    assert done.done == [str(tmp_path / "out" / FOLDER / "csv-export.patch")]
    assert b"left out: server.pem" in Path(done.done[0]).read_bytes()

    repo.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    there = find_project(clone.folder)
    before = describe_repository(clone)
    report = import_patches(there, tmp_path / "out", {"csv-export": "theirs"}.get)

    assert (report.done, report.problems) == ([stored.record.id], {})
    assert describe_repository(clone) == before
    ((_, record),) = list_snapshots(there)
    assert (record.thread, record.trigger, record.head) == ("theirs", "import", repo.head())
    other = find_snapshot(there, record.id)
    assert other is not None
    assert {*other.content.work} == {*stored.content.work}
    assert {*other.content.absent} == {*stored.content.absent}
    assert dict(other.read(other.content.work)) == dict(stored.read(stored.content.work))
    assert import_patches(there, tmp_path / "out", lambda _: None).done == []


def test_a_patch_that_does_not_fit_is_kept_and_named(
    repo: Repo, project: Project, tmp_path: Path
) -> None:
    repo.commit("Add a file", {"a.txt": "a\n"})
    repo.write("a.txt", "work\n")
    take(project, "slot")
    export_patches(project, [ExportedThread(slot="slot", name="work")], tmp_path)
    (tmp_path / FOLDER / "junk.patch").write_text("diff --git a/x b/x\n", encoding="utf-8")
    evil = (tmp_path / FOLDER / "work.patch").read_bytes().replace(b"a.txt", b".git/hooks/x")
    other = Repo.begun(tmp_path / "other")

    report = import_patches(find_project(other.folder), tmp_path, lambda _: None)

    assert [*report.problems.values()] == [
        "It is not a snapshot that leftoff exported.",
        f"Its commit {repo.head()[:8]} is not in this repository. Fetch it, then import again.",
    ]
    (tmp_path / FOLDER / "work.patch").write_bytes(evil)
    Shelf(project.store).remove(Shelf(project.store).ids())
    here = import_patches(project, tmp_path, lambda _: None)
    assert any(".git/hooks/x" in each for each in here.problems.values())


@pytest.mark.parametrize("sign", ["", " +"])
@pytest.mark.parametrize("kind", ["literal", "delta"])
def test_a_small_patch_of_a_huge_file_is_refused_before_git_unpacks_it(
    repo: Repo, project: Project, tmp_path: Path, kind: str, sign: str
) -> None:
    place, piece = repo.folder / "data.bin", os.urandom(65_536)
    place.write_bytes(piece)
    repo.git("add", "data.bin")
    repo.git("commit", "--quiet", "--message=Add data")
    # Git writes a file that only repeats the last one as a delta.
    place.write_bytes(bytes(MAX_FILE_BYTES + 1) if kind == "literal" else piece * 200)
    patch = repo.git("diff", "--binary", "--full-index")
    assert f"\n{kind} " in patch
    assert len(patch) < MAX_FILE_BYTES // 10
    repo.git("checkout", "--quiet", "data.bin")
    head = repo.git("rev-parse", "HEAD").strip()
    (tmp_path / FOLDER).mkdir()
    text = f"leftoff-snapshot: {new_id(NOON)}\nbase: {head}\n\n{patch}"
    text = text.replace(f"\n{kind} ", f"\n{kind} {sign}")
    (tmp_path / FOLDER / "some.patch").write_text(text, encoding="utf-8")

    report = import_patches(project, tmp_path, lambda _: None)

    assert report.done == []
    assert [each for each in report.problems.values() if "too large" in each]
    assert not Shelf(project.store).objects.exists()


def test_a_small_file_may_replace_a_large_one(repo: Repo, project: Project, tmp_path: Path) -> None:
    """The patch also has the large one, in case somebody applies it in reverse."""
    repo.write("data.bin", "\0" * (MAX_FILE_BYTES + 1))
    repo.git("add", "data.bin")
    repo.git("commit", "--quiet", "--message=Add data")
    repo.write("data.bin", "\0\1")
    stored = take(project, "slot")
    export_patches(project, [ExportedThread(slot="slot", name="work")], tmp_path)
    Shelf(project.store).remove([stored.record.id])

    report = import_patches(project, tmp_path, lambda _: None)

    assert (report.done, report.problems) == ([stored.record.id], {})
