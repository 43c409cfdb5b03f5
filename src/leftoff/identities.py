"""Identities: how a plain folder is known again after it was renamed or moved.

The store of a plain folder is named after the folder's path. A mark under the folder's inode, which
a rename keeps, tells which path that was. Inodes are used again, so a mark also names some of what
is in the folder: one of these must still be there.
"""

import os
from pathlib import Path

import msgspec

_MOST_CHILDREN = 16
_MAX_BYTES = 64 * 1024


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a folder: its path, and some of what it holds, by inode."""

    folder: str
    """Its path, each byte as one letter: JSON has no other way to hold any name."""
    children: dict[str, int] = {}

    @property
    def path(self) -> Path:
        """The path that the folder had."""
        return Path(os.fsdecode(self.folder.encode("latin-1")))


_decoder = msgspec.json.Decoder(Mark)


def write_mark(marks: Path, folder: Path) -> None:
    """Note a folder's identity, unless the same is noted already."""
    path = _place(marks, folder.stat())
    mark = Mark(folder=_text(folder), children=_children(folder))
    if read_mark(path) == mark:
        return
    marks.mkdir(mode=0o700, parents=True, exist_ok=True)
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    temp.touch(mode=0o600)
    temp.write_bytes(msgspec.json.encode(mark))
    temp.replace(path)


def find_moved(marks: Path, folder: Path) -> Mark | None:
    """Return the mark of a folder that had another path, which nothing has any more."""
    try:
        mark = read_mark(_place(marks, folder.stat()))
    except OSError:
        return None
    if mark is None or mark.folder == _text(folder) or os.path.lexists(mark.path):
        return None
    here = _children(folder, mark.children)
    return mark if here.items() & mark.children.items() else None


def lost_marks(marks: Path) -> list[Mark]:
    """List the marks of folders that are gone, or whose path is another folder's now."""
    try:
        names = sorted(os.listdir(marks))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    found = [read_mark(marks / name) for name in names if not name.startswith(".")]
    return [mark for mark in found if mark is not None and not os.path.lexists(mark.path)]


def read_mark(path: Path) -> Mark | None:
    """Read a mark; None where there is none, or none that can be read."""
    try:
        # Most folders have none, and a look is cheaper than an error.
        if not path.is_file():
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - it is open already
            mark = _decoder.decode(file.read(_MAX_BYTES))
        # A garbled one may name no path at all, which raises a ValueError.
        return mark if mark.path.is_absolute() else None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return None


def _text(path: str | Path) -> str:
    return os.fsencode(path).decode("latin-1")


def _place(marks: Path, found: os.stat_result) -> Path:
    return marks / f"{found.st_dev}-{found.st_ino}.json"


def _children(folder: Path, names: dict[str, int] | None = None) -> dict[str, int]:
    """Return some of what a folder holds: those of some names, or else folders before files."""
    try:
        with os.scandir(folder) as entries:
            found = [each for each in entries if names is None or _text(each.name) in names]
    except OSError:
        return {}
    if names is None:
        # Editors replace files, so a folder is the better witness.
        found.sort(key=lambda each: (not each.is_dir(follow_symlinks=False), each.name))
    return {_text(each.name): each.inode() for each in found[:_MOST_CHILDREN]}
