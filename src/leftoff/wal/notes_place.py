"""Find the file with a session's working notes."""

import os
from pathlib import Path

from leftoff import config, profiles
from leftoff.digests import sha256
from leftoff.projects.project import Project
from leftoff.session.state_file import FILE_NAME


def place(project: Project, settings: config.Settings) -> Path:
    """Return the path of the notes: in the store, unless the settings name profile or worktree.

    A clone can contain such a file, and its text would be shown as the user's own notes.
    """
    if settings.notes == "profile" and settings.profile in profiles.PROFILES:
        return profiles.load(settings.profile).home(project) / FILE_NAME
    own = project.worktree / FILE_NAME
    is_adopted = settings.notes == "worktree" or settings.follows("openclaw")
    return own if is_adopted and own.is_file() else _find_folder(project) / FILE_NAME


def find_unused(project: Project, settings: config.Settings) -> Path | None:
    """Return notes in the worktree that no setting enables, if there are any."""
    own = project.worktree / FILE_NAME
    return own if own.is_file() and place(project, settings) != own else None


def _find_folder(project: Project) -> Path:
    """Return the folder for this worktree's notes, which are not meant for other worktrees."""
    if project.worktree == project.root:
        return project.store
    digest = sha256(os.fsencode(project.worktree)).hexdigest()[:12]
    return project.store / "notes" / f"{project.worktree.name[:40]}-{digest}"
