"""A snapshot keeps all uncommitted code, and leaves no trace in the user's repository."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.errors import StoreRefused
from leftoff.projects.project import Project
from leftoff.snapshots.shelf import (
    Shelf,
    Snapshot,
    find_snapshot,
    list_shelves,
    list_snapshots,
)
from leftoff.snapshots.take import MAX_FILE_BYTES, Reason, _read_content, take_snapshot
from snapshots.repository_state import describe_repository

BY_HAND = Reason(trigger="manual")


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def take(project: Project) -> Snapshot:
    found = take_snapshot(project, BY_HAND)
    assert found is not None
    return found


def files_of(project: Project, snapshot: Snapshot) -> dict[str, bytes]:
    stored = find_snapshot(project, snapshot.id)
    assert stored is not None
    return {entry.path: data for entry, data in stored.read(stored.content.work)}


def test_a_clean_worktree_needs_none(project: Project) -> None:
    assert take_snapshot(project, BY_HAND) is None
    assert list_snapshots(project) == []


def test_every_kind_of_change_is_kept(repo: Repo, project: Project) -> None:
    repo.commit("Add files", {"gone.txt": "x\n", "both.txt": "old\n", "run.sh": "echo\n"})
    repo.write("both.txt", "staged\n")
    repo.git("add", "both.txt")
    repo.write("both.txt", "newer\r\n")
    (repo.folder / "gone.txt").unlink()
    (repo.folder / "run.sh").chmod(0o755)
    repo.write('odd/ü "\n\\.txt', "odd")
    (repo.folder / "link").symlink_to("no/../where")
    Path(os.fsdecode(os.fsencode(repo.folder) + b"/\xff.txt")).write_bytes(b"\0\xff")

    stored = find_snapshot(project, take(project).id)

    assert stored is not None
    assert {each.path: each.mode for each in stored.content.work} == {
        "both.txt": "100644",
        "link": "120000",
        'odd/ü "\n\\.txt': "100644",
        "run.sh": "100755",
        "\udcff.txt": "100644",
    }
    assert files_of(project, stored.record)["both.txt"] == b"newer\r\n"
    assert files_of(project, stored.record)["link"] == b"no/../where"
    assert files_of(project, stored.record)["\udcff.txt"] == b"\0\xff"
    assert [data for _, data in stored.read(stored.content.staged)] == [b"staged\n"]
    assert stored.content.absent == ["gone.txt"]


def test_the_users_repository_stays_as_it_is(repo: Repo, project: Project) -> None:
    repo.commit("Add a file", {"a.txt": "a\n"})
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("a.txt", "changed\n")
    repo.write("new.txt", "new\n")
    before = describe_repository(repo)

    take(project)

    assert describe_repository(repo) == before


def test_what_is_ignored_large_or_secret_is_left_out_and_named(
    repo: Repo, project: Project
) -> None:
    repo.commit("Ignore", {".gitignore": "build/\n"})
    repo.write("build/out.o", "o")
    repo.write("server.pem", "key")
    (repo.folder / "big.bin").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    repo.write("kept.txt", "kept")

    stored = find_snapshot(project, take(project).id)

    assert stored is not None
    assert [each.path for each in stored.content.work] == ["kept.txt"]
    assert {each.path for each in stored.content.skipped} == {"big.bin", "server.pem"}


def test_a_folder_in_the_place_of_a_file_is_not_left_out(repo: Repo, project: Project) -> None:
    repo.commit("Add a file", {"place": "x\n"})
    (repo.folder / "place").unlink()
    repo.write("place/new.txt", "new\n")

    stored = find_snapshot(project, take(project).id)

    assert stored is not None
    assert (stored.content.absent, stored.content.skipped) == (["place"], [])
    assert [each.path for each in stored.content.work] == ["place/new.txt"]


def test_nothing_new_means_no_new_snapshot(repo: Repo, project: Project) -> None:
    repo.write("new.txt", "new\n")
    first = take(project)

    assert take(project) == first
    repo.write("new.txt", "newer\n")
    assert take(project) != first
    assert len(list_snapshots(project)) == 2


def test_only_what_changed_is_stored_again(repo: Repo, project: Project) -> None:
    repo.write("large.txt", "large\n" * 1000)
    repo.write("small.txt", "1")
    take(project)
    # What was written just before a snapshot is read again by the next one.
    for name in ("large.txt", "small.txt"):
        os.utime(repo.folder / name, (1_000_000, 1_000_000))
    take(project)
    repo.write("small.txt", "22")

    assert take(project).bytes <= len("large\n" * 1000) + 2
    assert len(files_of(project, list_snapshots(project)[0][1])["large.txt"]) == 6000


def test_a_change_of_the_same_size_at_the_same_time_is_seen(repo: Repo, project: Project) -> None:
    place = repo.write("a.txt", "1111")
    os.utime(place, (1_000_000, 1_000_000))
    take(project)
    place.write_text("2222", encoding="utf-8")
    os.utime(place, (1_000_000, 1_000_000))

    assert files_of(project, take(project))["a.txt"] == b"2222"


def test_a_snapshot_outlives_its_commit(repo: Repo, project: Project) -> None:
    repo.commit("Add a file", {"a.txt": "a\n"})
    repo.write("a.txt", "work\n")
    taken = take(project)
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")

    assert files_of(project, taken)["a.txt"] == b"work\n"


def test_a_repository_without_commits(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "fresh")
    repo.write("first.txt", "first\n")
    project = find_project(repo.folder)

    taken = take(project)

    assert taken.head is None
    assert files_of(project, taken) == {"first.txt": b"first\n"}


def test_a_worktree_of_a_bare_repository(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    bare = Repo(tmp_path / "bare", init=False)
    bare.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    (tmp_path / "tree" / "new.txt").write_text("new\n", encoding="utf-8")
    project = find_project(tmp_path / "tree")

    assert files_of(project, take(project)) == {"new.txt": b"new\n"}


def test_the_heads_of_changed_submodules_are_kept(repo: Repo, tmp_path: Path) -> None:
    Repo.begun(tmp_path / "library")
    repo.git("submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    repo.commit("Add a library")
    head = Repo(repo.folder / "lib", init=False).commit("Change it", {"x.txt": "x\n"})
    project = find_project(repo.folder)

    stored = find_snapshot(project, take(project).id)

    assert stored is not None
    assert stored.content.submodules == {"lib": head}


def test_line_ends_and_filters_do_not_change_what_is_kept(repo: Repo, project: Project) -> None:
    repo.commit("Set attributes", {".gitattributes": "*.txt text eol=lf filter=evil\n"})
    repo.git("config", "filter.evil.clean", f"touch {repo.folder}/ran; cat")
    repo.git("config", "filter.evil.smudge", f"touch {repo.folder}/ran; cat")
    repo.write("a.txt", "one\r\ntwo\r\n")

    assert files_of(project, take(project))["a.txt"] == b"one\r\ntwo\r\n"
    assert not (repo.folder / "ran").exists()


def test_files_outside_a_sparse_checkout_are_not_deleted_ones(repo: Repo, project: Project) -> None:
    repo.commit("Add folders", {"in/a.txt": "a\n", "out/b.txt": "b\n"})
    repo.git("sparse-checkout", "set", "in")
    repo.write("in/a.txt", "changed\n")

    stored = find_snapshot(project, take(project).id)

    assert stored is not None
    assert stored.content.absent == []
    assert [each.path for each in stored.content.work] == ["in/a.txt"]


def test_a_file_that_grows_while_it_is_read_is_not_cut_off(repo: Repo, project: Project) -> None:
    place = repo.write("grows.txt", "small\n")
    small = place.lstat()
    with place.open("ab") as file:
        file.truncate(MAX_FILE_BYTES + 5)

    content, _ = _read_content(place, small)

    assert len(content) > MAX_FILE_BYTES
    stored = find_snapshot(project, take(project).id)
    assert stored is not None
    assert [each.path for each in stored.content.skipped] == ["grows.txt"]


def test_a_repository_inside_the_worktree_is_named_and_left_alone(
    repo: Repo, project: Project
) -> None:
    Repo.begun(repo.folder / "inner")

    stored = find_snapshot(project, take(project).id)

    assert stored is not None
    assert [each.path for each in stored.content.skipped] == ["inner/"]


def test_a_store_that_cannot_be_written_has_a_fallback(repo: Repo, project: Project) -> None:
    repo.write("new.txt", "new\n")
    project.store.mkdir()
    (project.store / "snapshots").write_text("in the way", encoding="utf-8")

    taken = take(project)

    assert files_of(project, taken) == {"new.txt": b"new\n"}
    assert Shelf(project.fallback).ids() == [taken.id]


def test_several_at_once_lose_nothing(repo: Repo, project: Project, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "second"))
    projects = [project, find_project(tmp_path / "second")]
    for number, each in enumerate(projects):
        (each.worktree / "own.txt").write_text(f"{number}\n", encoding="utf-8")

    with ThreadPoolExecutor(4) as pool:
        taken = [*pool.map(take, projects * 4)]

    for snapshot, each in zip(taken, projects * 4, strict=True):
        assert snapshot.worktree == str(each.worktree)
        assert files_of(each, snapshot)["own.txt"] == (each.worktree / "own.txt").read_bytes()


def test_what_a_repack_dropped_is_read_again(repo: Repo, project: Project) -> None:
    place = repo.write("a.txt", "once\n")
    os.utime(place, (1_000_000, 1_000_000))
    first = take(project)
    repo.write("b.txt", "b\n")
    shelf = Shelf(project.store)
    take(project)
    shelf.remove(shelf.ids())
    assert first.id not in shelf.ids()
    for each in (shelf.root / "objects.git" / "objects").glob("??/*"):
        each.unlink()

    assert files_of(project, take(project)) == {"a.txt": b"once\n", "b.txt": b"b\n"}


def test_a_full_disk_changes_nothing_and_says_why(repo: Repo, project: Project) -> None:
    repo.write("new.txt", "new\n" * 10_000)
    before = describe_repository(repo)

    said = run_with_full_disk(project)

    assert "StoreRefused" in said or "OSError" in said
    assert list_snapshots(project) == []
    assert [each for shelf in list_shelves(project) for each in shelf.root.rglob("config-*")] == []
    assert describe_repository(repo) == before
    assert files_of(project, take(project)) == {"new.txt": b"new\n" * 10_000}


def test_a_snapshot_that_fails_does_not_fill_the_disk(
    repo: Repo, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.txt", "a\n")
    take(project)
    (repo.folder / "large.bin").write_bytes(os.urandom(200_000))
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    # The real git, which may write no file above 50 KB.
    git.write_text(f'#!/bin/sh\nulimit -f 100\nexec {shutil.which("git")} "$@"\n', encoding="utf-8")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(StoreRefused):
        take_snapshot(project, BY_HAND)

    for shelf in list_shelves(project):
        left = [each for each in shelf.root.rglob("*") if each.name.startswith(("tmp_", "fast_"))]
        assert left == []


def run_with_full_disk(project: Project) -> str:
    """Take a snapshot in a process that may write no file above some bytes."""
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "from leftoff.context import find_project\n"
        "from leftoff.snapshots.take import Reason, take_snapshot\n"
        "from pathlib import Path\n"
        "try: take_snapshot(find_project(Path(sys.argv[1])), Reason(trigger='manual'))\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(project.worktree)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_four_sessions_at_once_in_processes_of_their_own(repo: Repo, project: Project) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from leftoff.context import find_project\n"
        "from leftoff.snapshots.take import Reason, take_snapshot\n"
        "project = find_project(Path(sys.argv[1]))\n"
        "for n in range(5):\n"
        "    (project.worktree / f'{sys.argv[2]}.txt').write_text(f'{n}')\n"
        "    take_snapshot(project, Reason(trigger='turn', thread=sys.argv[2]))\n"
    )
    words = [sys.executable, "-c", script, str(repo.folder)]
    running = [subprocess.Popen([*words, name]) for name in "abcd"]
    assert [each.wait(timeout=300) for each in running] == [0, 0, 0, 0]

    for _, snapshot in list_snapshots(project):
        assert f"{snapshot.thread}.txt" in files_of(project, snapshot)
    assert {each.thread for _, each in list_snapshots(project)} == {*"abcd"}
    assert files_of(project, take(project)) == {f"{name}.txt": b"4" for name in "abcd"}
