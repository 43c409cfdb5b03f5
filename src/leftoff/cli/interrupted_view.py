"""Show interrupted work on features in `resume`, so that people and agents can continue it."""

from typing import TYPE_CHECKING, Any

from leftoff import knowledge
from leftoff.checkpoint import to_plain
from leftoff.cli.app import App
from leftoff.errors import StoreRefused
from leftoff.text import fence
from leftoff.text.fence import Rendered, join, say

if TYPE_CHECKING:
    from leftoff.knowledge.features import Loop


def loops(app: App) -> "list[Loop]":
    """List the interrupted work on this project's features, newest first."""
    store = app.store
    places = [store.project.store / "loops", *store.log_paths("features")]
    # Most projects have no features, so avoid importing the code for them.
    if not any(place.exists() for place in places):
        return []
    try:
        return knowledge.features.list_interrupted_loops(store)
    except StoreRefused as error:
        # An unreadable feature file must not prevent resuming a checkpoint.
        app.out.warn(error.message)
        return []


def format_loops(found: "list[Loop]") -> Rendered:
    """Describe each interruption: what failed and how to continue."""
    if not found:
        return say("")
    return fence.enclose_text(join(map(knowledge.features.ways_to_go_on, found), "\n\n"))


def rows(found: "list[Loop]") -> list[dict[str, Any]]:
    """Return the interrupted work as JSON-ready values."""
    return [to_plain(loop) for loop in found]
