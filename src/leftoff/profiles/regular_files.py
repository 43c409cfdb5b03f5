"""Read native files, but only regular ones: skip links, pipes and devices in their place."""

import heapq
import os
from pathlib import Path

from leftoff.digests import sha256
from leftoff.projects.project import open_file

# Changes in place are noticed in this many of the newest files.
_WATCHED = 20
MOST_BYTES = 32 * 1024 * 1024
"""Larger files were not written by one of these systems."""


def compute_digest(data: bytes) -> str:
    """Return the hash that identifies a content."""
    return sha256(data).hexdigest()


def read_regular(path: Path) -> tuple[bytes, os.stat_result] | None:
    """Read a regular file that is not a link; None if there is none."""
    try:
        descriptor = open_file(path)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if found.st_size > MOST_BYTES:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MOST_BYTES), found
    except OSError:
        return None
    finally:
        os.close(descriptor)


def list_names(folder: Path, suffix: str) -> list[str]:
    """List the names of a folder's files with this suffix; no paths, as there may be thousands."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - paths take ten times as long
    except OSError:
        return []
    return [name for name in names if name.endswith(suffix) and not name.startswith(".")]


def list_newest(folder: Path, suffix: str) -> list[Path]:
    """Return a folder's last files by name: those that may still change."""
    return [folder / name for name in heapq.nlargest(_WATCHED, list_names(folder, suffix))]


def find_newest_name(folder: Path, suffix: str) -> str | None:
    """Return the name, without its suffix, of a folder's file that was written last."""
    try:
        with os.scandir(folder) as found:
            files = [each for each in found if each.name.endswith(suffix) and each.is_file()]
        newest = max(files, key=lambda each: each.stat().st_mtime_ns, default=None)
    except OSError:
        return None
    return newest.name.removesuffix(suffix) if newest is not None else None
