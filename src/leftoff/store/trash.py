"""Move native files to the trash and back; a log records where each came from.

Checkpoints do not need a trash: their files stay in place, and an event hides them.
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
from leftoff.projects.project import is_inside
from leftoff.store import disk, log


class Trashed(msgspec.Struct, frozen=True, kw_only=True):
    """A file in the trash."""

    at: datetime
    path: str
    came_from: str

    @property
    def name(self) -> str:
        """The file's name in the trash."""
        return Path(self.path).name


_decoder = msgspec.json.Decoder(Trashed)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def put(store: Path, path: Path, now: datetime, *, folder: Path | None = None) -> Path:
    """Move a file to the day's trash; a name that is taken gets -1, -2 and so on."""
    day = (folder or store / "trash") / f"{now.astimezone():%Y-%m-%d}"
    if folder is None:
        disk.ensure_folder(day)
    else:
        disk.make_folder(day)
    target = _reserve_name(path, day)
    line = Trashed(at=now, path=str(target), came_from=str(path))
    try:
        # Logged before the move: a file in the trash without a record would be lost.
        log.append(store / "trash.jsonl", line)
        _move(path, target)
    except OSError:
        # After the move the target is the only copy, so it must not be removed.
        if os.path.lexists(path):
            target.unlink(missing_ok=True)
        raise
    return target


def _reserve_name(path: Path, day: Path) -> Path:
    """Reserve a free name with an empty file, so that the move replaces nothing."""
    for number in itertools.count():
        suffix = f"-{number}" if number else ""
        target = day / f"{path.stem}{suffix}{path.suffix}"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            break
    return target


def _move(path: Path, target: Path) -> None:
    """Move a file durably, also to another file system."""
    try:
        path.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _carry(path, target)
    disk.sync_folder(target.parent)


def _carry(path: Path, target: Path) -> None:
    import shutil  # noqa: PLC0415 - 1 ms, and listing does not need it

    shutil.copy2(path, target)
    descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    disk.sync_folder(target.parent)
    # Last, because until here the original is the only durable copy.
    path.unlink()


def list_files(store: Path) -> list[Trashed]:
    """Return the files in the trash, newest first."""
    lines = log.read_small(store / "trash.jsonl", _decoder.decode)
    found = [_as_it_lies(line, store) for line in lines]
    # An empty file is a name reserved by a process that died before the move.
    return [each for each in reversed(found) if each and _has_content(Path(each.path))]


def _as_it_lies(line: Trashed, store: Path) -> Trashed | None:
    """Return an entry with its file's current path; None if it was never in a trash.

    The store may have been moved since then. It may also come from someone else, with entries that
    name arbitrary files of the user.
    """
    path = Path(line.path)
    here = store / "trash" / path.parent.name / path.name
    if os.path.lexists(here):
        return msgspec.structs.replace(line, path=str(here))
    is_of_a_trash = path.parent.parent.name == "trash" and _DAY.fullmatch(path.parent.name)
    return line if is_of_a_trash else None


def _has_content(path: Path) -> bool:
    return disk.is_regular(path) and path.stat().st_size > 0


def list_returned(store: Path) -> set[Path]:
    """Return the files that were in the trash, and that somebody moved back to where they were."""
    newest = {
        line.came_from: line for line in log.read_small(store / "trash.jsonl", _decoder.decode)
    }
    return {
        Path(path)
        for path, line in newest.items()
        if _as_it_lies(line, store) and not os.path.lexists(line.path) and os.path.lexists(path)
    }


def restore(store: Path, name: str, folders: Iterable[Path]) -> Trashed:
    """Move a file back to its original path inside one of these folders; never overwrite."""
    found = next((each for each in list_files(store) if name in {each.name, each.path}), None)
    if found is None:
        raise NoSuchCheckpoint(
            f"{name} is not in the trash", hint="Run `leftoff trash list` to see what is."
        )
    target = Path(found.came_from)
    if not is_inside(target, folders):
        raise LeftoffError(
            f"{target} is outside this project, so the file was not restored",
            hint=f"Copy the file yourself: {found.path}",
        )
    if os.path.lexists(target):
        raise LeftoffError(
            f"{target} exists and was not replaced",
            hint=f"Move it away first; the file in the trash is {found.path}",
        )
    disk.make_folder(target.parent)
    _move(Path(found.path), target)
    return found
