"""Replies rendered beforehand: what the letterbox prints, one line in a file per session.

They lie in `ready/DEPTH/path/of/the/folder/`, where DEPTH counts the parts of the path. So at any
level there are either names of folders or names of ours, whatever the folders are called: a folder
named `off` is one level higher than the switch of that name.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from leftoff.store import disk

ASK = ".ask"
"""A reply that needs a look at the prompt: the letterbox hands it to `answer`."""
OFF = "off"
"""The mark by which the letterbox knows that it has nothing to do in a folder."""
_ROOT = "ready"
# Where the version before kept them, with no depth. Its switches still count.
_OLD_ROOT = "replies"
# Linux takes 4096 bytes, and a name of ours comes behind it.
_LONGEST = 3800


def place_of(state: Path | str, folder: Path | str) -> Path:
    """Tell where replies and marks for a folder lie."""
    parts = [part for part in os.fspath(folder).split("/") if part]
    path = Path(f"{state}/{_ROOT}/{len(parts) + 1}", *parts)
    # No file can have such a path, so nobody looks there; settle still knows what is off.
    return path if len(os.fsencode(path)) < _LONGEST else Path(f"{state}/{_ROOT}/0")


def old_place_of(state: Path | str, folder: Path | str) -> Path:
    """Tell where the version before kept them."""
    return Path(f"{state}/{_OLD_ROOT}{folder}")


def path_of(state: Path, folder: str, agent: str, event: str, session_id: str) -> Path:
    """Tell where the letterbox looks for a reply."""
    return place_of(state, folder) / f"{agent}.{event}.{session_id}"


def put(path: Path, line: str) -> None:
    """Lay a reply ready, in place of the one before."""
    disk.ensure_folder(path.parent)
    # What is lost in a power cut is laid ready again by the next event.
    disk.replace(path, line.encode() + b"\n", temps=path.parent, durable=False)


def remove(path: Path) -> None:
    """Take a reply away, in either form."""
    for each in (path, path.with_name(path.name + ASK)):
        with contextlib.suppress(OSError):
            each.unlink()


def below(state: Path, folder: Path) -> Iterator[Path]:
    """Yield all that lies ready for a folder and the folders in it."""
    root = state / _ROOT
    depth = len(place_of(state, folder).relative_to(root).parts)
    for level in root.glob("[0-9]*"):
        place = level.joinpath(*[part for part in os.fspath(folder).split("/") if part])
        if not level.name.isdecimal() or int(level.name) < depth or not place.is_dir():
            continue
        # Below it only names of ours are files.
        yield from (path for path in place.rglob("*") if path.is_file())


def switch(state: Path, folder: Path, *, on: bool) -> None:
    """Tell the letterbox whether it has anything to do in a folder."""
    mark = place_of(state, folder) / OFF
    if on:
        for each in (mark, old_place_of(state, folder) / OFF):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
                each.unlink()
    else:
        disk.ensure_folder(mark.parent)
        disk.touch(mark)


def leave_old_place(state: Path) -> None:
    """Move the marks of version 0.1 to where they belong now, and remove what it prepared."""
    root = state / _OLD_ROOT
    if not disk.is_own_folder(root):
        return
    import shutil  # noqa: PLC0415 - needed once after an update

    for path in root.rglob("*"):
        is_mark = path.name == OFF or path.name.startswith("wired.")
        if is_mark and disk.is_regular(path):
            place = place_of(state, f"/{path.parent.relative_to(root)}")
            disk.ensure_folder(place)
            disk.touch(place / path.name)
    shutil.rmtree(root, ignore_errors=True)
