"""The trash for native files: each moved file, and where it came from, in a log of its own.

Checkpoints need none: they stay where they are and an event hides them.
"""

import contextlib
import errno
import itertools
import os
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError, NoSuchCheckpoint
from leftoff.projects import trees
from leftoff.store import disk, log


class Trashed(msgspec.Struct, frozen=True, kw_only=True):
    """A file in the trash."""

    at: datetime
    path: str
    came_from: str

    @property
    def name(self) -> str:
        """The name it has in the trash."""
        return Path(self.path).name


_decoder = msgspec.json.Decoder(Trashed)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def put(store: Path, path: Path, now: datetime, *, folder: Path | None = None) -> Path:
    """Move a file to the day's trash, under a name with -1, -2 … if that is taken there."""
    day = (folder or store / "trash") / f"{now.astimezone():%Y-%m-%d}"
    if folder is None:
        disk.ensure_folder(day)
    else:
        disk.make_folder(day)
    target = _reserve_name(path, day)
    line = Trashed(at=now, path=str(target), came_from=str(path))
    try:
        # Noted first: what is in the trash and nobody knows of would be lost.
        log.append(store / "trash.jsonl", line)
        _move(path, target)
    except OSError:
        # Once it was moved, the target is the only copy.
        if os.path.lexists(path):
            target.unlink(missing_ok=True)
        raise
    return target


def _reserve_name(path: Path, day: Path) -> Path:
    """Take a name that is free, with an empty file, so that a move replaces nobody else's."""
    for number in itertools.count():
        suffix = f"-{number}" if number else ""
        target = day / f"{path.stem}{suffix}{path.suffix}"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            break
    return target


def _move(path: Path, target: Path) -> None:
    """Move a file durably, to another file system if need be."""
    try:
        path.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _carry(path, target)
    disk.sync_folder(target.parent)


def _carry(path: Path, target: Path) -> None:
    import shutil  # noqa: PLC0415 - looking into the trash needs none of it

    shutil.copy2(path, target)
    descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    disk.sync_folder(target.parent)
    path.unlink()


def list_files(store: Path) -> list[Trashed]:
    """Return what is in the trash, newest first."""
    lines = log.read_small(store / "trash.jsonl", _decoder.decode)
    found = [_as_it_lies(line, store) for line in lines]
    # A name that was reserved by someone who died before the move is empty.
    return [each for each in reversed(found) if each and _has_content(Path(each.path))]


def _as_it_lies(line: Trashed, store: Path) -> Trashed | None:
    """Return an entry with the place its file has now; None if it was never in a trash.

    The store may have been moved since. And it may be someone else's, with entries that name any
    file of the user's.
    """
    path = Path(line.path)
    here = store / "trash" / path.parent.name / path.name
    if os.path.lexists(here):
        return msgspec.structs.replace(line, path=str(here))
    is_of_a_trash = path.parent.parent.name == "trash" and _DAY.fullmatch(path.parent.name)
    return line if is_of_a_trash else None


def _has_content(path: Path) -> bool:
    return disk.is_regular(path) and path.stat().st_size > 0


def restore(store: Path, name: str, folders: Iterable[Path]) -> Trashed:
    """Move a file back to where it came from, if in one of these folders; one there now stays."""
    found = next((each for each in list_files(store) if name in {each.name, each.path}), None)
    if found is None:
        raise NoSuchCheckpoint(
            f"{name} is not in the trash", hint="`leftoff trash list` shows it all."
        )
    target = Path(found.came_from)
    if not trees.is_inside(target, folders):
        raise LeftoffError(
            f"{target} is not in this project, so nothing is put there",
            hint=f"Copy the file yourself: {found.path}",
        )
    if os.path.lexists(target):
        raise LeftoffError(
            f"{target} exists, so it is not replaced",
            hint=f"Move it away first; the other one is {found.path}",
        )
    disk.make_folder(target.parent)
    _move(Path(found.path), target)
    return found
