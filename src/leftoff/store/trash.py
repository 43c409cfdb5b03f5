"""The trash for native files: each moved file, and where it came from, in a log of its own.

Checkpoints need none: they stay where they are and an event hides them.
"""

import os
import shutil
from datetime import datetime
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError, NoSuchCheckpoint
from leftoff.store import disk


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


def put(store: Path, path: Path, now: datetime, *, folder: Path | None = None) -> Path:
    """Move a file to the day's trash, under a name with -1, -2 … if that is taken there."""
    day = (folder or store / "trash") / f"{now.astimezone():%Y-%m-%d}"
    if folder is None:
        disk.ensure_folder(day)
    else:
        day.mkdir(parents=True, exist_ok=True)
    target = _moved(path, day)
    line = Trashed(at=now, path=str(target), came_from=str(path))
    disk.append(store / "trash.jsonl", msgspec.json.encode(line))
    return target


def _moved(path: Path, day: Path) -> Path:
    number = 0
    while True:
        suffix = f"-{number}" if number else ""
        target = day / f"{path.stem}{suffix}{path.suffix}"
        try:
            # A link, unlike a rename, fails when the name is taken.
            os.link(path, target, follow_symlinks=False)
        except FileExistsError:
            number += 1
        except OSError:
            # Another file system, or one without links.
            if os.path.lexists(target):
                number += 1
                continue
            shutil.move(path, target)
            return target
        else:
            path.unlink()
            return target


def listed(store: Path) -> list[Trashed]:
    """Return what is in the trash, newest first."""
    found = []
    for line in disk.read_from(store / "trash.jsonl", 0).splitlines():
        try:
            found.append(_decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return [each for each in reversed(found) if Path(each.path).is_file()]


def restore(store: Path, name: str) -> Trashed:
    """Move a file back to where it came from; one that is there now stays."""
    found = next((each for each in listed(store) if name in {each.name, each.path}), None)
    if found is None:
        raise NoSuchCheckpoint(
            f"{name} is not in the trash", hint="`leftoff trash list` shows it all."
        )
    target = Path(found.came_from)
    if os.path.lexists(target):
        raise LeftoffError(
            f"{target} exists, so it is not replaced",
            hint=f"Move it away first; the other one is {found.path}",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(found.path, target)
    return found
