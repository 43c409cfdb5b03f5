"""Begin, continue and close a loop, and add attempts to it, as pure functions.

A loop is the work on one feature or fix: one attempt after the other until its checks pass.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from leftoff import knowledge
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import Attempt, Feature, Fix, Loop, LoopStatus, Status
from leftoff.knowledge.features.change_log import BoardState
from leftoff.knowledge.features.clean_texts import clean, clean_all
from leftoff.knowledge.features.edit_board import find, with_item
from leftoff.knowledge.features.interruption import ask_how_to_continue
from leftoff.knowledge.features.loop_owner import find_loop_of, place_of
from leftoff.knowledge.features.work_context import helper_text
from leftoff.store import Store

Again = Literal["retry", "fresh", "reset"]

INTERRUPTED = "interrupted"


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt and its outcome, as reported by the one who made it."""

    approach: str = ""
    result: Literal["passed", "failed"] = "failed"
    errors: Sequence[str] = ()
    root_cause: str = ""
    prevention: str = ""
    verification: Mapping[str, Any] = {}


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a loop, and its last attempt."""

    status: Status
    loop_status: LoopStatus
    what: Try


def begin_loop(
    item: Feature | Fix, standing: Loop | None, again: Again | None, at: datetime
) -> Loop:
    """Return the loop to work in: a new one, or the existing one."""
    if standing is None or standing.status == "completed" or again == "reset":
        return _build_loop(item, at)
    if again is None and standing.interrupted is not None:
        raise ask_how_to_continue(standing)
    return _continue_loop(standing, again)


def _build_loop(item: Feature | Fix, now: datetime) -> Loop:
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


def _continue_loop(standing: Loop, again: Again | None) -> Loop:
    """Continue a loop; an interrupted attempt counts, unless it is to be repeated."""
    begun = msgspec.structs.replace(
        standing, status="in_progress", escalation_requested=False, interrupted=None
    )
    if again != "fresh" or standing.interrupted is None:
        return begun
    broken = Attempt(
        attempt=standing.attempt, approach="(interrupted before it was noted)", result=INTERRUPTED
    )
    return msgspec.structs.replace(
        begun, attempt=standing.attempt + 1, history=[*standing.history, broken]
    )


def close_loop(standing: Loop, end: End) -> Loop:
    """Return the loop in its final state."""
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


def with_attempt(state: BoardState, key: str, what: Try, now: datetime) -> BoardState:
    """Record an attempt in a loop, and the number of attempts on the board."""
    standing = state.loops[key]
    # A number is never used twice, even if the counter lags behind the history.
    last = standing.history[-1].attempt if standing.history else 0
    number = max(standing.attempt, last + 1)
    has_failed = what.result == "failed"
    is_last = has_failed and number >= standing.max_attempts
    after = msgspec.structs.replace(
        standing,
        attempt=number + 1 if has_failed and not is_last else number,
        status="escalated" if is_last else "in_progress",
        escalation_requested=is_last,
        last_attempt_at=now,
        verification={**standing.verification, **what.verification},
        history=[*standing.history, _build_attempt(what, number)],
        interrupted=None,
    )
    item = find(state.board, standing.feature or "")
    changed = msgspec.structs.replace(
        item,
        attempts=max(item.attempts, number),
        status="escalated" if is_last else item.status,
    )
    return with_item(with_loop(state, key, after), changed, at=now)


def _build_attempt(what: Try, number: int) -> Attempt:
    return Attempt(
        attempt=number,
        approach=what.approach,
        result=what.result,
        errors=list(what.errors),
        root_cause=what.root_cause,
    )


def idle_after(standing: Loop, commit: str | None = None) -> Loop:
    """Return the idle record that follows a loop."""
    return Loop(last_checkpoint=commit, worktree=standing.worktree, session_id=standing.session_id)


def clean_try(what: Try) -> Try:
    """Return an attempt ready for storage."""
    return msgspec.structs.replace(
        what,
        approach=clean(what.approach),
        errors=clean_all(what.errors),
        root_cause=clean(what.root_cause),
        prevention=clean(what.prevention),
        verification={
            key: clean(value) if isinstance(value, str) else value
            for key, value in what.verification.items()
        },
    )


def clear_completion(item: Feature | Fix) -> Feature | Fix:
    """Remove the older mark of completion from an item that is worked on again."""
    if item.status == "passing" or "passes" not in item.extra:
        return item
    return msgspec.structs.replace(item, extra={**item.extra, "passes": False})


def with_loop(state: BoardState, key: str, loop: Loop) -> BoardState:
    """Return the state with a loop stored under a key."""
    return msgspec.structs.replace(state, loops={**state.loops, key: loop})


# --- what attempts teach ---


_RULES = 5


def learn(store: Store, item: Feature | Fix, what: Try) -> None:
    """Store the outcome of an attempt in knowledge.memory."""
    lesson = knowledge.memory.EntryDraft(
        kind="failure" if what.result == "failed" else "success",
        text=what.approach,
        why=what.root_cause or "; ".join(what.errors),
        impact=what.prevention,
        feature=item.id,
        sources=[item.id],
        files=list(item.related_files),
        extra={knowledge.memory.DETAILS: {"errors": list(what.errors)}} if what.errors else {},
    )
    knowledge.memory.add(store, [lesson])


def brief_helper(store: Store, item: Feature | Fix, *, verify: Sequence[str] = ()) -> str:
    """Write a short briefing for a helper agent: the work, what failed, and the rules."""
    found = find_loop_of(board_files.load(store), place_of(store, None), item.id)
    standing = found[1] if found else Loop(feature=item.id, attempt=item.attempts + 1)
    rules = [entry.text for entry in knowledge.memory.entries(store, kinds=["rule"], limit=_RULES)]
    return helper_text(standing, item, verify=verify, rules=rules)
