"""Date threads by the sessions that work on them now, and find running work outside any thread."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from leftoff import session
from leftoff.session import records
from leftoff.store import CheckpointEntry, Hit, Store


class RunningSession(msgspec.Struct, frozen=True, kw_only=True):
    """A running session that has done work of which nothing is saved yet."""

    agent: str
    session_id: str
    seen_at: datetime
    request: str


class WorkingSession(msgspec.Struct, frozen=True, kw_only=True):
    """A running session that works on an open thread."""

    agent: str
    seen_at: datetime
    thread: CheckpointEntry


def find_working_sessions(store: Store) -> list[WorkingSession]:
    """Return the other sessions that work on open threads now, newest first."""
    index, own = store.index(), store.project.environment.find_session()
    found = [
        WorkingSession(agent=life.agent, seen_at=_date(life), thread=thread)
        for life in _list_running(store)
        if (life.agent, life.session_id) != own
        and (thread := index.find_open_thread(life.session_id)) is not None
    ]
    return sorted(found, key=lambda each: each.seen_at, reverse=True)


def date_by_activity(store: Store, entries: Sequence[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return threads with the last activity of the sessions that work on them, newest first."""
    lives = _list_running(store) if entries else []
    if not lives:
        return [*entries]
    index, active = store.index(), dict[str, datetime]()
    for life in lives:
        found = index.find_open_thread(life.session_id)
        if found is not None:
            active[found.slot] = max(_date(life), active.get(found.slot, found.as_of))
    if active.keys().isdisjoint(entry.slot for entry in entries):
        return [*entries]
    dated = [
        msgspec.structs.replace(entry, as_of=active.get(entry.slot, entry.as_of))
        for entry in entries
    ]
    return sorted(dated, key=lambda entry: entry.as_of, reverse=True)


def date_hits(store: Store, hits: Sequence[Hit]) -> list[Hit]:
    """Return search results with the last activity of running sessions, in their order."""
    dated = {each.id: each for each in date_by_activity(store, [hit.entry for hit in hits])}
    return [msgspec.structs.replace(hit, entry=dated[hit.entry.id]) for hit in hits]


def find_running_work(store: Store) -> list[RunningSession]:
    """Return the running sessions that did work in no open thread, newest first.

    Lists cannot show that work before something saves it. The session that asks is left out.
    """
    index, own = store.index(), store.project.environment.find_session()
    wanted = {
        (life.agent, life.session_id): life
        for life in _list_running(store)
        if (life.agent, life.session_id) != own and not index.find_open_thread(life.session_id)
    }
    # Most of the time nothing runs, and loading the readers takes a while.
    known = session.sessions.read_some(store, wanted.keys()) if wanted else []
    found = [
        RunningSession(
            agent=each.agent,
            session_id=each.session_id,
            seen_at=_date(wanted[each.agent, each.session_id]),
            request=each.request,
        )
        for each in known
        if each.has_work and not each.is_saved
    ]
    return sorted(found, key=lambda each: each.seen_at, reverse=True)


def _list_running(store: Store) -> list[records.Life]:
    lives = records.list_lives(store.project.state_folder, store.project)
    return [life for life in lives if not life.has_crashed]


def _date(life: records.Life) -> datetime:
    return datetime.fromtimestamp(life.seen_at, UTC)
