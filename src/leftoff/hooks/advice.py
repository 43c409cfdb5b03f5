"""Prepare the reply to a session's next prompt: advice on its context, and failed approaches."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff import hooks, knowledge
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import context_usage, replies
from leftoff.hooks.offers import StartReply
from leftoff.hooks.session_event import Case
from leftoff.redact import redact
from leftoff.session import prompt_queue
from leftoff.session.facts.report import Facts
from leftoff.session.records import SessionRecord
from leftoff.store import Store
from leftoff.text.fence import Rendered, join, join_notices, say


def prepare_advice(case: Case) -> Case:
    """Write the reply to the next prompt, and queue this one if the context is nearly full."""
    event, reached = case.event, context_usage.find_step(case.percent, case.settings)
    state = case.store.project.state_folder
    if case.before.cwd != event.cwd:
        # The session may come back to that folder and must not get an outdated reply.
        replies.remove(_place(state, event, case.before.cwd))
    is_full = reached >= context_usage.CAPTURE
    if is_full and event.kind == "prompt":
        prompt_queue.keep(case.store, event)
    is_printed = _is_printed(state, event)
    case = _with_repeats(case, is_printed=is_printed)
    case = _follow_compactions(case, is_printed=is_printed)
    if case.now.recaps and event.kind == "pre-compact":
        # How full the context is after a compaction is known with the next answer.
        reached, is_full = 0, False
    is_blocking = is_full and case.settings.prompts == "block"
    case = case.with_record(
        advised=_find_announced_step(case, reached, is_printed=is_printed), ready=reached
    )
    late = _find_late_offer(case, is_printed=is_printed)
    lost, is_loss_new = _find_loss(case, is_printed=is_printed)
    kept = _remind_of_prompts(case)
    advice = [
        *lost,
        *_retell(case),
        *([kept.text] if kept.text else []),
        *_choose_advice(case, reached),
        *warn_of_repeats(case.store, case.now.repeats),
    ]
    is_new = _has_news(case) or late.is_new or is_loss_new
    since = None if is_new else _find_ready_time(_place(state, event, event.cwd))
    reason = f"context at {case.percent:.2f}%" if is_blocking else ""
    reply = late.reply
    if advice:
        notice = join_notices(late.reply.notice, kept.notice)
        reply = StartReply(join([late.reply.text, *advice]), notice)
    _write_reply(state, event, reply, reason=reason, since=since)
    return case


def _is_printed(state: Path, event: HookEvent) -> bool:
    """Return whether a reply was ready when this prompt came; a later one is for the next."""
    since = _find_ready_time(_place(state, event, event.cwd))
    return event.kind == "prompt" and since is not None and since <= event.at


def _find_ready_time(place: Path) -> float | None:
    return place.stat().st_mtime if place.exists() else None


def _has_news(case: Case) -> bool:
    """Return whether the reply says more than the one before this event."""
    has_more = case.now.ready > case.before.ready or case.now.recaps > case.before.recaps
    return has_more or not {*case.now.repeats} <= {*case.before.repeats}


def _follow_compactions(case: Case, *, is_printed: bool) -> Case:
    """Record whether the next prompt is the first chance to give a session its state back."""
    if DIALECTS[case.event.agent].STARTS_AFTER_COMPACTION:
        return case
    if is_printed and case.now.recaps:
        case = case.with_record(recaps=False, compactions=_count_compactions(case))
    # Not every agent reports every compaction, but their transcripts show it.
    is_due = case.event.kind == "pre-compact" or _is_compacted(case)
    return case.with_record(recaps=case.now.recaps or is_due)


def _count_compactions(case: Case) -> int:
    return case.facts.compactions if case.facts is not None else 0


def _is_compacted(case: Case) -> bool:
    """Return whether the transcript shows a compaction since the session got its state."""
    return _count_compactions(case) > case.now.compactions


def _retell(case: Case) -> list[Rendered]:
    """Return the session's state before the compaction, if the next prompt is to bring it."""
    if not case.now.recaps:
        return []
    return [
        hooks.after_compaction.format_recovery(
            case.event, case.store, case.settings, is_certain=_is_compacted(case)
        )
    ]


def _remind_of_prompts(case: Case) -> StartReply:
    """Return what to say about kept prompts, if the next prompt brings the state back."""
    if not case.now.recaps:
        return StartReply()
    event = msgspec.structs.replace(case.event, source="compact")
    return hooks.pending_notice.add_kept_prompts(StartReply(), event, case.store, case.settings)


def _find_announced_step(case: Case, reached: int, *, is_printed: bool) -> int:
    """Return the highest step of the ladder that the session has been shown."""
    announced = min(case.now.advised, reached)
    # Advice that was silenced is not repeated later.
    is_deferred = case.event.kind == "prompt" and case.now.deferred_at is not None
    return max(announced, case.now.ready) if is_printed or is_deferred else announced


def _choose_advice(case: Case, reached: int) -> list[Rendered]:
    """Return the advice that the session has not been shown yet; none while it is silenced."""
    is_new = reached > case.now.advised and case.now.deferred_at is None
    if not (case.percent and is_new):
        return []
    return [context_usage.format_advice(reached, case.percent, case.settings, case.event.agent)]


def _with_repeats(case: Case, *, is_printed: bool) -> Case:
    """Record which failed approaches the session is retrying; each is reported once."""
    if is_printed:
        case = case.with_record(repeats=[], warned=[*case.now.warned, *case.now.repeats])
    return case.with_record(repeats=find_new_repeats(case.event, case.store, case.now, case.facts))


def _find_loss(case: Case, *, is_printed: bool) -> tuple[list[Rendered], bool]:
    """Return what to say about code that a command destroyed, and whether that is new."""
    event, state = case.event, case.store.project.state_folder
    if not replies.watched_path(state, event.agent, event.session_id).exists():
        return [], False
    return hooks.lost_code.find_loss(case, is_printed=is_printed)


class _Late(msgspec.Struct, frozen=True):
    """An offer that the session start could not make in time."""

    reply: StartReply = StartReply()
    is_new: bool = False


def _find_late_offer(case: Case, *, is_printed: bool) -> _Late:
    """Return what the session start still owes the session; it is offered once."""
    event, state = case.event, case.store.project.state_folder
    if not replies.owed_path(state, event.agent, event.session_id).exists():
        return _Late()
    late_offers = hooks.late_offers
    owed = late_offers.read(state, event.agent, event.session_id)
    if owed is None or event.kind == "session-end" or (owed.is_ready and is_printed):
        late_offers.forget(state, event.agent, event.session_id)
        return _Late()
    made = late_offers.build(case.store, case.settings, owed)
    if made.text and not owed.is_ready:
        late_offers.mark_ready(state, owed)
    life = case.sight.life
    if made.offered and life is not None and not owed.is_ready:
        case.sight.life = msgspec.structs.replace(life, offered=made.offered)
    return _Late(made, is_new=not owed.is_ready)


def _write_reply(
    state: Path, event: HookEvent, made: StartReply, *, reason: str, since: float | None
) -> None:
    """Write the reply to the next prompt: text to show, or a reason to block it."""
    place = _place(state, event, event.cwd)
    if event.kind == "session-end" or not (made.text or reason):
        replies.remove(place)
    elif reason:
        replies.remove(place)
        replies.put_ask(place, reason)
    else:
        reply = DIALECTS[event.agent].context_reply(
            "UserPromptSubmit", made.text, notice=made.notice
        )
        replies.put(place, reply)
        place.with_name(place.name + replies.ASK).unlink(missing_ok=True)
        if since is not None:
            # The text is the same, so a prompt that came in the meantime has seen it.
            os.utime(place, (since, since))


def _place(state: Path, event: HookEvent, folder: str) -> Path:
    return replies.path_of(state, folder, event.agent, "UserPromptSubmit", event.session_id)


# --- failed approaches that a session tries again ---


_MOST_REPEATS = 3


def find_new_repeats(
    event: HookEvent, store: Store, record: SessionRecord, facts: Facts | None
) -> list[str]:
    """Return the ids of the failed approaches to mention in the reply to the next prompt."""
    # Most projects have no memory, and loading it takes longer than settling a prompt without it.
    if not any(path.exists() for path in store.log_paths("memory")):
        return record.repeats
    known = {*record.repeats, *record.warned}
    new = [entry_id for entry_id in _find_repeats(event, store, facts) if entry_id not in known]
    return [*record.repeats, *dict.fromkeys(new)][:_MOST_REPEATS]


def _find_repeats(event: HookEvent, store: Store, facts: Facts | None) -> Iterator[str]:
    files = facts.files_modified if facts is not None else []
    for command, text in _find_attempts(event, facts):
        entry = knowledge.memory.find_repeat(store, command=command, files=files, text=redact(text))
        # Retrying after a fix is normal, so the session that reported the failure is not warned.
        if entry is not None and event.session_id not in entry.sources:
            yield entry.id


def _find_attempts(event: HookEvent, facts: Facts | None) -> Iterator[tuple[str, str]]:
    """Yield the commands and texts that may show a failed approach."""
    if event.kind == "pre-tool":
        yield event.command, ""
    elif event.kind == "prompt":
        yield "", event.prompt
    elif event.kind == "stop" and facts is not None:
        yield "", facts.next_words
        for command in facts.commands:
            yield command, ""


def warn_of_repeats(store: Store, ids: list[str]) -> list[Rendered]:
    """Return one line for each approach that failed before."""
    found = []
    for entry_id in ids:
        # The entry may have been rejected in the meantime, or its log deleted.
        with contextlib.suppress(knowledge.memory.NoSuchEntry):
            found.append(knowledge.memory.find(store, entry_id))
    return [
        say("leftoff: {text:300}", text=knowledge.memory.format_warning(entry))
        for entry in found
        if entry.status == "active"
    ]
