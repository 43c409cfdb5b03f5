"""Trees: the folders of projects, whose links are never followed out of them.

A clone or an archive can bring a link in the place of any file or folder: `memory` that leads to
`~/.ssh`, a plan that leads to a credentials file. Whoever reads a file that a project's tree may
hold, to show it to an agent or to take it in, opens it here.
"""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_trees: set[str] = set()
_stores: set[str] = set()


def guard(folder: Path) -> None:
    """Follow no link out of this folder from now on; it must be a real path."""
    _trees.add(os.fspath(folder))


def guard_store(folder: Path) -> None:
    """Follow no link in this folder from now on, neither in its place nor anywhere below it."""
    _stores.add(os.fspath(folder))


def is_linked_store(path: Path | str) -> bool:
    """Say whether a store, or a folder in it on the way to a path, is a link.

    The path itself may be a link: whoever opens it refuses that.
    """
    place = os.path.dirname(path)  # noqa: PTH120 - every read and write asks, and Path is slow
    for store in _stores:
        if _is_below(place, store):
            return _is_link_between(place, store)
    return False


def _is_link_between(place: str, store: str) -> bool:
    while len(place) >= len(store):
        if os.path.islink(place):  # noqa: PTH114 - see above
            return True
        place = os.path.dirname(place)  # noqa: PTH120 - see above
    return False


def open_file(path: Path, *, follow: bool = False) -> int:
    """Open a regular file for reading, or raise OSError for whatever else is in its place.

    `follow` lets the file itself be a link, to another file of the same tree.
    """
    # Opening a device may do something.
    _refuse_odd(path.stat(follow_symlinks=follow), path)
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        _refuse_odd(os.fstat(descriptor), path)
        _refuse_outside(_real_path(descriptor, path), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_odd(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "It is not a regular file", os.fspath(path))


def _refuse_outside(real: str, path: Path) -> None:
    if _is_outside(real, path):
        raise OSError(errno.ELOOP, "A link leads out of the project", os.fspath(path))


def read_start(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """Read the first bytes of a regular file, as `open_file` opens it."""
    with open(open_file(path, follow=follow), "rb") as file:
        return file.read(limit)


def leads_out(path: Path) -> bool:
    """Say whether a path that is in a tree by its name is somewhere else in fact."""
    return _is_outside(os.path.realpath(path), path)


def is_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Say whether a path is in one of these folders, wherever links lead."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _is_outside(real: str, path: Path) -> bool:
    named = os.path.normpath(path)
    if real == named:
        return False
    around = [tree for tree in _trees if _is_below(named, tree)]
    # Of a tree within a tree, the inner one counts.
    return bool(around) and not _is_below(real, max(around, key=len))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _real_path(descriptor: int, path: Path) -> str:
    try:
        # What was opened, not what has the name by now.
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - it is no file's name
    except OSError:
        return os.path.realpath(path)
