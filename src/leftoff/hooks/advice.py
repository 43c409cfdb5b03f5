"""Prepare the reply to a session's next prompt as its context fills up."""

import os
from pathlib import Path

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import ladder, repeat_warnings, replies
from leftoff.hooks.session_event import Case
from leftoff.session import prompt_queue
from leftoff.text.fence import Rendered, join


def prepare_advice(case: Case) -> Case:
    """Write the reply to the next prompt, and queue this one if the context is nearly full."""
    event, reached = case.event, ladder.step(case.percent, case.settings)
    state = case.store.project.state_folder
    if case.before.cwd != event.cwd:
        # The session may come back to that folder and must not get an outdated reply.
        replies.remove(_place(state, event, case.before.cwd))
    is_full = reached >= ladder.CAPTURE
    if is_full and event.kind == "prompt":
        prompt_queue.keep(case.store, event)
    is_blocking = is_full and case.settings.prompts == "block"
    is_printed = _is_printed(state, event)
    case = _with_repeats(case, is_printed=is_printed)
    case = case.with_record(
        advised=_find_announced_step(case, reached, is_printed=is_printed), ready=reached
    )
    lines = [*_advice(case, reached), *repeat_warnings.lines(case.store, case.now.repeats)]
    since = None if _has_news(case) else _ready_since(_place(state, event, event.cwd))
    reason = f"context at {case.percent:.2f}%" if is_blocking else ""
    _write_reply(state, event, lines, reason=reason, since=since)
    return case


def _is_printed(state: Path, event: HookEvent) -> bool:
    """Return whether a reply was ready when this prompt came; a later one is for the next."""
    since = _ready_since(_place(state, event, event.cwd))
    return event.kind == "prompt" and since is not None and since <= event.at


def _ready_since(place: Path) -> float | None:
    return place.stat().st_mtime if place.exists() else None


def _has_news(case: Case) -> bool:
    """Return whether the reply says more than the one before this event."""
    return case.now.ready > case.before.ready or not {*case.now.repeats} <= {*case.before.repeats}


def _find_announced_step(case: Case, reached: int, *, is_printed: bool) -> int:
    """Return the highest step of the ladder that the session has been shown."""
    told = min(case.now.advised, reached)
    # Advice that was silenced is not repeated later.
    is_deferred = case.event.kind == "prompt" and case.now.deferred_at is not None
    return max(told, case.now.ready) if is_printed or is_deferred else told


def _advice(case: Case, reached: int) -> list[Rendered]:
    """Return the advice that the session has not been shown yet; none while it is silenced."""
    is_new = reached > case.now.advised and case.now.deferred_at is None
    return [ladder.advice(reached, case.percent)] if case.percent and is_new else []


def _with_repeats(case: Case, *, is_printed: bool) -> Case:
    """Record which failed approaches the session is retrying; each is reported once."""
    if is_printed:
        case = case.with_record(repeats=[], warned=[*case.now.warned, *case.now.repeats])
    return case.with_record(
        repeats=repeat_warnings.follow(case.event, case.store, case.now, case.facts)
    )


def _write_reply(
    state: Path, event: HookEvent, lines: list[Rendered], *, reason: str, since: float | None
) -> None:
    """Write the reply to the next prompt: lines to show, or a reason to block it."""
    place = _place(state, event, event.cwd)
    if event.kind == "session-end" or not (lines or reason):
        replies.remove(place)
    elif reason:
        replies.remove(place)
        replies.put(place.with_name(place.name + replies.ASK), reason)
    else:
        reply = DIALECTS[event.agent].context_reply("UserPromptSubmit", join(lines))
        replies.put(place, reply)
        if since is not None:
            # The text is the same, so a prompt that came in the meantime has seen it.
            os.utime(place, (since, since))


def _place(state: Path, event: HookEvent, folder: str) -> Path:
    return replies.path_of(state, folder, event.agent, "UserPromptSubmit", event.session_id)
