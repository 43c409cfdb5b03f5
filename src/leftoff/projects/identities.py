"""Identities: how a plain folder is known again after it was renamed or moved.

The store of a plain folder is named after the folder's path. A mark under the folder's inode, which
a rename keeps, tells which path that was. Inodes are used again, so a mark also names some of what
is in the folder: one of these must still be there.

A store belongs to the folder that its mark names by inode, not to whatever has the path now.
"""

import os
from pathlib import Path

import msgspec

_MOST_CHILDREN = 16
_MAX_BYTES = 64 * 1024


class FolderMark(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a folder: its path, and some of what it holds, by inode."""

    folder: str
    """Its path, each byte as one letter: JSON has no other way to hold any name."""
    children: dict[str, int] = {}

    @property
    def path(self) -> Path:
        """The path that the folder had."""
        return Path(os.fsdecode(self.folder.encode("latin-1")))


_decoder = msgspec.json.Decoder(FolderMark)


def write_mark(marks: Path, folder: Path) -> None:
    """Note a folder's identity, unless the same is noted already."""
    path = _place(marks, folder.stat())
    mark = FolderMark(folder=_text(folder), children=_children(folder))
    if read_mark(path) == mark:
        return
    marks.mkdir(mode=0o700, parents=True, exist_ok=True)
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    temp.touch(mode=0o600)
    temp.write_bytes(msgspec.json.encode(mark))
    temp.replace(path)


def find_moved(marks: Path, folder: Path) -> FolderMark | None:
    """Return the mark of a folder that had another path."""
    try:
        mark = read_mark(_place(marks, folder.stat()))
    except OSError:
        return None
    if mark is None or mark.folder == _text(folder) or _is_same(folder, mark.path):
        return None
    here = _children(folder, mark.children)
    return mark if here.items() & mark.children.items() else None


def is_marked(marks: Path, folder: Path) -> bool:
    """Say whether the folder that is at a path now has a mark that names this path."""
    try:
        mark = read_mark(_place(marks, folder.stat()))
    except OSError:
        return False
    return mark is not None and mark.folder == _text(folder)


def is_of_another(marks: Path, folder: Path) -> bool:
    """Say whether the store named after a path is that of a folder that was there before."""
    if is_marked(marks, folder):
        return False
    try:
        inode = folder.stat().st_ino
    except OSError:
        return False
    found = [name for name, mark in _all_marks(marks) if mark.folder == _text(folder)]
    # The number of a disk may change when it is mounted again.
    return bool(found) and not any(name.endswith(f"-{inode}.json") for name in found)


def forget(marks: Path, folder: Path) -> None:
    """Remove the mark of a folder whose store is now kept inside it."""
    _place(marks, folder.stat()).unlink(missing_ok=True)


def lost_marks(marks: Path) -> list[FolderMark]:
    """List the marks of folders whose path nothing has any more."""
    return [mark for _, mark in _all_marks(marks) if not os.path.lexists(mark.path)]


def marks_below(marks: Path, root: Path) -> list[FolderMark]:
    """List the marks of folders at a path or below it."""
    return [mark for _, mark in _all_marks(marks) if mark.path.is_relative_to(root)]


def _all_marks(marks: Path) -> list[tuple[str, FolderMark]]:
    try:
        names = sorted(os.listdir(marks))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    found = [(name, read_mark(marks / name)) for name in names if not name.startswith(".")]
    return [(name, mark) for name, mark in found if mark is not None]


def _is_same(folder: Path, other: Path) -> bool:
    """Say whether a folder has another path too, as by a mount; a link is no path of its own."""
    try:
        return os.path.realpath(other) == str(other) and other.samefile(folder)
    except OSError:
        return False


def read_mark(path: Path) -> FolderMark | None:
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
