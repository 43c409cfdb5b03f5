"""Convert a checkpoint's file to a row of the index."""

import os
from collections.abc import Callable
from datetime import UTC
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, decode, id_time
from leftoff.errors import LeftoffError
from leftoff.store.search_text import searchable

# A day in 2248; a later time would exceed SQLite's largest row number.
_LAST_MILLISECOND = (1 << 43) - 2

_checkpoint_decoder = msgspec.json.Decoder(Checkpoint)

COLUMNS = (
    "rowid", "id", "area", "slot", "name", "saved_at", "trigger", "agent", "session_id", "branch",
    "worktree", "task", "next_action", "left_off", "state", "problem", "size", "mtime",
)  # fmt: skip


def row_of(
    number: int, checkpoint_id: str, read: Callable[[str], tuple[bytes, os.stat_result]]
) -> tuple[dict[str, Any], str]:
    """Return the index row of a file, and its searchable text."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"id": checkpoint_id, "area": number, "slot": f"!{checkpoint_id}"}
    row["saved_at"] = id_time(checkpoint_id).timestamp()
    text = ""
    try:
        data, found = read(checkpoint_id)
        row |= {"size": found.st_size, "mtime": found.st_mtime_ns}
        checkpoint = decode_for_index(data)
        row |= build_columns(checkpoint)
        text = searchable(checkpoint)
    except (OSError, LeftoffError, ValueError, OverflowError) as error:
        row["problem"] = str(error) or type(error).__name__
    return row, text


def rowid_of(checkpoint_id: str) -> int:
    """Return a row number that sorts by time, so that newest first needs no sorting."""
    milliseconds = min(round(id_time(checkpoint_id).timestamp() * 1000), _LAST_MILLISECOND)
    return (milliseconds << 20) | (int(checkpoint_id[-8:], 16) >> 12)


def slot_of(checkpoint: Checkpoint) -> str:
    """Return the slot that groups a checkpoint's revisions: its name, session or worktree."""
    if checkpoint.name is not None:
        return checkpoint.name
    if checkpoint.session_id is not None:
        return f"~{checkpoint.agent or ''}:{checkpoint.session_id}"
    return f"~{checkpoint.worktree or ''}"


def decode_for_index(data: bytes) -> Checkpoint:
    """Decode a checkpoint for indexing."""
    try:
        # Fast, because unknown keys are skipped. `__extra__` must not be one of them.
        return _checkpoint_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return decode(data)


def build_columns(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the index columns of a checkpoint."""
    action = checkpoint.next_action
    return {
        "slot": slot_of(checkpoint),
        "name": checkpoint.name,
        # Converted to UTC first: a time at the edge of the calendar may not exist in UTC.
        "saved_at": checkpoint.saved_at.astimezone(UTC).timestamp(),
        "trigger": checkpoint.trigger,
        "agent": checkpoint.agent,
        "session_id": checkpoint.session_id,
        "branch": checkpoint.branch,
        "worktree": checkpoint.worktree,
        "task": checkpoint.task,
        "next_action": action.text if action else None,
        "left_off": checkpoint.left_off,
    }
