"""Where the working notes of a session are."""

import hashlib
import os
from pathlib import Path

from leftoff import config, profiles
from leftoff.paths import Project
from leftoff.sessionstate import FILE_NAME


def place(project: Project, settings: config.Settings | None = None) -> Path:
    """Tell where the notes are: with the profile, in the worktree if they are there, in the store.

    A file is never made in the user's own tree unless the profile keeps its files there.
    """
    known = settings or config.load(project).settings
    if known.notes == "profile" and known.profile in profiles.PROFILES:
        return profiles.load(known.profile).home(project) / FILE_NAME
    own = project.worktree / FILE_NAME
    return own if own.is_file() else _folder(project) / FILE_NAME


def _folder(project: Project) -> Path:
    """Return the folder of the worktree's notes: what is said in one is not meant for others."""
    if project.worktree == project.root:
        return project.store
    digest = hashlib.sha256(os.fsencode(project.worktree)).hexdigest()[:12]
    return project.store / "notes" / f"{project.worktree.name[:40]}-{digest}"
