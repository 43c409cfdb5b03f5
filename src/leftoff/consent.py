"""Record which of a project's settings the user allowed on this machine, as direnv does.

An unpacked archive of someone's repository can include its `.git`, and with it leftoff's settings.
Values that run programs, name files or weaken a check take effect only after the user agreed to
exactly that value.
"""

from pathlib import Path
from typing import Any

import msgspec

from leftoff.digests import sha256
from leftoff.projects.project import Project
from leftoff.projects.store_places import find_plain_store
from leftoff.store import disk

GUARDED = frozenset(
    {
        # What ship runs or commits, and what agents get to read.
        *("verify", "not_secret", "briefing_file"),
        # Which files leftoff reads and writes, including some outside the project.
        *("profile", "mirror", "notes"),
        # What blocks the user or asks them first.
        *("safety", "guard", "prompts", "compaction", "confirm", "strict"),
    }
)
"""The settings that need consent."""


def is_needed(project: Project) -> bool:
    """Return whether a project's settings could come from someone else.

    Settings in the user's state folder cannot: only the user writes there.
    """
    return not project.store.is_relative_to(project.state_folder)


def is_given(project: Project, key: str, value: Any) -> bool:
    """Return whether the user allowed a value for a project."""
    # `git init` moves a project's store, and consent given before it must still count.
    stores = (project.store, find_plain_store(project.environment, project.root))
    return any(_find_path(project, store, key, value).is_file() for store in stores)


def give(project: Project, key: str, value: Any) -> None:
    """Allow a value for a project, on this machine."""
    path = _find_path(project, project.store, key, value)
    disk.ensure_folder(path.parent)
    record = {"store": str(project.store), "key": key, "value": value}
    disk.replace(path, _encode_value(record) + b"\n", temps=path.parent)


def _find_path(project: Project, store: Path, key: str, value: Any) -> Path:
    known = sha256(_encode_value([str(store), key, value])).hexdigest()[:32]
    return project.state_folder / "allowed" / f"{known}.json"


def _encode_value(value: Any) -> bytes:
    return ascii(msgspec.to_builtins(value)).encode()
