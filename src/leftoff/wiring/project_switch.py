"""Turn leftoff off and on for a project; while off, hooks write no files and send no replies."""

import contextlib
from pathlib import Path

from leftoff.agents.dialects import DIALECTS
from leftoff.hooks import replies
from leftoff.projects.project import Project, list_folders
from leftoff.session import records
from leftoff.store import disk


def switch_off(project: Project) -> list[Path]:
    """Make hooks do nothing in a project; return its folders."""
    disk.ensure_folder(project.store)
    disk.touch(project.store / "off")
    _forget_running(project)
    folders, state = list_folders(project), project.state_folder
    for folder in folders:
        _remove_replies(state, folder)
        replies.switch(state, folder, on=False)
    return folders


def switch_on(project: Project) -> list[Path]:
    """Make hooks work in a project again; return its folders."""
    if disk.is_regular(project.store / "off"):
        (project.store / "off").unlink(missing_ok=True)
        disk.sync_folder(project.store)
    folders = list_folders(project)
    for folder in folders:
        replies.switch(project.state_folder, folder, on=True)
    return folders


def _forget_running(project: Project) -> None:
    # A session that runs while leftoff is off must not look like one that died.
    state = project.state_folder
    for life in records.list_lives(state, project):
        records.end_life(state, life)


def _remove_replies(state: Path, folder: Path) -> None:
    """Remove the prepared replies for a folder and all its subfolders."""
    old = replies.old_place_of(state, folder).rglob("claude.*")
    for path in [*replies.below(state, folder), *old]:
        with contextlib.suppress(OSError):
            if path.name.partition(".")[0] in DIALECTS:
                path.unlink()
