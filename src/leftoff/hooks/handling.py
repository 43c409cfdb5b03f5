"""What each event means: refresh what is known of the session, and save when a trigger says so."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff import autosaving, capture, config, paths, prompts, records, saving
from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent
from leftoff.facts.report import Facts, report
from leftoff.hooks import replies, triggers
from leftoff.records import Life, Record
from leftoff.sessions import KnownSession, remembered, remembering
from leftoff.store import Store


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """An event with the session it belongs to, as it was before and as it is now."""

    event: HookEvent
    store: Store
    settings: config.Settings
    before: Record
    now: Record
    facts: Facts | None = None
    memory: capture.SessionMemory | None = None

    @property
    def at(self) -> datetime:
        """When the event came."""
        return datetime.fromtimestamp(self.event.at, UTC)


def handle(event: HookEvent, store: Store) -> None:
    """Settle one event of a project."""
    settings = config.load(store.project).settings
    case = _read(event, store, settings)
    trigger = _trigger(case)
    if trigger is not None:
        case = _saved(case, trigger)
    case = _answered(case)
    records.keep(store, case.now)
    if event.kind == "session-end":
        records.end_life(store, event.agent, event.session_id)
    else:
        _live(case)


def _read(event: HookEvent, store: Store, settings: config.Settings) -> Case:
    before = records.load(store, event.agent, event.session_id)
    at = datetime.fromtimestamp(event.at, UTC)
    now = msgspec.structs.replace(
        before,
        cwd=event.cwd,
        transcript_path=event.transcript_path or before.transcript_path,
        begun_at=before.begun_at or at,
        seen_at=at,
        ended_at=at if event.kind == "session-end" else None,
        end_reason=event.source if event.kind == "session-end" else "",
    )
    memory = _memory(now)
    if memory is not None:
        now = remembering(now, memory)
    return Case(
        event=event,
        store=store,
        settings=settings,
        before=before,
        now=now,
        facts=report(memory.state) if memory is not None else None,
        memory=memory,
    )


def _memory(record: Record) -> capture.SessionMemory | None:
    """Read what is new in the transcript; without one, what was learnt while it was there."""
    memory = remembered(record)
    path = Path(record.transcript_path)
    if not record.transcript_path or not path.is_file():
        return memory
    return capture.read_session(path, agent=record.agent, memory=memory)


def _trigger(case: Case) -> str | None:
    """Say why the state should be saved now, if it should."""
    event, facts = case.event, case.facts
    percent = facts.percent if facts else None
    if event.kind in {"pre-compact", "session-end"}:
        return "precompact" if event.kind == "pre-compact" else "session-end"
    if event.kind == "prompt" and triggers.is_close(event.prompt):
        return "close"
    if event.kind in {"prompt", "idle"} and _idle_seconds(case) > triggers.IDLE_SECONDS:
        return "idle"
    if event.kind == "pre-tool":
        return "long-command" if triggers.is_long(event.command, event.timeout_seconds) else None
    return "context" if triggers.is_autosave_due(percent, case.settings) else None


def _idle_seconds(case: Case) -> float:
    return (case.at - case.before.seen_at).total_seconds() if case.before.seen_at else 0.0


def _saved(case: Case, trigger: str) -> Case:
    """Save the session's state, unless there is nothing to save or it is saved already."""
    session = known(case.store, case.now, case.facts, case.memory)
    if session is None:
        return case
    draft = saving.compose({"trigger": trigger}, case.store, session=session)
    digest = autosaving.digest(draft)
    if digest == case.now.autosaved_state or autosaving.is_saved_on_purpose(session):
        return case
    autosaving.autosave(case.store, draft)
    now = msgspec.structs.replace(case.now, autosaved_at=case.store.now(), autosaved_state=digest)
    return msgspec.structs.replace(case, now=now)


def known(
    store: Store, record: Record, facts: Facts | None, memory: capture.SessionMemory | None
) -> KnownSession | None:
    """Put together what is known of a session; None if nothing was ever asked in it."""
    if facts is None or memory is None or not facts.intent:
        return None
    path = Path(record.transcript_path)
    touched = path.stat().st_mtime if path.is_file() else 0.0
    return KnownSession(
        agent=record.agent,
        session_id=record.session_id,
        path=path,
        touched_at=datetime.fromtimestamp(touched, UTC),
        facts=facts,
        memory=memory,
        checkpoint=store.index().newest_of_session(record.session_id),
    )


def _answered(case: Case) -> Case:
    """Lay the reply to the next prompt ready; keep this prompt if the context is nearly full."""
    event, percent = case.event, case.facts.percent if case.facts else None
    reached = triggers.step(percent, case.settings)
    place = replies.path_of(
        paths.state_folder(), event.cwd, event.agent, "UserPromptSubmit", event.session_id
    )
    advised = min(case.now.advised, reached)
    if event.kind == "prompt":
        # What lay ready was printed with this prompt.
        advised = max(advised, triggers.step(_percent_before(case), case.settings))
        if reached >= triggers.CAPTURE:
            prompts.keep(case.store, event)
    if event.kind == "session-end" or percent is None:
        replies.remove(place)
    elif reached >= triggers.CAPTURE and case.settings.prompts == "block":
        replies.remove(place)
        replies.put(place.with_name(place.name + replies.ASK), f"context at {percent:.2f}%")
    elif reached > advised:
        text = triggers.advice(reached, percent)
        replies.put(place, DIALECTS[event.agent].context_reply("UserPromptSubmit", text))
    else:
        replies.remove(place)
    return msgspec.structs.replace(case, now=msgspec.structs.replace(case.now, advised=advised))


def _percent_before(case: Case) -> float | None:
    memory = remembered(case.before)
    return report(memory.state).percent if memory is not None else None


def _live(case: Case) -> None:
    """Note that the session runs, without losing who runs it."""
    event = case.event
    for life in records.lives(case.store):
        if (life.agent, life.session_id) == (event.agent, event.session_id):
            seen = msgspec.structs.replace(life, cwd=event.cwd, seen_at=event.at)
            records.keep_life(case.store, seen)
            return
    life = Life(agent=event.agent, session_id=event.session_id, cwd=event.cwd, seen_at=event.at)
    records.keep_life(case.store, life)
