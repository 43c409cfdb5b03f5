"""Crashes: a session with no end whose process is gone is read to its end and saved."""

from pathlib import Path

import msgspec

from leftoff import autosaving, capture, paths, records, saving
from leftoff.facts.report import report
from leftoff.hooks.handling import known
from leftoff.records import Life
from leftoff.sessions import remembered, remembering
from leftoff.store import Store


def recover(store: Store, life: Life) -> None:
    """Save where a crashed session stood, and note that it is over."""
    record = records.load(store, life.agent, life.session_id)
    memory = remembered(record)
    path = Path(record.transcript_path)
    if record.transcript_path and path.is_file():
        memory = capture.read_session(path, agent=record.agent, memory=memory)
        record = remembering(record, memory)
    session = known(store, record, report(memory.state) if memory else None, memory)
    if session is not None:
        draft = saving.compose({"trigger": "recovered"}, store, session=session)
        if not autosaving.is_saved_on_purpose(store, draft):
            autosaving.autosave(store, draft)
    ended = msgspec.structs.replace(record, ended_at=store.now(), end_reason="crashed")
    records.keep(store, ended)
    records.end_life(paths.state_folder(), life)
