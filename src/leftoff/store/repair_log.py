"""Append to the log the entries that a crash or an unreadable store prevented."""

import contextlib
from datetime import datetime

import msgspec

from leftoff.checkpoint import id_time
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.store import disk
from leftoff.store.index import CheckpointEntry, StoreIndex
from leftoff.store.index_sync import decode_for_index
from leftoff.store.layout import Area, StoreEvent, build_event, name_trigger

# What saves several checkpoints, or saves and ends a thread, in one act.
_ACTING = frozenset({"recovered", "import", "ship"})


def repair_log(area: Area, index: StoreIndex, now: datetime) -> None:
    """Append missing lines, unless another process is writing."""
    with contextlib.suppress(OSError, StoreRefused):
        # While the lock is held, no writer is between writing a checkpoint and its line.
        with disk.lock(area.lock, seconds=0) as is_held:
            if not is_held:
                return
            index.sync()
            _log_unlogged(area, index)
            _join_unseen(area, index, now)
        index.sync()


def _log_unlogged(area: Area, index: StoreIndex) -> None:
    """Append missing lines of saves, because native files are updated from the log."""
    missing = [
        StoreEvent(
            id=entry.id,
            at=id_time(entry.id),
            action="saved",
            ids=[entry.id],
            name=entry.name,
            thread=entry.slot,
            act=_find_act(area, entry),
            trigger=name_trigger(entry.trigger),
        )
        for entry in index.list_unlogged()
    ]
    if missing:
        lines = b"\n".join(map(msgspec.json.encode, missing))
        disk.append(area.log, lines, durable=False)


def _find_act(area: Area, entry: CheckpointEntry) -> str | None:
    """Return the act that saved a checkpoint, if it did more than that."""
    if entry.trigger not in _ACTING:
        return None
    with contextlib.suppress(LeftoffError, ValueError):
        return decode_for_index(area.read(entry.id)[0]).act
    return None


def _join_unseen(area: Area, index: StoreIndex, now: datetime) -> None:
    """Let saves join the thread whose name they have, if they could not see it."""
    for ids, thread in index.list_unseen():
        area.append(build_event(now, "joined", ids, thread=thread))
