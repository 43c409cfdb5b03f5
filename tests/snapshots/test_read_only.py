"""With a `.git` that is really read-only, snapshots are still kept and restored."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.snapshots.restore import restore_here
from leftoff.snapshots.shelf import Shelf, find_snapshot, list_snapshots
from snapshots.repository_state import describe_repository

# Permissions do not stop root. A mount that is read-only stops everybody, and a namespace of its
# own keeps it from the rest of the machine.
ALONE = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--map-root-user", "--mount")
MOUNT = "mount --bind .git .git && mount -o remount,bind,ro .git"


def run_read_only(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script while `.git` is mounted read-only."""
    words = (*ALONE, "sh", "-c", f"set -e; {MOUNT}\n{script}")
    leftoff = f"{sys.executable} -m leftoff"
    return subprocess.run(
        words, cwd=folder, env={**os.environ, "leftoff": leftoff}, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip


@pytest.fixture
def work(repo: Repo) -> Repo:
    """A repository with uncommitted work, on a machine that can mount a folder read-only."""
    if shutil.which("unshare") is None:
        pytest.skip("this system has no unshare")
    tried = run_read_only(repo.folder, "! touch .git/x 2>/dev/null")
    if tried.returncode:
        pytest.skip(f"the kernel allows no read-only mount: {tried.stderr.strip()}")
    repo.commit("Add files", {"a.txt": "a\n"})
    repo.write("a.txt", "work\n")
    repo.write("new.txt", "new\n")
    return repo


def test_code_is_kept_and_comes_back(work: Repo) -> None:
    before = describe_repository(work)
    story = """
    $leftoff snapshot
    rm new.txt; echo a >a.txt
    id=$($leftoff snapshot list --json | sed -n 's/.*"short_id": "\\(.*\\)".*/\\1/p')
    $leftoff snapshot restore $id --here --yes
    cat a.txt new.txt
    $leftoff undo
    cat a.txt
    $leftoff snapshot restore $id || echo refused
    """
    played = run_read_only(work.folder, story)

    assert played.returncode == 0, played
    assert "Took snapshot" in played.stdout
    assert "work\nnew\nUndid restoring files from snapshot" in played.stdout
    assert played.stdout.endswith("refused\n")
    assert "git cannot create the worktree" in played.stderr
    assert not (work.folder / ".git/leftoff").exists()
    assert (work.folder / "a.txt").read_text(encoding="utf-8") == "a\n"
    # Once .git can be written again, everything is still known.
    project = find_project(work.folder)
    assert len(list_snapshots(project)) == len(Shelf(project.fallback).ids()) == 3
    oldest = list_snapshots(project)[-1][1]
    stored = find_snapshot(project, oldest.id)
    assert stored is not None
    restore_here(project, stored)
    assert describe_repository(work) == before


def test_a_save_and_a_resume_say_where_the_code_is(work: Repo) -> None:
    story = """
    $leftoff save csv --summary 'Export orders as CSV' --next 'Write the header'
    rm new.txt; git show HEAD:a.txt >a.txt
    $leftoff resume csv
    $leftoff status --json
    """
    played = run_read_only(work.folder, story)

    assert played.returncode == 0, played
    assert "not in your worktree: uncommitted changes in 2 files" in played.stdout
    assert json.loads(played.stdout[played.stdout.rindex("\n{\n") :])["snapshots"] > 0
