"""Adoption: take into the store what was kept in the fallback while the store could not be written.

Each step may be the last one before a kill: a thing is removed from the fallback only when it is
durable in the store, and taking it in a second time changes nothing.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from leftoff.errors import StoreRefused
from leftoff.store import disk, log
from leftoff.store.layout import Area

# What the fallback holds may be odd, and must not keep the store from being written. What goes
# wrong in the store is raised: then the fallback stays in use.
_ODD = (OSError, StoreRefused)


def is_waiting(fallback: Area) -> bool:
    """Say whether the fallback holds anything to take in."""
    return any(fallback.root.rglob("*.json*"))


def adopt(fallback: Area, store: Area) -> bool:
    """Move everything from the fallback to the store; not while someone writes there just now."""
    with alone(fallback) as is_alone:
        if is_alone:
            adopt_all(fallback, store)
        return is_alone


@contextlib.contextmanager
def alone(fallback: Area) -> Iterator[bool]:
    """Keep others from writing to the fallback: a line added to a log would go with the log."""
    if os.path.lexists(fallback.lock) and not disk.is_regular(fallback.lock):
        # Where the lock is something else, nobody writes.
        yield True
        return
    with disk.lock(fallback.lock, seconds=0) as is_held:
        yield is_held


def adopt_all(fallback: Area, store: Area) -> None:
    """Move checkpoints, logs and sessions to the store; only for one who is alone there."""
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
        # Adopted before, by a process that was killed before it could remove the original.
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
    # Some may be there already, if the process that took them in was killed.
    known = set(_lines(target))
    for line in lines:
        if line not in known:
            disk.append(target, line)
    _remove(source)


def _lines(path: Path) -> list[bytes]:
    """Return the whole lines of a log, but for zeros that a power cut left in place of some."""
    return [line for lines, _ in log.read_lines(path) for line in lines if line.strip(b"\0")]


def _adopt_sessions(source: Path, target: Path, *, temps: Path) -> None:
    """Put each session's file in the place of an older one; the fallback was written last."""
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
