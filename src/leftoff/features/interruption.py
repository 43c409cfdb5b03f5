"""Work that broke off: a session ended or died in the middle of a loop."""

import msgspec

from leftoff.features import files
from leftoff.features.changes import State
from leftoff.features.places import place_of
from leftoff.features.values import Interrupted, Loop
from leftoff.store import Store


def mark_interrupted(store: Store, session_id: str, reason: str) -> Interrupted | None:
    """Note that a session ended while its loop was under way; None if there was nothing to note.

    Only that session's own loop is touched: others in the same worktree may be alive.
    """
    key = place_of(store, session_id).key
    if not _is_to_mark(files.load(store), key):
        return None
    now = store.now()

    def edit(state: State) -> State:
        if not _is_to_mark(state, key):
            return state
        loop = state.loops[key]
        mark = Interrupted(
            feature=loop.feature or "",
            attempt=loop.attempt,
            phase=loop.phase,
            reason=reason,
            at=now,
            session_id=session_id,
        )
        marked = msgspec.structs.replace(loop, interrupted=mark)
        return msgspec.structs.replace(state, loops={**state.loops, key: marked})

    return files.change(store, edit).loops[key].interrupted


def interrupted_loops(store: Store) -> list[Loop]:
    """Return the loops that broke off and were not taken up again, the newest first."""
    broken = [
        loop for loop in files.load(store).loops.values() if loop.interrupted and loop.is_under_way
    ]
    return sorted(broken, key=lambda loop: loop.interrupted.at if loop.interrupted else 0)[::-1]


def _is_to_mark(state: State, key: str) -> bool:
    loop = state.loops.get(key)
    return loop is not None and loop.is_under_way and loop.interrupted is None
