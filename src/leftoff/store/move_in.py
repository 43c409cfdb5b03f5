"""Moving in: a store that the same project had in another place becomes part of its store.

`git init` gives a plain folder a new store in `.git`, and a renamed folder gets one under its new
name. Where the new place is still free, the whole store is renamed, which is all or nothing.
Otherwise its files follow one by one, and each goes from the old place only when it is durable in
the new one; whoever is killed in between is made up for by the next command.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from leftoff import processes
from leftoff.errors import StoreRefused
from leftoff.store import disk
from leftoff.store.adoption import adopt_all, alone
from leftoff.store.layout import Area

_KEPT_APART = "earlier"
_COPY = ".copy-"
# What can be made anew, or is of no use in another place.
_DERIVED = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal")


def claim(earlier: Area, store: Area) -> None:
    """Rename a whole store to a place that is free; nothing happens where that cannot be."""
    if os.path.lexists(store.root) or not disk.is_own_folder(earlier.root):
        return
    with alone(earlier) as is_alone, contextlib.suppress(OSError):
        if is_alone:
            earlier.root.rename(store.root)
            disk.sync_folder(store.root.parent)
            disk.sync_folder(earlier.root.parent)


def copy(earlier: Area) -> Area | None:
    """Copy a store that another folder uses too; None while someone writes there."""
    copied = Area(earlier.root.with_name(f"{earlier.root.name}{_COPY}{os.getpid()}"))
    with alone(earlier) as is_alone:
        if not is_alone:
            return None
        _sweep_copies(earlier)
        copied.prepare()
        for path in _files(earlier.root):
            with contextlib.suppress(StoreRefused):
                data, _ = disk.read(path)
                target = copied.root / path.relative_to(earlier.root)
                disk.ensure_folder(target.parent)
                disk.replace(target, data, temps=copied.temps)
    return copied


def _sweep_copies(earlier: Area) -> None:
    """Remove the copies of processes that were killed; all that they hold is in the original."""
    for path in earlier.root.parent.glob(f"{earlier.root.name}{_COPY}*"):
        pid = path.name.rpartition("-")[2]
        if pid.isdecimal() and not processes.is_alive(int(pid), 0.0) and disk.is_own_folder(path):
            import shutil  # noqa: PLC0415 - hardly anyone is killed just there

            shutil.rmtree(path, ignore_errors=True)


def merge(earlier: Area, store: Area) -> bool:
    """Move a store into another, whose lock you hold; say whether nobody was writing there."""
    if not disk.is_own_folder(earlier.root):
        return True
    with alone(earlier) as is_alone:
        if is_alone:
            adopt_all(earlier, store)
            for path in _files(earlier.root):
                if not _is_adopted(path, earlier.root):
                    _move(path, earlier, store)
            _clean_up(earlier)
    return is_alone


def list_conflicts(store: Path) -> list[Path]:
    """List the files of earlier stores that could not replace those of this one."""
    folder = store / _KEPT_APART
    return [*_files(folder)] if disk.is_own_folder(folder) else []


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files to keep, whatever was planted among them left out."""
    for path in sorted(folder.rglob("*")):
        if disk.is_regular(path) and not _is_derived(path, folder):
            yield path


def _is_adopted(path: Path, folder: Path) -> bool:
    """Say whether adoption moves a file; one that it could not read waits for the next command."""
    inside = path.relative_to(folder)
    is_log = len(inside.parts) == 1 and path.suffix == ".jsonl"
    return is_log or inside.parts[0] in {"checkpoints", "sessions"}


def _is_derived(path: Path, folder: Path) -> bool:
    inside = path.relative_to(folder)
    return inside.parts[0] in {"lock", "tmp"} or path.name.endswith(_DERIVED)


def _move(path: Path, earlier: Area, store: Area) -> None:
    inside = path.relative_to(earlier.root)
    apart = store.root / _KEPT_APART / earlier.root.name / inside
    try:
        data, _ = disk.read(path)
    except (OSError, StoreRefused):
        return
    if any(_is_put(data, target, store) for target in (store.root / inside, apart)):
        path.unlink(missing_ok=True)


def _is_put(data: bytes, target: Path, store: Area) -> bool:
    """Write a file where there is none, and say whether it holds this."""
    if os.path.lexists(target):
        with contextlib.suppress(OSError, StoreRefused):
            return disk.read(target)[0] == data
        return False
    disk.ensure_folder(target.parent)
    # Not by a link: cut short, that leaves a second name, which readers of such files refuse.
    disk.replace(target, data, temps=store.temps)
    return True


def _clean_up(earlier: Area) -> None:
    """Remove what is left of a store that is empty; anything else keeps its folder."""
    if next(_files(earlier.root), None) is not None:
        return
    found = sorted(earlier.root.rglob("*"), reverse=True)
    for path in [*found, earlier.root]:
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
