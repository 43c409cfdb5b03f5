"""Save sessions whose process died before they ended.

`start_recovery` runs it as `python -I -m leftoff.hooks.recover_crashed FOLDER STARTING [--lost] --
SESSION…`.
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

from leftoff.checkpoint import Checkpoint
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.hooks import drain_spool, interrupted_work, settle, start_recovery, trouble
from leftoff.hooks.session_event import build_session, find_former_session, list_unwritten, read_on
from leftoff.projects.project import find_project
from leftoff.session import records, sessions
from leftoff.session.facts.report import report
from leftoff.session.records import Life, SessionRecord
from leftoff.session.sessions import KnownSession, read_memory, with_memory
from leftoff.store import Store, disk, plain_name
from leftoff.text import times
from leftoff.threads import persist
from leftoff.threads.recover import compose_recovered, recover_session

# A session that was running when the disk filled up may have started long before.
_BEFORE_LOSS = timedelta(days=1)
# After this many unfinished tries, the transcript is skipped, or the session is given up.
_UNREAD_AFTER = 2
_GIVEN_UP_AFTER = 3


def main(folder: str, starting: str, *words: str) -> None:
    """Recover sessions of the project in a folder, each within its time limit."""
    with contextlib.suppress(OSError):
        os.setsid()
    environment = read_environment()
    state = environment.state_folder
    wanted = {*words[words.index("--") + 1 :]}
    with contextlib.closing(Store(find_project(environment, Path(folder)))) as store:
        for life in records.lives(state, store.project):
            if life.session_id in wanted:
                _run_with_limit(state, f"recovering {life.session_id}", partial(_try, store, life))
        lost = state / "lost"
        if start_recovery.LOST in words and disk.is_regular(lost):
            lost_at = lost.lstat().st_mtime
            what = "recovering sessions after events were lost"
            _run_with_limit(
                state, what, lambda: recover_unseen(store, lost_at=lost_at, besides=starting)
            )


def _run_with_limit(state: Path, what: str, act: Callable[[], None]) -> None:
    """Run an action within the time limit of one event, and note its failure."""
    drain_spool.limit(settle.EVENT_SECONDS)
    try:
        act()
    except (LeftoffError, OSError) as error:
        trouble.note(state, what, error)
    finally:
        drain_spool.limit(None)


def _try(store: Store, life: Life) -> None:
    """Recover a session unless another process does; after failed tries, with less effort."""
    state = store.project.state_folder
    locks = state / "locks"
    disk.ensure_folder(locks)
    with disk.lock(locks / f"recover-{plain_name(life.session_id)}", seconds=0) as is_held:
        found = records.life_of(state, life.agent, life.session_id)
        if not is_held or found is None:
            return
        records.keep_life(state, msgspec.structs.replace(found, tries=found.tries + 1))
        if found.tries >= _UNREAD_AFTER:
            trouble.note(state, f"recovering {life.session_id}", LeftoffError(_TOO_SLOW))
        if found.tries >= _GIVEN_UP_AFTER:
            records.end_life(state, found)
        else:
            recover(store, found, reads=found.tries < _UNREAD_AFTER)


_TOO_SLOW = "The transcript takes too long to read; only what was known before is saved."


def recover(store: Store, life: Life, *, reads: bool = True) -> None:
    """Save the last state of a crashed session, and record that it has ended."""
    record = records.load(store, life.agent, life.session_id)
    memory = read_memory(record)
    memory = read_on(record, memory) if reads else memory
    if memory is not None:
        record = with_memory(record, memory)
    session = build_session(store, record, report(memory.state) if memory else None, memory)
    fields = list_unwritten(record)
    if session is not None or fields:
        draft = _draft(store, record, session, fields)
        facts = session.facts if session is not None else None
        persist.autosave(store, draft, facts, find_former=partial(find_former_session, record))
    interrupted_work.note(store, life.session_id, "crashed")
    ended = msgspec.structs.replace(record, ended_at=store.now(), end_reason="crashed")
    records.keep(store, ended)
    records.end_life(store.project.state_folder, life)


def recover_unseen(store: Store, *, lost_at: float, besides: str) -> None:
    """Save sessions that no hook recorded since events were lost and that no longer run."""
    since = datetime.fromtimestamp(lost_at, UTC) - _BEFORE_LOSS
    running = {life.session_id for life in records.lives(store.project.state_folder, store.project)}
    for session in sessions.dead(store, since=since):
        if session.session_id not in {besides, *running}:
            recover_session(store, session)


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
