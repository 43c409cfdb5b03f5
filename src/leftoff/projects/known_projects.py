"""Remember which folders of this machine are projects with a store, to list all of them.

The state folder has one small file for each store, named after the store's path. A project adds its
own when it first writes or lists something. The file's content is only a hint: its readers look
for the project again, with all the checks of `find_project`.
"""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from leftoff.context import Environment
    from leftoff.projects.project import Project

_FOLDER = "known"
_MAX_BYTES = 64 * 1024


class KnownProject(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that was a project with a store, and the inode that it had."""

    folder: str
    """The path, one character per byte, because JSON cannot store names that are not UTF-8."""
    inode: str = ""

    @property
    def root(self) -> Path:
        """The project's folder."""
        return Path(os.fsdecode(self.folder.encode("latin-1")))


_decoder = msgspec.json.Decoder(KnownProject)


def remember(project: "Project") -> None:
    """Add a project to the known ones, and remove the path from which it was moved."""
    path, inode = project.known_mark, _read_inode(project.root)
    folder = os.fsencode(project.root).decode("latin-1")
    # `parents` creates the others with the umask, so the state folder comes first.
    for each in (path.parent.parent, path.parent):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    for mark, other in _read_all(path.parent):
        if inode and other.inode == inode and not os.path.lexists(other.root):
            mark.unlink(missing_ok=True)
    # Write to another name first: a reader must never see half a file.
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    temp.touch(mode=0o600)
    temp.write_bytes(msgspec.json.encode(KnownProject(folder=folder, inode=inode)))
    temp.replace(path)


def list_known(environment: "Environment") -> list[Path]:
    """List the folders of all projects that ever had a store, including those that are gone."""
    found = _read_all(environment.state_folder / _FOLDER)
    return list(dict.fromkeys(each.root for _, each in found))


def forget(environment: "Environment", folder: Path) -> None:
    """Remove a folder from the known projects; it is added again when it is next used."""
    for mark, other in _read_all(environment.state_folder / _FOLDER):
        if other.root == folder:
            with contextlib.suppress(OSError):
                mark.unlink()


def _read_all(folder: Path) -> list[tuple[Path, KnownProject]]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    paths = [folder / name for name in names if not name.startswith(".")]
    found = [(path, _read(path)) for path in paths]
    return [(path, mark) for path, mark in found if mark is not None]


def _read(path: Path) -> KnownProject | None:
    try:
        # O_NONBLOCK: opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - already open
            found = _decoder.decode(file.read(_MAX_BYTES))
        # A damaged file may contain an impossible path; some raise ValueError.
        return found if found.root.is_absolute() and "\0" not in found.folder else None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return None


def _read_inode(folder: Path) -> str:
    try:
        found = folder.stat()
    except OSError:
        return ""
    return f"{found.st_dev}-{found.st_ino}"
