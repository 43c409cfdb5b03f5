"""Move files into the store: from its fallback, or from the project's earlier location.

The process can be killed after any step. A file is therefore removed from the fallback only when it
is durable in the store, and adopting the same file twice changes nothing.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from leftoff import processes
from leftoff.errors import StoreRefused
from leftoff.store import disk, log
from leftoff.store.layout import Area

# Errors that the fallback's content may cause. They must not block writes to the store. Errors from
# the store itself are raised, and the fallback stays in use.
_ODD = (OSError, StoreRefused)


def is_waiting(fallback: Area) -> bool:
    """Return whether the fallback holds anything to adopt."""
    return any(fallback.root.rglob("*.json*"))


def adopt(fallback: Area, store: Area) -> bool:
    """Move everything from the fallback to the store, unless another process is writing there."""
    with alone(fallback) as is_alone:
        if is_alone:
            adopt_all(fallback, store)
        return is_alone


@contextlib.contextmanager
def alone(fallback: Area) -> Iterator[bool]:
    """Lock the fallback: a line appended to a log during the move would be deleted with the log."""
    if os.path.lexists(fallback.lock) and not disk.is_regular(fallback.lock):
        # The lock is not a regular file, so no writer can hold it.
        yield True
        return
    with disk.lock(fallback.lock, seconds=0) as is_held:
        yield is_held


def adopt_all(fallback: Area, store: Area) -> None:
    """Move checkpoints, logs and sessions to the store; the caller holds the fallback's lock."""
    for shard in _list_shards(fallback):
        for checkpoint_id in _list_ids(fallback, shard):
            _adopt_checkpoint(fallback, store, checkpoint_id)
    for path in sorted(fallback.root.glob("*.jsonl")):
        _adopt_log(path, store.root / path.name)
    _adopt_sessions(fallback.root / "sessions", store.root / "sessions", temps=store.temps)


def _list_shards(fallback: Area) -> list[str]:
    with contextlib.suppress(*_ODD):
        return [shard.name for shard in fallback.shards()]
    return []


def _list_ids(fallback: Area, shard: str) -> list[str]:
    with contextlib.suppress(*_ODD):
        return fallback.ids_in(shard)
    return []


def _adopt_checkpoint(fallback: Area, store: Area, checkpoint_id: str) -> None:
    try:
        data, _ = fallback.read(checkpoint_id)
    except _ODD:
        return
    try:
        store.write_raw(checkpoint_id, data)
    except FileExistsError:
        # A process adopted this one and was killed before it could remove the original.
        if not _is_there(store, checkpoint_id, data):
            return
    _remove(fallback.path_of(checkpoint_id))


def _is_there(store: Area, checkpoint_id: str, data: bytes) -> bool:
    with contextlib.suppress(*_ODD):
        return store.read(checkpoint_id)[0] == data
    return False


def _adopt_log(source: Path, target: Path) -> None:
    try:
        lines = _read_lines(source)
    except _ODD:
        return
    # A process that was killed during adoption may have copied some of the lines.
    known = set(_read_lines(target))
    for line in lines:
        if line not in known:
            disk.append(target, line)
    _remove(source)


def _read_lines(path: Path) -> list[bytes]:
    """Return the complete lines of a log, without the zeros that a power cut can leave."""
    return [line for lines, _ in log.read_lines(path) for line in lines if line.strip(b"\0")]


def _adopt_sessions(source: Path, target: Path, *, temps: Path) -> None:
    """Replace the store's session files: the fallback was written last, so its files are newer."""
    if not disk.is_own_folder(source):
        return
    disk.ensure_folder(target)
    for path in sorted(source.glob("*.json")):
        try:
            data, _ = disk.read(path)
        except _ODD:
            continue
        disk.replace(target / path.name, data, temps=temps)
        _remove(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


# --- the store at an earlier location ---
#
# `git init` gives a plain folder a new store in `.git`, and a renamed folder gets a store under its
# new name. If there is nothing at the new location, the whole store is renamed, which is atomic.
# Otherwise its files are moved one by one. Each is removed from the old location only once it is
# durable in the new one. If this is interrupted, the next command finishes it.


_KEPT_APART = "earlier"
_COPY = ".copy-"
# Files that can be rebuilt, or that are useless in another location.
_DERIVED = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal")


def claim_store(earlier: Area, store: Area) -> None:
    """Rename a whole store to a free location; do nothing if that is not possible."""
    if os.path.lexists(store.root) or not disk.is_own_folder(earlier.root):
        return
    with alone(earlier) as is_alone, contextlib.suppress(OSError):
        if is_alone:
            # A copy or an archive may have brought other modes. Changed before the rename, because
            # nobody would do it after a kill.
            disk.make_private(earlier.root)
            earlier.root.rename(store.root)
            disk.sync_folder(store.root.parent)
            disk.sync_folder(earlier.root.parent)


def copy_store(earlier: Area) -> Area | None:
    """Copy a store that another folder also uses; None while another process writes there."""
    copied = Area(earlier.root.with_name(f"{earlier.root.name}{_COPY}{os.getpid()}"))
    with alone(earlier) as is_alone:
        if not is_alone:
            return None
        _sweep_copies(earlier)
        copied.prepare()
        for path in _list_files(earlier.root):
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
            import shutil  # noqa: PLC0415 - 1 ms, and needed only after a kill

            shutil.rmtree(path, ignore_errors=True)


def merge_store(earlier: Area, store: Area) -> bool:
    """Merge a store into another whose lock you hold; return False if someone is writing there."""
    if not disk.is_own_folder(earlier.root):
        return True
    with alone(earlier) as is_alone:
        if is_alone:
            adopt_all(earlier, store)
            for path in _list_files(earlier.root):
                if not _is_adopted(path, earlier.root):
                    _move(path, earlier, store)
            _clean_up(earlier)
    return is_alone


def list_conflicts(store: Path) -> list[Path]:
    """List files of earlier stores that could not be merged because this one has its own."""
    folder = store / _KEPT_APART
    return [*_list_files(folder)] if disk.is_own_folder(folder) else []


def _list_files(folder: Path) -> Iterator[Path]:
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
    if next(_list_files(earlier.root), None) is not None:
        return
    found = sorted(earlier.root.rglob("*"), reverse=True)
    for path in [*found, earlier.root]:
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
