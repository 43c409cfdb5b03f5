"""Combine a hook event with what is known about its session."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from leftoff import config, processes
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import context_usage, read_transcript, unwritten_turn
from leftoff.hooks.wait_for_transcript import wait_for_words
from leftoff.session import capture, records
from leftoff.session.facts.report import Facts, report
from leftoff.session.records import SessionRecord
from leftoff.session.sessions import read_memory, with_memory
from leftoff.store import Store


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """An event and its session: the record before the event, and the record now."""

    event: HookEvent
    store: Store
    settings: config.Settings
    before: SessionRecord
    now: SessionRecord
    facts: Facts | None = None
    memory: capture.SessionMemory | None = None
    sight: "Sight"

    @property
    def at(self) -> datetime:
        """When the event occurred."""
        return datetime.fromtimestamp(self.event.at, UTC)

    @property
    def percent(self) -> float | None:
        """How full the context is; None if unknown."""
        return self.facts.percent if self.facts is not None else None

    def with_record(self, **changes: Any) -> Self:
        """Return a copy with these changes to the session's record."""
        return msgspec.structs.replace(self, now=msgspec.structs.replace(self.now, **changes))


class Sight:
    """What is known about one session, read once and updated by each of its events."""

    def __init__(self, store: Store, agent: str, session_id: str) -> None:
        self.store = store
        self.record = records.load(store, agent, session_id)
        self.life = records.life_of(store.project.state_folder, agent, session_id)
        self._memory = read_memory(self.record)
        self._kept = self.record.memory
        self._stamp: tuple[object, ...] = ()
        self._written = self.record
        self._last: Case | None = None
        self._facts: tuple[capture.SessionMemory, Facts] | None = None

    @property
    def read_offset(self) -> int:
        """How much of the transcript has been read."""
        return self._memory.cursor.offset if self._memory is not None else 0

    def is_alive(self) -> bool:
        """Return whether the agent still runs; True if its process is unknown."""
        life = self.life
        return life is None or not life.pid or processes.is_alive(life.pid, life.pid_began)

    def read_on(self, record: SessionRecord) -> tuple[SessionRecord, capture.SessionMemory | None]:
        """Read new lines of the transcript, unless the file has not changed."""
        stamp = _stamp(record.transcript_path)
        if not stamp or stamp != self._stamp:
            self._memory = read_transcript.read_on(record, self._memory)
            self._stamp = stamp
            if self._memory is not None:
                self._kept = with_memory(record, self._memory).memory
        return msgspec.structs.replace(record, memory=self._kept), self._memory

    def facts(self, memory: capture.SessionMemory) -> Facts:
        """Report the facts in a session's memory; each memory is evaluated once."""
        if self._facts is None or self._facts[0] is not memory:
            self._facts = (memory, report(memory.state))
        return context_usage.with_live_use(
            self._facts[1], self.store.project.state_folder, self.record.session_id
        )

    def update(self, case: Case) -> None:
        """Take over the record of a processed event, to be written by `keep`."""
        self.record, self._last = case.now, case

    def keep(self) -> None:
        """Write what the events since the last call changed."""
        case = self._last
        if case is None:
            return
        self.record = records.keep_over(self.store, self.record, known=self._written)
        self._written, self._last = self.record, None
        if self.life is not None:
            state = self.store.project.state_folder
            context_usage.update_statusline(self.store, state, case.event.session_id, case.facts)
            records.keep_life(state, self.life)


def _stamp(path: str) -> tuple[object, ...]:
    """Return what changes whenever the transcript does; empty if there is no file."""
    try:
        found = Path(path).stat() if path else None
    except (OSError, ValueError):
        return ()
    return (path, found.st_ino, found.st_size, found.st_mtime_ns) if found else ()


def read_case(event: HookEvent, sight: Sight, settings: config.Settings) -> Case:
    """Read what is known about an event's session, and new lines of its transcript."""
    now, memory = sight.read_on(_follow_turn(event, _apply_event(event, sight.record), sight))
    return Case(
        event=event,
        store=sight.store,
        settings=settings,
        before=sight.record,
        now=now,
        facts=sight.facts(memory) if memory is not None else None,
        memory=memory,
        sight=sight,
    )


def _apply_event(event: HookEvent, before: SessionRecord) -> SessionRecord:
    """Add what the event itself says about its session to the record."""
    at = datetime.fromtimestamp(event.at, UTC)
    return msgspec.structs.replace(
        before,
        cwd=event.cwd,
        transcript_path=event.transcript_path or before.transcript_path,
        begun_at=before.begun_at or at,
        # An idle notification does not show that the agent was working.
        seen_at=before.seen_at or at if event.kind == "idle" else at,
        ended_at=at if event.kind == "session-end" else None,
        end_reason=event.source if event.kind == "session-end" else "",
        deferred_at=None if event.kind == "pre-compact" else before.deferred_at,
    )


def _follow_turn(event: HookEvent, record: SessionRecord, sight: Sight) -> SessionRecord:
    """Keep what the event says until the transcript has it; wait for the end of a turn."""
    read = sight.read_offset
    is_awaited = event.kind == "stop" and record.transcript_path
    is_written = bool(is_awaited) and wait_for_words(
        event.last_words,
        Path(record.transcript_path),
        told_at=event.at,
        after=read,
        is_writer_alive=sight.is_alive,
    )
    turn = unwritten_turn.follow(event, record.turn, read=read, is_written=is_written)
    return msgspec.structs.replace(record, turn=turn)
