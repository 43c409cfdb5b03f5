"""Merge a store from the project's earlier location into its present one.

`git init` gives a plain folder a new store in `.git`, and a renamed folder gets a store under its
new name. If there is nothing at the new location, the whole store is renamed, which is atomic.
Otherwise its files are moved one by one. Each is removed from the old location only once it is
durable in the new one. If this is interrupted, the next command finishes it.
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
# Files that can be rebuilt, or that are useless in another location.
_DERIVED = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal")


def claim(earlier: Area, store: Area) -> None:
    """Rename a whole store to a free location; do nothing if that is not possible."""
    if os.path.lexists(store.root) or not disk.is_own_folder(earlier.root):
        return
    with alone(earlier) as is_alone, contextlib.suppress(OSError):
        if is_alone:
            earlier.root.rename(store.root)
            disk.sync_folder(store.root.parent)
            disk.sync_folder(earlier.root.parent)


def copy(earlier: Area) -> Area | None:
    """Copy a store that another folder also uses; None while another process writes there."""
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
    """Remove the copies that killed processes left; everything in them is in the original too."""
    for path in earlier.root.parent.glob(f"{earlier.root.name}{_COPY}*"):
        pid = path.name.rpartition("-")[2]
        if pid.isdecimal() and not processes.is_alive(int(pid), 0.0) and disk.is_own_folder(path):
            import shutil  # noqa: PLC0415 - needed only after a kill during a copy

            shutil.rmtree(path, ignore_errors=True)


def merge(earlier: Area, store: Area) -> bool:
    """Merge a store into another whose lock you hold; return False if someone is writing there."""
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
    """List files of earlier stores that could not be merged because this one has its own."""
    folder = store / _KEPT_APART
    return [*_files(folder)] if disk.is_own_folder(folder) else []


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files to keep, without links and other planted entries."""
    for path in sorted(folder.rglob("*")):
        if disk.is_regular(path) and not _is_derived(path, folder):
            yield path


def _is_adopted(path: Path, folder: Path) -> bool:
    """Return whether adoption moves this file; if it could not, the next command tries again."""
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
    # If both stores have the file with different content, the earlier one is kept apart.
    if any(_is_put(data, target, store) for target in (store.root / inside, apart)):
        path.unlink(missing_ok=True)


def _is_put(data: bytes, target: Path, store: Area) -> bool:
    """Write the file if it does not exist, and return whether the target holds this data."""
    if os.path.lexists(target):
        with contextlib.suppress(OSError, StoreRefused):
            return disk.read(target)[0] == data
        return False
    disk.ensure_folder(target.parent)
    # No hard link here: a kill would leave two names, and readers refuse files with two names.
    disk.replace(target, data, temps=store.temps)
    return True


def _clean_up(earlier: Area) -> None:
    """Remove an emptied store; anything left in it keeps its folder."""
    if next(_files(earlier.root), None) is not None:
        return
    found = sorted(earlier.root.rglob("*"), reverse=True)
    for path in [*found, earlier.root]:
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
