"""Find the loop of a session, or of a worktree for work outside of sessions.

A loop is the series of attempts at one feature or fix.

A session without a loop of its own continues the newest one of its worktree. That is how a session
that died hands its loop to the next.
"""

from datetime import UTC, datetime
from typing import NamedTuple

from leftoff.git.query import printable
from leftoff.knowledge.features.board import Loop
from leftoff.knowledge.features.change_log import BoardState
from leftoff.store import Store, plain_name

_EVER = datetime.min.replace(tzinfo=UTC)


class LoopOwner(NamedTuple):
    """A worktree, and the session that works there, if there is one."""

    worktree: str
    session_id: str | None

    @property
    def key(self) -> str:
        """The name of the loop's file."""
        if self.session_id:
            return f"session-{plain_name(self.session_id)}"
        return f"worktree-{plain_name(self.worktree)}"


def place_of(store: Store, session_id: str | None) -> LoopOwner:
    """Return the owner for the current worktree and session."""
    return LoopOwner(printable(str(store.project.worktree)), session_id)


def find_loop(state: BoardState, place: LoopOwner) -> tuple[str, Loop] | None:
    """Return the current loop with its key: the owner's, or the newest of this worktree.

    Among other owners' loops, one in progress comes first, then one completed but not shipped.
    """
    own = state.loops.get(place.key)
    if own is not None and own.status != "idle":
        return place.key, own
    under_way = {key: loop for key, loop in state.loops.items() if loop.is_under_way}
    return _find_newest(under_way, place) or find_completed(state, place)


def find_completed(state: BoardState, place: LoopOwner) -> tuple[str, Loop] | None:
    """Return the current completed loop: the owner's, or the newest of this worktree."""
    own = state.loops.get(place.key)
    if own is not None and own.status != "idle":
        return (place.key, own) if own.status == "completed" else None
    done = {key: loop for key, loop in state.loops.items() if loop.status == "completed"}
    return _find_newest(done, place)


def find_loop_of(state: BoardState, place: LoopOwner, item_id: str) -> tuple[str, Loop] | None:
    """Return the loop of one feature or fix in this worktree."""
    own = state.loops.get(place.key)
    if own is not None and own.feature == item_id:
        return place.key, own
    return _find_newest(
        {k: loop for k, loop in state.loops.items() if loop.feature == item_id}, place
    )


def _find_newest(loops: dict[str, Loop], place: LoopOwner) -> tuple[str, Loop] | None:
    here = [(key, loop) for key, loop in loops.items() if loop.worktree == place.worktree]
    return max(here, key=lambda each: _find_moment(each[1]), default=None)


def _find_moment(loop: Loop) -> datetime:
    return loop.last_attempt_at or loop.started_at or _EVER
