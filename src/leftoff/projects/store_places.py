"""Where the stores of projects are: now, while a folder was no repository, and before a move."""

import hashlib
import os
from pathlib import Path

from leftoff.environment import Environment
from leftoff.git.repository import repository_at
from leftoff.projects.identities import (
    find_moved,
    is_marked,
    is_of_another,
    lost_marks,
    marks_below,
)


def plain_store(environment: Environment, folder: Path) -> Path:
    """Return the store of a folder that is in no repository."""
    return environment.state_folder / "projects" / key_of(folder)


def key_of(folder: Path) -> str:
    """Return the name under which the state folder knows a folder."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return f"{folder.name[:40] or 'root'}-{digest}"


def folder_marks(environment: Environment) -> Path:
    """Return the folder of the marks by which plain folders are known again."""
    return environment.state_folder / "folders"


def find_former_path(environment: Environment, folder: Path) -> Path | None:
    """Return the path that a folder had when it was last marked, if it has another now."""
    mark = find_moved(folder_marks(environment), folder)
    return mark.path if mark is not None else None


def is_used_at(environment: Environment, path: Path) -> bool:
    """Say whether the folder that is at a path now saved there too."""
    return is_marked(folder_marks(environment), path)


def list_lost(environment: Environment) -> list[tuple[Path, Path]]:
    """List the stores of plain folders that are gone, each with the path the folder had."""
    # Named after the path, so that a garbled mark cannot name any other folder.
    marks = lost_marks(folder_marks(environment))
    found = [(mark.path, plain_store(environment, mark.path)) for mark in marks]
    return [(folder, store) for folder, store in found if store.is_dir()]


def list_plain(environment: Environment, folder: Path) -> list[Path]:
    """List the stores that a folder had while it was a project of its own."""
    place = plain_store(environment, folder)
    is_own = place.is_dir() and not is_of_another(folder_marks(environment), folder)
    return [place] if is_own else []


def list_former(environment: Environment, folder: Path) -> list[Path]:
    """List the stores that a folder had before it was moved into a repository."""
    moved = find_former_path(environment, folder)
    if moved is None or is_used_at(environment, moved):
        return []
    return [place] if (place := plain_store(environment, moved)).is_dir() else []


def list_below(environment: Environment, root: Path) -> list[Path]:
    """List the stores of plain folders in a worktree that are in no repository of their own."""
    marks = folder_marks(environment)
    found = [mark.path for mark in marks_below(marks, root) if is_marked(marks, mark.path)]
    places = [
        plain_store(environment, folder)
        for folder in found
        if not _is_in_repository_below(folder, root)
    ]
    return [place for place in places if place.is_dir()]


def _is_in_repository_below(folder: Path, root: Path) -> bool:
    around = (folder, *folder.parents)
    return any(repository_at(each) is not None for each in around[: around.index(root)])
