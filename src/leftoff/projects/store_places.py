"""Find where a project's stores are, now and before `git init` or a move."""

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
    """Return the store of a folder outside any repository."""
    return environment.state_folder / "projects" / key_of(folder)


def key_of(folder: Path) -> str:
    """Return the name of a folder's store within the state folder."""
    # The name helps people; the hash distinguishes folders of the same name.
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return f"{folder.name[:40] or 'root'}-{digest}"


def folder_marks(environment: Environment) -> Path:
    """Return the folder of the marks that identify plain folders after a move."""
    return environment.state_folder / "folders"


def find_former_path(environment: Environment, folder: Path) -> Path | None:
    """Return the path that a folder had when it was marked, if it was moved since."""
    mark = find_moved(folder_marks(environment), folder)
    return mark.path if mark is not None else None


def is_used_at(environment: Environment, path: Path) -> bool:
    """Return whether the folder now at a path also uses the store named after that path."""
    return is_marked(folder_marks(environment), path)


def list_lost(environment: Environment) -> list[tuple[Path, Path]]:
    """List the stores of plain folders that no longer exist, each with the folder's path."""
    # Compute the store from the path, so that a damaged mark cannot name another folder.
    marks = lost_marks(folder_marks(environment))
    found = [(mark.path, plain_store(environment, mark.path)) for mark in marks]
    return [(folder, store) for folder, store in found if store.is_dir()]


def list_plain(environment: Environment, folder: Path) -> list[Path]:
    """List the stores that a folder had while it was a separate project."""
    place = plain_store(environment, folder)
    is_own = place.is_dir() and not is_of_another(folder_marks(environment), folder)
    return [place] if is_own else []


def list_former(environment: Environment, folder: Path) -> list[Path]:
    """List the stores that a folder had before it was moved into a repository."""
    moved = find_former_path(environment, folder)
    # If another folder at the old path uses the store now, it belongs to that folder.
    if moved is None or is_used_at(environment, moved):
        return []
    return [place] if (place := plain_store(environment, moved)).is_dir() else []


def list_below(environment: Environment, root: Path) -> list[Path]:
    """List the stores of plain folders in a worktree, except those in nested repositories."""
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
