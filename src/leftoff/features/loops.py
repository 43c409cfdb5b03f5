"""The loop: start a feature, try, and try again until it passes or is given up."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from leftoff.errors import LeftoffError, Usage
from leftoff.features import files
from leftoff.features.changes import State
from leftoff.features.lessons import learn
from leftoff.features.places import Place, find_completed, find_loop, find_loop_of, place_of
from leftoff.features.texts import clean, clean_all
from leftoff.features.values import Attempt, Feature, Fix, Loop, LoopStatus, Status
from leftoff.features.work import find, with_item
from leftoff.store import Store

Ending = Literal["failing", "blocked", "escalated"]
Again = Literal["retry", "fresh", "reset"]

INTERRUPTED = "interrupted"


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried, and how it went."""

    approach: str = ""
    result: Literal["passed", "failed"] = "failed"
    errors: Sequence[str] = ()
    root_cause: str = ""
    prevention: str = ""
    verification: Mapping[str, Any] = {}


class Reset(msgspec.Struct, frozen=True, kw_only=True):
    """A completed loop that was set back to idle."""

    feature: str | None
    tasks: int = 0

    @property
    def messages(self) -> list[str]:
        """What to tell of it."""
        told = [f"All {self.tasks} tasks completed"] if self.tasks else []
        return [*told, "Loop completed and reset"]


def loop(store: Store, session_id: str | None = None) -> Loop | None:
    """Return the loop at hand: this session's own, else the newest one of this worktree."""
    found = find_loop(files.load(store), place_of(store, session_id))
    return found[1] if found else None


def loops(store: Store) -> dict[str, Loop]:
    """Return all loops of the project by the key of their session or worktree."""
    return files.load(store).loops


def keep_loop(store: Store, loop: Loop, session_id: str | None = None) -> Loop:
    """Take in a loop as it is, in place of the one of this session or worktree."""
    place = place_of(store, session_id)
    mine = msgspec.structs.replace(loop, worktree=place.worktree, session_id=session_id)
    files.change(store, lambda state: _with_loop(state, place.key, mine))
    return mine


def start(store: Store, key: str, *, session_id: str | None = None, again: Again = "retry") -> Loop:
    """Begin or take up the work on a feature or fix.

    Work that broke off is retried as it was, taken up afresh with the next attempt, or reset to
    the first one.
    """
    place, now = place_of(store, session_id), store.now()

    def edit(state: State) -> State:
        item = _startable(state, key)
        _refuse_second(state, place, item.id)
        standing = find_loop_of(state, place, item.id)
        known = standing[1] if standing and standing[1].status != "completed" else None
        if again == "reset":
            item, known = msgspec.structs.replace(item, attempts=0), None
        begun = _begun(item, now) if known is None else _again(known, again)
        mine = msgspec.structs.replace(begun, worktree=place.worktree, session_id=session_id)
        if standing and standing[0] != place.key:
            state = _with_loop(state, standing[0], Loop(worktree=place.worktree))
        state = _with_loop(state, place.key, mine)
        changed = msgspec.structs.replace(item, status="in_progress", phase=mine.phase)
        return state if changed == item else with_item(state, _reopened(changed), at=now)

    return files.change(store, edit).loops[place.key]


def attempt(store: Store, what: Try, *, session_id: str | None = None) -> Loop:
    """Note a try and how it went, in the loop at hand and in memory.

    A failed one leads to the next; after the last allowed one the feature is escalated.
    """
    place = place_of(store, session_id)
    state = files.load(store)
    key, standing = _at_hand(state, place)
    what = _cleaned(what)
    if not what.approach:
        raise Usage(
            "An attempt needs the approach that was tried.",
            hint='Say it in a line: `leftoff feature attempt "Buffer the whole file"`.',
        )
    item = find(state.board, standing.feature or "")
    # Memory first: said twice it is still one entry, so a kill in between costs nothing.
    learn(store, item, what)
    now = store.now()
    after = files.change(store, lambda state: _tried(state, key, what, now))
    return after.loops[key]


def pass_(
    store: Store, key: str | None = None, *, session_id: str | None = None, what: Try | None = None
) -> Feature | Fix:
    """Say that a feature or fix is done: the one named, or the one at hand."""
    end = _End(status="passing", loop_status="completed", what=what or Try())
    return _ended(store, key, place_of(store, session_id), end)


def fail(
    store: Store,
    key: str | None = None,
    *,
    session_id: str | None = None,
    what: Try | None = None,
    status: Ending = "failing",
) -> Feature | Fix:
    """Give a feature or fix up for now: the one named, or the one at hand."""
    loop_status: LoopStatus = "escalated" if status == "escalated" else "needs_review"
    end = _End(status=status, loop_status=loop_status, what=what or Try())
    return _ended(store, key, place_of(store, session_id), end)


def reset_completed(store: Store, commit: str, *, session_id: str | None = None) -> Reset | None:
    """Set a completed loop back to idle, with the commit that holds its work.

    One that is still under way stays as it is, byte for byte.
    """
    place = place_of(store, session_id)
    done: list[Reset] = []

    def edit(state: State) -> State:
        done.clear()
        found = find_completed(state, place)
        if found is None:
            return state
        key, standing = found
        done.append(Reset(feature=standing.feature, tasks=len(standing.tasks.chain)))
        idle = Loop(
            last_checkpoint=commit, worktree=standing.worktree, session_id=standing.session_id
        )
        return _with_loop(state, key, idle)

    files.change(store, edit)
    return done[0] if done else None


class _End(msgspec.Struct, frozen=True, kw_only=True):
    status: Status
    loop_status: LoopStatus
    what: Try


def _ended(store: Store, key: str | None, place: Place, end: _End) -> Feature | Fix:
    state = files.load(store)
    item_id = find(state.board, key).id if key else _at_hand(state, place)[1].feature or ""
    what = _cleaned(end.what)
    if what.approach:
        learn(store, find(state.board, item_id), what)
    now = store.now()

    def edit(state: State) -> State:
        item = find(state.board, item_id)
        found = find_loop_of(state, place, item_id)
        if found is not None:
            if what.approach:
                state = _tried(state, found[0], what, now)
                item = find(state.board, item_id)
            state = _with_loop(state, found[0], _closed(state.loops[found[0]], end))
        verification = {**item.verification, **end.what.verification}
        changed = msgspec.structs.replace(item, status=end.status, verification=verification)
        return state if changed == item else with_item(state, _reopened(changed), at=now)

    return find(files.change(store, edit).board, item_id)


def _closed(standing: Loop, end: _End) -> Loop:
    is_done = end.loop_status == "completed"
    tasks = standing.tasks
    if is_done:
        tasks = msgspec.structs.replace(tasks, current=None, completed=list(tasks.chain))
    return msgspec.structs.replace(
        standing,
        status=end.loop_status,
        verification={**standing.verification, **end.what.verification},
        tasks=tasks,
        escalation_requested=end.loop_status == "escalated",
        interrupted=None,
    )


def _tried(state: State, key: str, what: Try, now: datetime) -> State:
    standing = state.loops[key]
    last = standing.history[-1].attempt if standing.history else 0
    number = max(standing.attempt, last + 1)
    has_failed = what.result == "failed"
    is_last = has_failed and number >= standing.max_attempts
    tried = Attempt(
        attempt=number,
        approach=what.approach,
        result=what.result,
        errors=list(what.errors),
        root_cause=what.root_cause,
    )
    after = msgspec.structs.replace(
        standing,
        attempt=number + 1 if has_failed and not is_last else number,
        status="escalated" if is_last else "in_progress",
        escalation_requested=is_last,
        last_attempt_at=now,
        verification={**standing.verification, **what.verification},
        history=[*standing.history, tried],
        interrupted=None,
    )
    item = find(state.board, standing.feature or "")
    changed = msgspec.structs.replace(
        item,
        attempts=max(item.attempts, number),
        status="escalated" if is_last else item.status,
    )
    return with_item(_with_loop(state, key, after), changed, at=now)


def _cleaned(what: Try) -> Try:
    return msgspec.structs.replace(
        what,
        approach=clean(what.approach),
        errors=clean_all(what.errors),
        root_cause=clean(what.root_cause),
        prevention=clean(what.prevention),
    )


def _begun(item: Feature | Fix, now: datetime) -> Loop:
    linked_to = item.linked_to if isinstance(item, Fix) else None
    return Loop(
        feature=item.id,
        name=item.name,
        type="fix" if linked_to else "feature",
        linked_to=linked_to,
        status="in_progress",
        phase=item.phase,
        attempt=item.attempts + 1,
        max_attempts=item.max_attempts,
        started_at=now,
    )


def _again(standing: Loop, again: Again) -> Loop:
    """Take up a loop; an attempt that broke off counts, unless it is to be tried once more."""
    begun = msgspec.structs.replace(
        standing, status="in_progress", escalation_requested=False, interrupted=None
    )
    if again == "retry" or standing.interrupted is None:
        return begun
    broken = Attempt(
        attempt=standing.attempt, approach="(broken off before it was told)", result=INTERRUPTED
    )
    return msgspec.structs.replace(
        begun, attempt=standing.attempt + 1, history=[*standing.history, broken]
    )


def _reopened(item: Feature | Fix) -> Feature | Fix:
    """Take the older mark of completion off what is worked on again."""
    if item.status == "passing" or "passes" not in item.extra:
        return item
    return msgspec.structs.replace(item, extra={**item.extra, "passes": False})


def _startable(state: State, key: str) -> Feature | Fix:
    item = find(state.board, key)
    if item.is_archived:
        raise LeftoffError(
            f"{item.id} was archived",
            hint=f'Note what is still wrong: `leftoff feature add "..." --fixes {item.id}`',
        )
    return item


def _refuse_second(state: State, place: Place, item_id: str) -> None:
    own = state.loops.get(place.key)
    if own is not None and own.is_under_way and own.feature != item_id:
        raise LeftoffError(
            f"{own.feature} is under way here, attempt {own.attempt} of {own.max_attempts}",
            hint="End it first: `leftoff feature pass`, or `leftoff feature fail` to give it up "
            "for now.",
        )


def _at_hand(state: State, place: Place) -> tuple[str, Loop]:
    found = find_loop(state, place)
    if found is not None and found[1].is_under_way:
        return found
    following = state.board.active_feature
    if found is not None:
        state_now, item_id = found[1].status, found[1].feature
        raise LeftoffError(
            f"The work on {item_id} is over: {state_now}",
            hint=f"`leftoff feature start {item_id}` takes it up again.",
        )
    raise LeftoffError(
        "No feature is under way here.",
        hint=f"Start one: `leftoff feature start {following.id}`"
        if following
        else 'Note one and start it: `leftoff feature add "..." --start`',
    )


def _with_loop(state: State, key: str, loop: Loop) -> State:
    return msgspec.structs.replace(state, loops={**state.loops, key: loop})
