"""Open files in a project without following links that lead out of it.

A clone or an archive can contain a link in place of any file or folder: a `memory` folder that
leads to `~/.ssh`, or a plan that leads to a credentials file. Code that reads a file from a
project's tree, to show or import it, must open it with this module.
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
    """Refuse links out of this folder from now on; the path must be resolved."""
    _trees.add(os.fspath(folder))


def guard_store(folder: Path) -> None:
    """Refuse all links in this folder from now on, including the folder itself."""
    _stores.add(os.fspath(folder))


def is_linked_store(path: Path | str) -> bool:
    """Return whether a store, or a folder between it and a path, is a link.

    The path itself is not checked: opening it refuses a link.
    """
    place = os.path.dirname(path)  # noqa: PTH120 - every read and write runs this, and Path is slow
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
    """Open a regular file for reading; raise OSError if it is anything else.

    `follow` allows the file itself to be a link to another file of the same tree.
    """
    # Opening a device can have side effects, so check the type first.
    _refuse_odd(path.stat(follow_symlinks=follow), path)
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        # Check again: the file may have been replaced before it was opened.
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
    """Read the first bytes of a regular file, with the checks of `open_file`."""
    with open(open_file(path, follow=follow), "rb") as file:
        return file.read(limit)


def leads_out(path: Path) -> bool:
    """Return whether a path in a tree leads out of it through a link."""
    return _is_outside(os.path.realpath(path), path)


def is_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is in one of these folders after following links."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _is_outside(real: str, path: Path) -> bool:
    named = os.path.normpath(path)
    # The usual case: no link on the way.
    if real == named:
        return False
    around = [tree for tree in _trees if _is_below(named, tree)]
    # In nested trees, the innermost one applies.
    return bool(around) and not _is_below(real, max(around, key=len))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _real_path(descriptor: int, path: Path) -> str:
    try:
        # Check the opened file: the name may refer to another one by now.
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - not the name of a file
    except OSError:
        # macOS has no /proc.
        return os.path.realpath(path)
