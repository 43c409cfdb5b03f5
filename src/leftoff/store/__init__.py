"""The store: plain files are the truth, the index answers questions about them."""

from leftoff.store.events import LISTED, TRASHED, Action, Event, State
from leftoff.store.index import Entry, Hit, Index, Query
from leftoff.store.layout import plain_name
from leftoff.store.store import Saved, Store, utc_now

__all__ = [
    "LISTED",
    "TRASHED",
    "Action",
    "Entry",
    "Event",
    "Hit",
    "Index",
    "Query",
    "Saved",
    "State",
    "Store",
    "plain_name",
    "utc_now",
]
