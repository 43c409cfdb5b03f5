"""Work on features that broke off, told where people and agents come back."""

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
    """Return the work on features that broke off here, the newest first."""
    store = app.store
    places = [store.project.store / "loops", *store.log_paths("features")]
    if not any(place.exists() for place in places):
        return []
    try:
        return knowledge.features.list_interrupted_loops(store)
    except StoreRefused as error:
        # Features that cannot be read keep nobody from coming back to a checkpoint.
        app.out.warn(error.message)
        return []


def format_loops(found: "list[Loop]") -> Rendered:
    """Tell each with what failed and the ways to go on."""
    if not found:
        return say("")
    return fence.enclose_text(join(map(knowledge.features.ways_to_go_on, found), "\n\n"))


def rows(found: "list[Loop]") -> list[dict[str, Any]]:
    """Return them as JSON-ready values."""
    return [to_plain(loop) for loop in found]
