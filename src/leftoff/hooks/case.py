"""The case: an event with the session it belongs to, as it was before and as it is now."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from leftoff import capture, config, paths, processes, records
from leftoff.dialects.base import HookEvent
from leftoff.facts.report import Facts, report
from leftoff.hooks import live, transcript, turns
from leftoff.hooks.lag import wait_for_words
from leftoff.records import Record
from leftoff.sessions import remembered, remembering
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

    @property
    def percent(self) -> float | None:
        """How full the context is, if that is known."""
        return self.facts.percent if self.facts is not None else None

    def noting(self, **changes: Any) -> Self:
        """Return the case with these changes to the session's record."""
        return msgspec.structs.replace(self, now=msgspec.structs.replace(self.now, **changes))


def read_case(event: HookEvent, store: Store, settings: config.Settings) -> Case:
    """Read what is known of an event's session, and what is new in its transcript."""
    before = records.load(store, event.agent, event.session_id)
    memory = remembered(before)
    now = _followed(event, _seen(event, before), memory, store)
    memory = transcript.read_on(now, memory)
    if memory is not None:
        now = remembering(now, memory)
    return Case(
        event=event,
        store=store,
        settings=settings,
        before=before,
        now=now,
        facts=_facts(memory, event) if memory is not None else None,
        memory=memory,
    )


def _seen(event: HookEvent, before: Record) -> Record:
    """Put what the event itself tells of its session into the record."""
    at = datetime.fromtimestamp(event.at, UTC)
    return msgspec.structs.replace(
        before,
        cwd=event.cwd,
        transcript_path=event.transcript_path or before.transcript_path,
        begun_at=before.begun_at or at,
        # An agent that tells it is idle has not been at work since.
        seen_at=before.seen_at or at if event.kind == "idle" else at,
        ended_at=at if event.kind == "session-end" else None,
        end_reason=event.source if event.kind == "session-end" else "",
        deferred_at=None if event.kind == "pre-compact" else before.deferred_at,
    )


def _followed(
    event: HookEvent, record: Record, memory: capture.SessionMemory | None, store: Store
) -> Record:
    """Keep what the event tells until the transcript has it; a turn's end is waited for."""
    read = memory.cursor.offset if memory is not None else 0
    is_awaited = event.kind == "stop" and record.transcript_path
    is_written = bool(is_awaited) and wait_for_words(
        event.last_words,
        Path(record.transcript_path),
        told_at=event.at,
        after=read,
        is_writer_alive=lambda: _is_alive(event, store),
    )
    turn = turns.follow(event, record.turn, read=read, is_written=is_written)
    return msgspec.structs.replace(record, turn=turn)


def _is_alive(event: HookEvent, store: Store) -> bool:
    """Say whether the agent still runs, as far as it told who runs it."""
    lives = records.lives(paths.state_folder(), store.project)
    pids = [(life.pid, life.pid_began) for life in lives if life.session_id == event.session_id]
    return all(not pid or processes.is_alive(pid, began) for pid, began in pids)


def _facts(memory: capture.SessionMemory, event: HookEvent) -> Facts:
    return live.with_live_use(report(memory.state), paths.state_folder(), event.session_id)
