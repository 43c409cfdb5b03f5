"""Replies rendered beforehand: what the letterbox prints, one line in a file per session."""

import contextlib
from pathlib import Path

from leftoff.store import disk

ASK = ".ask"
"""A reply that needs a look at the prompt: the letterbox hands it to `answer`."""


def path_of(state: Path, folder: str, agent: str, event: str, session_id: str) -> Path:
    """Tell where the letterbox looks for a reply."""
    return Path(f"{state}/replies{folder}") / f"{agent}.{event}.{session_id}"


def put(path: Path, line: str) -> None:
    """Lay a reply ready, in place of the one before."""
    disk.ensure_folder(path.parent)
    disk.replace(path, line.encode() + b"\n", temps=path.parent)


def remove(path: Path) -> None:
    """Take a reply away, in either form."""
    for each in (path, path.with_name(path.name + ASK)):
        with contextlib.suppress(OSError):
            each.unlink()


def switch(state: Path, folder: Path, *, on: bool) -> None:
    """Tell the letterbox whether it has anything to do in a folder."""
    mark = Path(f"{state}/replies{folder}") / "off"
    if on:
        mark.unlink(missing_ok=True)
    else:
        disk.ensure_folder(mark.parent)
        mark.touch(mode=0o600)
