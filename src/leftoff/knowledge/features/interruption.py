"""Handle interrupted work: a session ended or died in the middle of a loop."""

from collections.abc import Sequence
from shlex import quote

import msgspec

from leftoff.errors import ChoiceNeeded
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import Attempt, Interrupted, Loop
from leftoff.knowledge.features.change_log import BoardState
from leftoff.knowledge.features.loop_owner import place_of
from leftoff.store import Store
from leftoff.text.fence import Rendered, join, say

# The reply at session start needs room for other messages.
_LAST_FAILED = 5
# Other systems write `success`; an interrupted attempt has not failed yet.
_NO_FAILURE = frozenset({"passed", "success", "interrupted"})


def mark_interrupted(store: Store, session_id: str, reason: str) -> Interrupted | None:
    """Record that a session ended during its loop; return None if there was nothing to record.

    Only that session's own loop is touched: others in the same worktree may be alive.
    """
    key = place_of(store, session_id).key
    if not _is_to_mark(board_files.load(store), key):
        return None
    now = store.now()

    def edit(state: BoardState) -> BoardState:
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

    return board_files.change(store, edit).loops[key].interrupted


def list_interrupted_loops(store: Store) -> list[Loop]:
    """Return the interrupted loops of this worktree, newest first."""
    state = board_files.load(store)
    here = place_of(store, None).worktree
    still_open = {item.id for item in state.board.open_items}
    broken = [
        (loop.interrupted.at, key)
        for key, loop in state.loops.items()
        if loop.interrupted and loop.is_under_way and loop.worktree == here
        if loop.feature in still_open
    ]
    return [state.loops[key] for _, key in sorted(broken, reverse=True)]


def ask_how_to_continue(loop: Loop) -> ChoiceNeeded:
    """Ask how to continue an interrupted loop, with what was tried and the ways to continue."""
    command = f"leftoff feature start {quote(loop.feature or '')} --again"
    labels = {
        "fresh": "FRESH APPROACH: continue with the next attempt, in a different way",
        "retry": "RETRY SAME: repeat the interrupted attempt",
        "reset": "RESET: start over from the first attempt",
    }
    return ChoiceNeeded(
        "\n".join(
            [f"INTERRUPTED: {_format_interruption(loop)}", *list_failed_approaches(loop.history)]
        ),
        question="How do you want to go on?",
        choices=[
            {"choice": choice, "label": label, "command": f"{command} {choice}"}
            for choice, label in labels.items()
        ],
        hint=f"Choose one: `{command} fresh`, `retry` or `reset`.",
    )


def describe_ways_to_continue(loop: Loop) -> Rendered:
    """Describe an interrupted loop, its last failed approaches, and the commands to continue.

    Descriptions of failures can be long, and the reply has to fit more, so lines are cut.
    """
    failed = list_failed_approaches(loop.history)[-_LAST_FAILED:]
    ways = ask_how_to_continue(loop).choices
    return join(
        [
            say("INTERRUPTED: {text:150}", text=_format_interruption(loop)),
            *(say("  {text:160}", text=each) for each in failed),
            *(say("{label}: `{command:160}`", **each) for each in ways),
        ]
    )


def list_failed_approaches(history: Sequence[Attempt]) -> list[str]:
    """Return a line for each approach that failed, with its reason."""
    return [
        f"  {tried.attempt}. {tried.approach}" + (f" -> {why}" if why else "")
        for tried in history
        if tried.result not in _NO_FAILURE
        for why in [tried.root_cause or "; ".join(tried.errors)]
    ]


def _format_interruption(loop: Loop) -> str:
    mark = loop.interrupted
    reason = f" ({mark.reason})" if mark and mark.reason else ""
    phase = f", phase {mark.phase}" if mark and mark.phase else ""
    attempt = f"attempt {loop.attempt} of {loop.max_attempts}{phase}"
    named = " ".join(filter(None, (loop.feature, loop.name)))
    return f"{named} broke off at {attempt}{reason}"


def _is_to_mark(state: BoardState, key: str) -> bool:
    loop = state.loops.get(key)
    return loop is not None and loop.is_under_way and loop.interrupted is None
