"""Find where a project's stores are, now and before `git init` or a move."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff.digests import sha256
from leftoff.git.repository import find_repository_at

if TYPE_CHECKING:
    from leftoff.context import Environment


def find_plain_store(environment: "Environment", folder: Path) -> Path:
    """Return the store of a folder outside any repository."""
    return environment.state_folder / "projects" / key_of(folder)


def key_of(folder: Path) -> str:
    """Return the name of a folder's store within the state folder."""
    # The name helps people; the hash distinguishes folders of the same name.
    digest = sha256(os.fsencode(folder)).hexdigest()[:12]
    return f"{folder.name[:40] or 'root'}-{digest}"


def find_marks_folder(environment: "Environment") -> Path:
    """Return the folder of the marks that identify plain folders after a move."""
    return environment.state_folder / "folders"


def find_former_path(environment: "Environment", folder: Path) -> Path | None:
    """Return the path that a folder had when it was marked, if it was moved since."""
    mark = find_moved(find_marks_folder(environment), folder)
    return mark.path if mark is not None else None


def is_used_at(environment: "Environment", path: Path) -> bool:
    """Return whether the folder now at a path also uses the store named after that path."""
    return is_marked(find_marks_folder(environment), path)


def list_lost(environment: "Environment") -> list[tuple[Path, Path]]:
    """List the stores of plain folders that no longer exist, each with the folder's path."""
    # Compute the store from the path, so that a damaged mark cannot name another folder.
    marks = list_lost_marks(find_marks_folder(environment))
    found = [(mark.path, find_plain_store(environment, mark.path)) for mark in marks]
    return [(folder, store) for folder, store in found if store.is_dir()]


def list_plain(environment: "Environment", folder: Path) -> list[Path]:
    """List the stores that a folder had while it was a separate project."""
    place = find_plain_store(environment, folder)
    is_own = place.is_dir() and not is_of_another(find_marks_folder(environment), folder)
    return [place] if is_own else []


def list_former(environment: "Environment", folder: Path) -> list[Path]:
    """List the stores that a folder had before it was moved into a repository."""
    moved = find_former_path(environment, folder)
    # If another folder at the old path uses the store now, it belongs to that folder.
    if moved is None or is_used_at(environment, moved):
        return []
    return [place] if (place := find_plain_store(environment, moved)).is_dir() else []


def list_below(environment: "Environment", root: Path) -> list[Path]:
    """List the stores of plain folders in a worktree, except those in nested repositories."""
    marks = find_marks_folder(environment)
    found = [mark.path for mark in list_marks_below(marks, root) if is_marked(marks, mark.path)]
    places = [
        find_plain_store(environment, folder)
        for folder in found
        if not _is_in_repository_below(folder, root)
    ]
    return [place for place in places if place.is_dir()]


def _is_in_repository_below(folder: Path, root: Path) -> bool:
    around = (folder, *folder.parents)
    return any(find_repository_at(each) is not None for each in around[: around.index(root)])


# --- folders that were renamed or moved ---
#
# The store of a plain folder is named after the folder's path. A rename keeps the folder's inode,
# so a mark under the inode records that path. File systems reuse inodes, so the mark also lists
# some of the folder's contents, and at least one of them must still be there.
#
# A store belongs to the folder with the marked inode, not to another folder that has the path now.


_MOST_CHILDREN = 16
_MAX_BYTES = 64 * 1024


class FolderMark(msgspec.Struct, frozen=True, kw_only=True):
    """A folder's path and the inodes of some of its contents."""

    folder: str
    """The path, one character per byte, because JSON cannot store names that are not UTF-8."""
    children: dict[str, int] = {}

    @property
    def path(self) -> Path:
        """The path that the folder had when it was marked."""
        return Path(os.fsdecode(self.folder.encode("latin-1")))


_decoder = msgspec.json.Decoder(FolderMark)


def write_mark(marks: Path, folder: Path) -> None:
    """Write a folder's mark, unless it is already up to date."""
    path = _place(marks, folder.stat())
    mark = FolderMark(folder=_encode_path(folder), children=_list_children(folder))
    if read_mark(path) == mark:
        return
    # `parents` creates the others with the umask, so the state folder comes first.
    for each in (marks.parent, marks):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Write to another name first: a reader must never see half a mark.
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    temp.touch(mode=0o600)
    temp.write_bytes(msgspec.json.encode(mark))
    temp.replace(path)


def find_moved(marks: Path, folder: Path) -> FolderMark | None:
    """Return the mark of a folder that was moved since it was marked."""
    try:
        mark = read_mark(_place(marks, folder.stat()))
    except OSError:
        return None
    if mark is None or mark.folder == _encode_path(folder) or _is_same(folder, mark.path):
        return None
    # Without common contents, the inode was reused for another folder.
    here = _list_children(folder, mark.children)
    return mark if here.items() & mark.children.items() else None


def is_marked(marks: Path, folder: Path) -> bool:
    """Return whether the mark of the folder now at a path names this path."""
    try:
        mark = read_mark(_place(marks, folder.stat()))
    except OSError:
        return False
    return mark is not None and mark.folder == _encode_path(folder)


def is_of_another(marks: Path, folder: Path) -> bool:
    """Return whether the store named after a path belongs to a folder that was there before."""
    if is_marked(marks, folder):
        return False
    try:
        inode = folder.stat().st_ino
    except OSError:
        return False
    found = [name for name, mark in _read_marks(marks) if mark.folder == _encode_path(folder)]
    # A disk can get another device number when it is mounted again.
    return bool(found) and not any(name.endswith(f"-{inode}.json") for name in found)


def forget_mark(marks: Path, folder: Path) -> None:
    """Remove the mark of a folder whose store is now kept inside it."""
    _place(marks, folder.stat()).unlink(missing_ok=True)


def list_lost_marks(marks: Path) -> list[FolderMark]:
    """List the marks of folders whose path no longer exists."""
    return [mark for _, mark in _read_marks(marks) if not os.path.lexists(mark.path)]


def list_marks_below(marks: Path, root: Path) -> list[FolderMark]:
    """List the marks of folders at a path or below it."""
    return [mark for _, mark in _read_marks(marks) if mark.path.is_relative_to(root)]


def _read_marks(marks: Path) -> list[tuple[str, FolderMark]]:
    try:
        names = sorted(os.listdir(marks))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    found = [(name, read_mark(marks / name)) for name in names if not name.startswith(".")]
    return [(name, mark) for name, mark in found if mark is not None]


def _is_same(folder: Path, other: Path) -> bool:
    """Return whether a folder also has another path, such as a bind mount; links do not count."""
    try:
        return os.path.realpath(other) == str(other) and other.samefile(folder)
    except OSError:
        return False


def read_mark(path: Path) -> FolderMark | None:
    """Read a mark; return None if it is missing or damaged."""
    try:
        # Most folders have no mark, and a test is cheaper than an exception.
        if not path.is_file():
            return None
        # O_NONBLOCK: opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - already open
            mark = _decoder.decode(file.read(_MAX_BYTES))
        # A damaged mark may contain an impossible path, which raises ValueError.
        return mark if mark.path.is_absolute() else None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return None


def _encode_path(path: str | Path) -> str:
    # latin-1 maps every byte to one character, so any file name survives.
    return os.fsencode(path).decode("latin-1")


def _place(marks: Path, found: os.stat_result) -> Path:
    return marks / f"{found.st_dev}-{found.st_ino}.json"


def _list_children(folder: Path, names: dict[str, int] | None = None) -> dict[str, int]:
    """Return the inodes of some of a folder's contents: the named ones, or folders before files."""
    try:
        with os.scandir(folder) as entries:
            found = [each for each in entries if names is None or _encode_path(each.name) in names]
    except OSError:
        return {}
    if names is None:
        # Editors replace files when they save, which changes the inode; folders keep theirs.
        found.sort(key=lambda each: (not each.is_dir(follow_symlinks=False), each.name))
    return {_encode_path(each.name): each.inode() for each in found[:_MOST_CHILDREN]}
