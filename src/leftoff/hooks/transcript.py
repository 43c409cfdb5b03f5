"""The transcript of a hooked session: read on from where its record stands, and what that makes."""

from datetime import UTC, datetime
from pathlib import Path

from leftoff import capture
from leftoff.facts.report import Facts
from leftoff.records import Record
from leftoff.sessions import KnownSession
from leftoff.store import Store


def read_on(record: Record, memory: capture.SessionMemory | None) -> capture.SessionMemory | None:
    """Read what is new in the transcript; without one, what was learnt while it was there."""
    path = Path(record.transcript_path)
    if not record.transcript_path or not path.is_file():
        return memory
    return capture.read_session(path, agent=record.agent, memory=memory)


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
