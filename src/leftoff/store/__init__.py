"""The store: plain files are the truth, the index answers questions about them."""

from leftoff.store.events import LISTED, TRASHED, Action, State, StoreEvent
from leftoff.store.index import CheckpointEntry, Hit, Query, StoreIndex
from leftoff.store.layout import plain_name
from leftoff.store.store import SavedCheckpoint, Store, utc_now

__all__ = [
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
    "plain_name",
    "utc_now",
]
