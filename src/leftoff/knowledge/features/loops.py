"""Run a loop: start a feature and make attempts until one passes or the work is given up."""

from shlex import quote
from typing import Literal

import msgspec

from leftoff.errors import LeftoffError, UsageError
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import Feature, Fix, Loop, LoopStatus
from leftoff.knowledge.features.change_log import BoardState
from leftoff.knowledge.features.edit_board import find, with_item
from leftoff.knowledge.features.loop_owner import (
    LoopOwner,
    find_completed,
    find_loop,
    find_loop_of,
    place_of,
)
from leftoff.knowledge.features.loop_steps import (
    Again,
    End,
    Try,
    begin_loop,
    clean_try,
    clear_completion,
    close_loop,
    idle_after,
    learn,
    with_attempt,
    with_loop,
)
from leftoff.store import Store

Ending = Literal["failing", "blocked", "escalated"]


class Reset(msgspec.Struct, frozen=True, kw_only=True):
    """A completed loop that was reset to idle."""

    feature: str | None
    tasks: int = 0

    @property
    def messages(self) -> list[str]:
        """The lines to print."""
        lines = [f"All {self.tasks} tasks completed"] if self.tasks else []
        return [*lines, "Loop completed and reset"]


def load_loop(store: Store, session_id: str | None = None) -> Loop | None:
    """Return the current loop: this session's own, or the newest one of this worktree."""
    found = find_loop(board_files.glance(store), place_of(store, session_id))
    return found[1] if found else None


def load_loops(store: Store) -> dict[str, Loop]:
    """Return all loops of the project by the key of their session or worktree."""
    return board_files.glance(store).loops


def start(
    store: Store, key: str, *, session_id: str | None = None, again: Again | None = None
) -> Loop:
    """Begin or continue the work on a feature or fix.

    Interrupted work can repeat its attempt (retry), continue with the next one (fresh), or start
    over (reset); the caller must choose one.
    """
    place, now = place_of(store, session_id), store.now()

    def edit(state: BoardState) -> BoardState:
        item = _find_startable(state, key)
        _refuse_second(state, place, item.id)
        standing = find_loop_of(state, place, item.id)
        known = msgspec.structs.replace(item, attempts=0) if again == "reset" else item
        begun = begin_loop(known, standing[1] if standing else None, again, now)
        mine = msgspec.structs.replace(begun, worktree=place.worktree, session_id=session_id)
        state = _clear_replaced(with_loop(state, place.key, mine), place, again)
        changed = msgspec.structs.replace(known, status="in_progress")
        return state if changed == item else with_item(state, clear_completion(changed), at=now)

    return board_files.change(store, edit).loops[place.key]


def attempt(store: Store, what: Try, *, session_id: str | None = None) -> Loop:
    """Record an attempt and its outcome, in the current loop and in memory.

    A failed one leads to the next; after the last allowed one the feature is escalated.
    """
    place, now = place_of(store, session_id), store.now()
    state = board_files.load(store)
    standing = _find_current(state, place)[1]
    what = clean_try(what)
    if not what.approach:
        raise UsageError(
            "An attempt needs the approach that you tried.",
            hint='Describe it in one line: `leftoff feature attempt "Buffer the whole file"`.',
        )
    # Write to memory first: a repeated lesson is still one entry, so a kill here costs nothing.
    learn(store, find(state.board, standing.feature or ""), what)
    tried: list[str] = []

    def edit(state: BoardState) -> BoardState:
        tried[:] = [_find_current(state, place)[0]]
        return with_attempt(state, tried[0], what, now)

    return board_files.change(store, edit).loops[tried[0]]


def pass_(
    store: Store, key: str | None = None, *, session_id: str | None = None, what: Try | None = None
) -> Feature | Fix:
    """Mark a feature or fix as done: the given one, or the current one."""
    end = End(status="passing", loop_status="completed", what=what or Try())
    return _end_work(store, key, place_of(store, session_id), end)


def fail(
    store: Store,
    key: str | None = None,
    *,
    session_id: str | None = None,
    what: Try | None = None,
    status: Ending = "failing",
) -> Feature | Fix:
    """Give up a feature or fix for now: the given one, or the current one."""
    loop_status: LoopStatus = "escalated" if status == "escalated" else "needs_review"
    end = End(status=status, loop_status=loop_status, what=what or Try())
    return _end_work(store, key, place_of(store, session_id), end)


def reset_completed(store: Store, commit: str, *, session_id: str | None = None) -> Reset | None:
    """Reset a completed loop to idle, with the commit that holds its work.

    A loop in progress stays unchanged, byte for byte.
    """
    place = place_of(store, session_id)
    done: list[Reset] = []

    def edit(state: BoardState) -> BoardState:
        done.clear()
        found = find_completed(state, place)
        if found is None:
            return state
        key, standing = found
        tasks = len(standing.tasks.chain) if standing.tasks.enabled else 0
        done.append(Reset(feature=standing.feature, tasks=tasks))
        return with_loop(state, key, idle_after(standing, commit))

    board_files.change(store, edit)
    return done[0] if done else None


def _end_work(store: Store, key: str | None, place: LoopOwner, end: End) -> Feature | Fix:
    state = board_files.load(store)
    item_id = find(state.board, key).id if key else _find_current(state, place)[1].feature or ""
    what = clean_try(end.what)
    if what.approach:
        learn(store, find(state.board, item_id), what)
    now = store.now()
    end = msgspec.structs.replace(end, what=what)

    def edit(state: BoardState) -> BoardState:
        item = find(state.board, item_id)
        found = find_loop_of(state, place, item_id)
        if found is not None:
            if what.approach:
                state = with_attempt(state, found[0], what, now)
                item = find(state.board, item_id)
            state = with_loop(state, found[0], close_loop(state.loops[found[0]], end))
        verification = {**item.verification, **what.verification}
        changed = msgspec.structs.replace(item, status=end.status, verification=verification)
        return state if changed == item else with_item(state, clear_completion(changed), at=now)

    return find(board_files.change(store, edit).board, item_id)


def _clear_replaced(state: BoardState, place: LoopOwner, again: Again | None) -> BoardState:
    """Clear the loops of this worktree that the current one replaces."""
    mine = state.loops[place.key]
    for key, loop in state.loops.items():
        is_same = loop.feature == mine.feature and loop.worktree == mine.worktree
        # A loop whose attempts are all in the current one has nothing more to show.
        is_covered = again == "reset" or all(each in mine.history for each in loop.history)
        if key != place.key and is_same and is_covered:
            state = with_loop(state, key, idle_after(loop))
    return state


def _find_startable(state: BoardState, key: str) -> Feature | Fix:
    item = find(state.board, key)
    if item.is_archived:
        raise LeftoffError(
            f"{item.id} is archived",
            hint=f'Add a fix for it: `leftoff feature add "..." --fixes {quote(item.id)}`, or '
            f"restore it: `leftoff feature archive --restore {quote(item.id)}`",
        )
    return item


def _refuse_second(state: BoardState, place: LoopOwner, item_id: str) -> None:
    own = state.loops.get(place.key)
    if own is not None and own.is_under_way and own.feature != item_id:
        raise LeftoffError(
            f"{own.feature} is in progress here: attempt {own.attempt} of {own.max_attempts}",
            hint="End it first: `leftoff feature pass`, or `leftoff feature fail` to give it up "
            "for now.",
        )


def _find_current(state: BoardState, place: LoopOwner) -> tuple[str, Loop]:
    found = find_loop(state, place)
    if found is not None and found[1].is_under_way:
        return found
    following = state.board.active_feature
    if found is not None:
        state_now, item_id = found[1].status, found[1].feature
        raise LeftoffError(
            f"Work on {item_id} has ended: {state_now}",
            hint=f"Run `leftoff feature start {quote(item_id or '')}` to work on it again.",
        )
    raise LeftoffError(
        "No feature is in progress here.",
        hint=f"Start one: `leftoff feature start {quote(following.id)}`"
        if following
        else 'Add one and start it: `leftoff feature add "..." --start`',
    )
