"""Crashes: a session with no end whose process is gone is read to its end and saved."""

import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from leftoff import autosaving, paths, records, saving, sessions
from leftoff.checkpoint import Checkpoint
from leftoff.facts.report import report
from leftoff.hooks import interrupting
from leftoff.hooks.transcript import known, read_on
from leftoff.hooks.turns import unwritten
from leftoff.records import Life, Record
from leftoff.sessions import KnownSession, remembered, remembering
from leftoff.store import Store

# A session that was at work when the disk became full may have begun long before.
_BEFORE_LOSS = timedelta(days=1)


def recover(store: Store, life: Life) -> None:
    """Save where a crashed session stood, and note that it is over."""
    record = records.load(store, life.agent, life.session_id)
    memory = read_on(record, remembered(record))
    if memory is not None:
        record = remembering(record, memory)
    session = known(store, record, report(memory.state) if memory else None, memory)
    told = unwritten(record)
    if session is not None or told:
        draft = _draft(store, record, session, told)
        if told or not autosaving.is_saved_on_purpose(store, draft):
            autosaving.autosave(store, draft)
    interrupting.note(store, life.session_id, "crashed")
    ended = msgspec.structs.replace(record, ended_at=store.now(), end_reason="crashed")
    records.keep(store, ended)
    records.end_life(paths.state_folder(), life)


def recover_unseen(store: Store, *, lost_at: float, besides: str) -> None:
    """Save the sessions since events were lost that nobody saved and that no longer run."""
    since = datetime.fromtimestamp(lost_at, UTC) - _BEFORE_LOSS
    running = {life.session_id for life in records.lives(paths.state_folder(), store.project)}
    for session in sessions.dead(store, since=since):
        if session.session_id not in {besides, *running}:
            sessions.recover(store, session)


def _draft(
    store: Store, record: Record, session: KnownSession | None, told: dict[str, Any]
) -> Checkpoint:
    whose = {"agent": record.agent, "session_id": record.session_id}
    told = {"trigger": "recovered", **whose, **told}
    if not Path(record.cwd).is_dir():
        return saving.compose(told, store, session=session)
    # The one who recovers it may stand in another worktree, on another branch.
    with contextlib.closing(Store(paths.find_project(Path(record.cwd)), now=store.now)) as place:
        return saving.compose(told, place, session=session)
