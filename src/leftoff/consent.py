"""Consent: which settings of a project the user allowed on this machine, as direnv asks.

A repository from someone else, unpacked with its `.git`, brings settings along. Those that start
programs, name files or weaken a check count only once the user has agreed to that very value.
"""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from leftoff.projects.project import Project
from leftoff.projects.store_places import plain_store
from leftoff.store import disk

GUARDED = frozenset(
    {
        # What ship runs or lets pass, and what is shown to agents.
        *("verify", "not_secret", "briefing_file"),
        # Which files are read and written, the user's own beside the project among them.
        *("profile", "mirror", "notes"),
        # What stops or asks the user, or no longer does.
        *("safety", "guard", "prompts", "compaction", "confirm", "strict"),
    }
)
"""The settings that need it."""


def is_needed(project: Project) -> bool:
    """Say whether a project's settings could have come from someone else.

    What is in the user's own state folder was put there by the user.
    """
    return not project.store.is_relative_to(project.state_folder)


def is_given(project: Project, key: str, value: Any) -> bool:
    """Say whether the user allowed a value for a project."""
    # Before `git init` the same project had its settings elsewhere.
    stores = (project.store, plain_store(project.environment, project.root))
    return any(_path(project, store, key, value).is_file() for store in stores)


def give(project: Project, key: str, value: Any) -> None:
    """Allow a value for a project, on this machine."""
    path = _path(project, project.store, key, value)
    disk.ensure_folder(path.parent)
    told = {"store": str(project.store), "key": key, "value": value}
    disk.replace(path, _encode_value(told) + b"\n", temps=path.parent)


def _path(project: Project, store: Path, key: str, value: Any) -> Path:
    known = hashlib.sha256(_encode_value([str(store), key, value])).hexdigest()[:32]
    return project.state_folder / "allowed" / f"{known}.json"


def _encode_value(value: Any) -> bytes:
    return ascii(msgspec.to_builtins(value)).encode()
