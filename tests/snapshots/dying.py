"""Kill the taking, restoring and dropping of snapshots at every step.

Run as a program, because it forks: `dying.py FOLDER TRIAL …`.
"""

import os
import subprocess
from functools import partial
from pathlib import Path

import deaths
from deaths import Death, Fuse, Trial
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.projects.project import Project
from leftoff.snapshots.restore import restore_here
from leftoff.snapshots.retention import OpenThreads, tidy
from leftoff.snapshots.shelf import find_snapshot, list_snapshots
from leftoff.snapshots.take import Reason, take_snapshot

OLD, NEW = "old work\n", "new work\n"
NAMES = ("a.txt", "src/new.txt")
# What Python does to the disk; git is a program of its own, and may be killed with all the rest.
_STEPS = ("fsync", "link", "replace", "rename", "mkdir", "unlink", "open")


def _project(folder: Path) -> Project:
    return find_project(folder / "repo")


def _take(folder: Path) -> None:
    assert take_snapshot(_project(folder), Reason(trigger="turn", thread="t")) is not None


def _prepare(folder: Path) -> None:
    repo = Repo(folder / "repo")
    repo.commit("First", {"a.txt": "committed\n"})
    _write(folder, OLD)
    _take(folder)
    _write(folder, NEW)


def _write(folder: Path, text: str) -> None:
    repo = Repo(folder / "repo", init=False)
    for name in NAMES:
        repo.write(name, text)


def _restore(folder: Path) -> None:
    project = _project(folder)
    oldest = find_snapshot(project, list_snapshots(project)[-1][1].id)
    assert oldest is not None
    restore_here(project, oldest)


def _tidy(folder: Path) -> None:
    tidy(_project(folder), limit=1, open_threads=OpenThreads(slots={"t"}))


def _read(folder: Path) -> list[str]:
    return [(folder / "repo" / name).read_text(encoding="utf-8") for name in NAMES]


def _check_all(folder: Path, death: Death) -> None:
    """Whatever is listed can be read, git sees nothing, and the next snapshot works."""
    project = _project(folder)
    _check_listed(project)
    repo = Repo(folder / "repo", init=False)
    assert repo.git("fsck", "--unreachable") == "", death.at
    assert repo.git("for-each-ref").count("\n") == 0, death.at
    _take(folder)
    newest = find_snapshot(project, list_snapshots(project)[0][1].id)
    assert newest is not None
    now = {entry.path: data.decode() for entry, data in newest.read(newest.content.work)}
    assert [now[name] for name in NAMES] == _read(folder), death.at


def _check_listed(project: Project) -> None:
    for _, each in list_snapshots(project):
        stored = find_snapshot(project, each.id)
        assert stored is not None
        texts = {data.decode() for _, data in stored.read(stored.content.work)}
        assert texts <= {OLD, NEW}


def _check_restored(folder: Path, death: Death) -> None:
    """Each file is whole, and what was there before is in a snapshot."""
    now = _read(folder)
    assert {*now} <= {OLD, NEW}, death.at
    if OLD in now:
        project = _project(folder)
        texts = [
            data.decode()
            for _, each in list_snapshots(project)
            if (stored := find_snapshot(project, each.id)) is not None
            for _, data in stored.read(stored.content.work)
        ]
        assert NEW in texts, death.at
    deaths.lives(partial(_restore, folder))
    assert _read(folder) == [OLD, OLD], death.at
    left = [each.name for each in (folder / "repo").rglob(".leftoff-*")]
    assert left == [], (death.at, left)


def _arm(fuse: Fuse) -> None:
    """Let this process die before a step on disk, and before or after it starts git."""
    for name in _STEPS:
        setattr(os, name, deaths.wrap(getattr(os, name), fuse))
    start = subprocess.Popen.__init__

    def begin(*arguments: object, **options: object) -> None:
        fuse.step()
        start(*arguments, **options)  # type: ignore[call-overload]
        fuse.run_beside()

    setattr(subprocess.Popen, "__init__", begin)  # noqa: B010 - mypy knows it for a method


ARMS = {"steps": _arm}
TRIALS = {
    "take": Trial(_prepare, _take, lambda _: None, _check_all, arms=ARMS),
    "restore": Trial(_prepare, _restore, lambda _: None, _check_restored, arms=ARMS),
    "tidy": Trial(_prepare, _tidy, lambda _: None, _check_all, arms=ARMS),
}


if __name__ == "__main__":
    deaths.main(TRIALS)
