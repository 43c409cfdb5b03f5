"""Where the working notes of a session are."""

import hashlib
import os
from pathlib import Path

from leftoff import config, profiles
from leftoff.projects.project import Project
from leftoff.session.state_file import FILE_NAME


def place(project: Project, settings: config.Settings) -> Path:
    """Tell where the notes are: in the store, unless the user said with the profile or worktree.

    A clone can bring such a file, and what it says would be shown as the user's own notes.
    """
    if settings.notes == "profile" and settings.profile in profiles.PROFILES:
        return profiles.load(settings.profile).home(project) / FILE_NAME
    own = project.worktree / FILE_NAME
    is_adopted = settings.notes == "worktree" or settings.follows("openclaw")
    return own if is_adopted and own.is_file() else _folder(project) / FILE_NAME


def find_unused(project: Project, settings: config.Settings) -> Path | None:
    """Return the notes in the worktree that nobody said should be used, if there are any."""
    own = project.worktree / FILE_NAME
    return own if own.is_file() and place(project, settings) != own else None


def _folder(project: Project) -> Path:
    """Return the folder of the worktree's notes: what is said in one is not meant for others."""
    if project.worktree == project.root:
        return project.store
    digest = hashlib.sha256(os.fsencode(project.worktree)).hexdigest()[:12]
    return project.store / "notes" / f"{project.worktree.name[:40]}-{digest}"
