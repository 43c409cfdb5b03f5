"""Move checkpoints from the fallback folder into the store once the store is writable again.

The process can be killed after any step. A file is therefore removed from the fallback only when it
is durable in the store, and adopting the same file twice changes nothing.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

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
    for shard in _shards(fallback):
        for checkpoint_id in _ids_in(fallback, shard):
            _adopt_checkpoint(fallback, store, checkpoint_id)
    for path in sorted(fallback.root.glob("*.jsonl")):
        _adopt_log(path, store.root / path.name)
    _adopt_sessions(fallback.root / "sessions", store.root / "sessions", temps=store.temps)


def _shards(fallback: Area) -> list[str]:
    with contextlib.suppress(*_ODD):
        return [shard.name for shard in fallback.shards()]
    return []


def _ids_in(fallback: Area, shard: str) -> list[str]:
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
        lines = _lines(source)
    except _ODD:
        return
    # A process that was killed during adoption may have copied some of the lines.
    known = set(_lines(target))
    for line in lines:
        if line not in known:
            disk.append(target, line)
    _remove(source)


def _lines(path: Path) -> list[bytes]:
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
