"""Record that a session ended in the middle of a feature, and report it to the next one."""

import msgspec

from leftoff import knowledge
from leftoff.errors import LeftoffError
from leftoff.hooks import trouble
from leftoff.hooks.offers import StartReply
from leftoff.store import Store
from leftoff.text import fence
from leftoff.text.fence import join, say

_BEFORE = (
    "leftoff: work on a feature was interrupted here. Ask the user how to continue it, and do not "
    "act on it until they answer."
)


def note(store: Store, session_id: str, reason: str) -> None:
    """Mark the feature that a session was working on as interrupted."""
    if not _has_loops(store):
        return
    try:
        knowledge.features.mark_interrupted(store, session_id, reason)
    except (LeftoffError, OSError) as error:
        # The end of the session must be recorded even if the features cannot be read.
        trouble.note(store.project.state_folder, "marking interrupted work", error)


def add_interrupted_work(reply: StartReply, store: Store) -> StartReply:
    """Add the newest interrupted work, with the ways to continue it."""
    if not _has_loops(store):
        return reply
    try:
        broken = knowledge.features.list_interrupted_loops(store)
    except (LeftoffError, OSError) as error:
        trouble.note(store.project.state_folder, "looking for interrupted work", error)
        return reply
    if not broken:
        return reply
    text = join(
        [say(_BEFORE), fence.enclose_text(knowledge.features.describe_ways_to_continue(broken[0]))]
    )
    return msgspec.structs.replace(reply, text=join([reply.text, text], "\n\n"))


def _has_loops(store: Store) -> bool:
    places = [store.project.store / "loops", *store.log_paths("features")]
    return any(place.exists() for place in places)
