"""Store checkpoints in plain files, and answer questions about them from a SQLite index."""

from typing import TYPE_CHECKING

from leftoff.load_on_use import load_on_use
from leftoff.store.index import CheckpointEntry, Hit, Query, StoreIndex
from leftoff.store.index_sync import WatchReading
from leftoff.store.layout import (
    BY_HAND_OVER,
    BY_PROMPT,
    BY_REMOVAL,
    FINISHED,
    LISTED,
    TRASHED,
    Action,
    State,
    StoreEvent,
    plain_name,
)
from leftoff.store.store import SavedCheckpoint, Store, utc_now

if TYPE_CHECKING:
    from leftoff.store import adoption as adoption
    from leftoff.store import current_revision as current_revision
    from leftoff.store import name_errors as name_errors
    from leftoff.store import repair_log as repair_log
    from leftoff.store import revert_acts as revert_acts

__all__ = [
    "BY_HAND_OVER",
    "BY_PROMPT",
    "BY_REMOVAL",
    "FINISHED",
    "LISTED",
    "TRASHED",
    "Action",
    "CheckpointEntry",
    "Hit",
    "Query",
    "SavedCheckpoint",
    "State",
    "Store",
    "StoreEvent",
    "StoreIndex",
    "WatchReading",
    "plain_name",
    "utc_now",
]

# Few commands need the rest: merging another store, a census of the files, undo, or a repair.
__getattr__ = load_on_use(__name__)
