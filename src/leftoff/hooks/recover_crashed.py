"""Process the waiting events of some sessions, and save those whose process died.

`start_recovery` runs it as `python -I -m leftoff.hooks.recover_crashed FOLDER AGENT STARTING
[--lost] -- SESSION…`.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from leftoff import config
from leftoff.checkpoint import Checkpoint
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.hooks import (
    drain_spool,
    interrupted_work,
    late_offers,
    lease,
    settle,
    start_recovery,
    trouble,
)
from leftoff.hooks.session_event import (
    build_session,
    find_continued,
    find_former_session,
    list_unwritten,
    read_on,
)
from leftoff.projects.project import find_project
from leftoff.session import records, sessions
from leftoff.session.facts.report import report
from leftoff.session.records import Life, SessionRecord
from leftoff.session.sessions import KnownSession, read_memory, with_memory
from leftoff.store import Store
from leftoff.text import times
from leftoff.threads import autosaves
from leftoff.threads.recover import compose_recovered, recover_session

# A session that was running when the disk filled up may have started long before.
_BEFORE_LOSS = timedelta(days=1)
# After this many unfinished tries, the transcript is skipped, or the session is given up.
_UNREAD_AFTER = 2
_GIVEN_UP_AFTER = 3
# Longer than settle may take for one event of the session.
_LOCK_SECONDS = 90.0


def main(folder: str, agent: str, starting: str, *words: str) -> None:
    """Bring sessions of the project in a folder up to date, each within its time limit."""
    with contextlib.suppress(OSError):
        os.setsid()
    environment = read_environment()
    state = environment.state_folder
    locks = lease.SessionLocks(state)
    with contextlib.closing(Store(find_project(environment, Path(folder)))) as store:
        agents = {life.session_id: life.agent for life in records.list_lives(state, store.project)}
        for word in words:
            option, _, session_id = word.partition("=")
            if session_id:
                is_dead = f"{option}=" == start_recovery.DEAD
                _catch_up(store, locks, agents.get(session_id, agent), session_id, is_dead=is_dead)
        lost = _recover_lost(store, starting) if start_recovery.LOST in words else []
        locks.take(agent, starting, seconds=_LOCK_SECONDS)
        what = "offering recovered work"
        _run_with_limit(state, what, lambda: late_offers.finish(store, agent, starting, lost))


def _catch_up(
    store: Store, locks: lease.SessionLocks, agent: str, session_id: str, *, is_dead: bool
) -> None:
    """Process a session's waiting events, then recover it if its process has died."""
    state = store.project.state_folder
    if not locks.take(agent, session_id, seconds=_LOCK_SECONDS):
        # A settle hangs at one of its events; the next session start tries again.
        return
    try:
        life = records.life_of(state, agent, session_id)
        tries = life.tries if life is not None else 0
        if is_dead and life is not None:
            # Before anything that could end this process.
            records.keep_life(state, msgspec.structs.replace(life, tries=tries + 1))
        if tries < _UNREAD_AFTER:
            drain_spool.drain_session(state, agent, session_id, seconds=settle.EVENT_SECONDS)
        # Its last event may have been its end.
        left = records.life_of(state, agent, session_id)
        if is_dead and left is not None:
            _run_with_limit(state, f"recovering {session_id}", partial(_try, store, left, tries))
    finally:
        locks.release(agent, session_id)


def _recover_lost(store: Store, starting: str) -> list[str]:
    """Save sessions that no hook recorded, and return their ids."""
    state, found = store.project.state_folder, list[str]()
    with contextlib.suppress(OSError):
        lost_at = (state / "lost").lstat().st_mtime
        what = "recovering sessions after events were lost"
        _run_with_limit(
            state,
            what,
            lambda: found.extend(recover_unseen(store, lost_at=lost_at, besides=starting)),
        )
    return found


def _run_with_limit(state: Path, what: str, act: Callable[[], None]) -> None:
    """Run an action within the time limit of one event, and note its failure."""
    drain_spool.limit(settle.EVENT_SECONDS)
    try:
        act()
    except (LeftoffError, OSError) as error:
        trouble.note(state, what, error)
    finally:
        drain_spool.limit(None)


def _try(store: Store, life: Life, tries: int) -> None:
    """Recover a session; after failed tries, with less effort."""
    state = store.project.state_folder
    if tries >= _UNREAD_AFTER:
        trouble.note(state, f"recovering {life.session_id}", LeftoffError(_TOO_SLOW))
    if tries >= _GIVEN_UP_AFTER:
        records.end_life(state, life)
    else:
        recover(store, life, reads=tries < _UNREAD_AFTER)


_TOO_SLOW = "The transcript takes too long to read; only what was known before is saved."


def recover(store: Store, life: Life, *, reads: bool = True) -> None:
    """Save the last state of a crashed session, and record that it has ended."""
    record = _find_record(store, life)
    memory = read_memory(record)
    memory = read_on(record, memory) if reads else memory
    if memory is not None:
        record = with_memory(record, memory)
    facts = report(memory.state, window=record.window) if memory else None
    session = build_session(store, record, facts, memory)
    fields = list_unwritten(record)
    if session is not None or fields:
        draft = _draft(store, record, session, fields)
        facts = facts if session is not None else None
        former = partial(find_former_session, record)
        continued = find_continued(record, life, facts, config.load(store.project).settings)
        autosaves.autosave(store, draft, facts, find_former=former, continued=continued)
    interrupted_work.note(store, life.session_id, "crashed")
    ended = msgspec.structs.replace(record, ended_at=store.now(), end_reason="crashed")
    records.keep(store, ended)
    records.end_life(store.project.state_folder, life)
    late_offers.forget(store.project.state_folder, life.agent, life.session_id)


def _find_record(store: Store, life: Life) -> SessionRecord:
    """Return a session's record; if none of its events was processed, with its transcript."""
    record = records.load(store, life.agent, life.session_id)
    return msgspec.structs.replace(
        record,
        cwd=record.cwd or life.cwd,
        transcript_path=record.transcript_path
        or life.transcript_path
        or sessions.find_transcript(store, life.agent, life.session_id),
    )


def recover_unseen(store: Store, *, lost_at: float, besides: str) -> list[str]:
    """Save sessions that no hook recorded since events were lost, and return their ids."""
    since = datetime.fromtimestamp(lost_at, UTC) - _BEFORE_LOSS
    running = {
        life.session_id for life in records.list_lives(store.project.state_folder, store.project)
    }
    found = [
        each
        for each in sessions.list_dead(store, since=since)
        if each.session_id not in {besides, *running}
    ]
    return [each.session_id for each in found if recover_session(store, each) is not None]


def _draft(
    store: Store, record: SessionRecord, session: KnownSession | None, fields: dict[str, Any]
) -> Checkpoint:
    """Compose the checkpoint of a crashed session, as of its last event."""
    whose = {"agent": record.agent, "session_id": record.session_id}
    last = times.parse(session.facts.last_at) if session is not None else None
    moments = [each for each in (last, record.seen_at) if each is not None]
    if moments:
        whose["as_of"] = max(moments).isoformat()
    return compose_recovered(store, record.cwd, {**whose, **fields}, session)


if __name__ == "__main__":
    main(*sys.argv[1:])
