"""Store prepared replies for the letterbox to print: a file with one line for each session.

They are in `ready/DEPTH/path/of/the/folder/`, where DEPTH is the number of parts of the path. Each
level therefore holds either names of folders or leftoff's own names, never both: a folder named
`off` is one level higher than the mark of that name.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from leftoff.store import disk, plain_name

ASK = ".ask"
"""Suffix of a reply that depends on the event: the letterbox runs `answer` for it."""
OFF = "off"
"""Name of the mark that disables the letterbox in a folder."""
_ROOT = "ready"
# Where version 0.1 kept them, without the depth. Its marks still count.
_OLD_ROOT = "replies"
# Linux allows 4096 bytes, and the name of a reply follows.
_LONGEST = 3800


def place_of(state: Path | str, folder: Path | str) -> Path:
    """Return where the replies and marks for a folder are."""
    parts = [part for part in os.fspath(folder).split("/") if part]
    path = Path(f"{state}/{_ROOT}/{len(parts) + 1}", *parts)
    # The letterbox cannot open a longer path. Settle checks the switch in the store instead.
    return path if len(os.fsencode(path)) < _LONGEST else Path(f"{state}/{_ROOT}/0")


def old_place_of(state: Path | str, folder: Path | str) -> Path:
    """Return where version 0.1 kept them."""
    return Path(f"{state}/{_OLD_ROOT}{folder}")


def path_of(state: Path, folder: str, agent: str, event: str, session_id: str) -> Path:
    """Return the file in which the letterbox looks for a reply."""
    return place_of(state, folder) / f"{agent}.{event}.{session_id}"


def owed_path(state: Path, agent: str, session_id: str) -> Path:
    """Return the file that says which work a session start could not offer in time."""
    return state / "owed" / f"{agent}-{plain_name(session_id)}.json"


def watched_path(state: Path, agent: str, session_id: str) -> Path:
    """Return the file that says which commands of a session may have destroyed code."""
    return state / "watched" / f"{agent}-{plain_name(session_id)}.json"


def put(path: Path, line: str) -> None:
    """Write a reply, replacing the last one."""
    disk.ensure_folder(path.parent)
    # Not synced: after a power cut, the next event writes it again.
    disk.replace(path, line.encode() + b"\n", temps=path.parent, durable=False)


def put_ask(path: Path, why: str) -> None:
    """Make the letterbox run `answer` for the event that gets the reply at this path."""
    put(path.with_name(path.name + ASK), why)


def remove(path: Path) -> None:
    """Remove a reply in either form."""
    for each in (path, path.with_name(path.name + ASK)):
        with contextlib.suppress(OSError):
            each.unlink()


def below(state: Path, folder: Path) -> Iterator[Path]:
    """Yield all replies and marks for a folder and its subfolders."""
    root = state / _ROOT
    depth = len(place_of(state, folder).relative_to(root).parts)
    for level in root.glob("[0-9]*"):
        place = level.joinpath(*[part for part in os.fspath(folder).split("/") if part])
        if not level.name.isdecimal() or int(level.name) < depth or not place.is_dir():
            continue
        # Below a folder, the only files are leftoff's own.
        yield from (path for path in place.rglob("*") if path.is_file())


def switch(state: Path, folder: Path, *, on: bool) -> None:
    """Enable or disable the letterbox in a folder."""
    mark = place_of(state, folder) / OFF
    if on:
        for each in (mark, old_place_of(state, folder) / OFF):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
                each.unlink()
    else:
        disk.ensure_folder(mark.parent)
        disk.touch(mark)


def leave_old_place(state: Path) -> None:
    """Move the marks of version 0.1 to their new place, and remove its replies."""
    root = state / _OLD_ROOT
    if not disk.is_own_folder(root):
        return
    import shutil  # noqa: PLC0415 - 1 ms, and needed once after an update

    for path in root.rglob("*"):
        is_mark = path.name == OFF or path.name.startswith("wired.")
        if is_mark and disk.is_regular(path):
            place = place_of(state, f"/{path.parent.relative_to(root)}")
            disk.ensure_folder(place)
            disk.touch(place / path.name)
    shutil.rmtree(root, ignore_errors=True)
