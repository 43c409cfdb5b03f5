"""Read new transcript lines of a hooked session, and combine what is known about it."""

from datetime import UTC, datetime
from pathlib import Path

from leftoff.session import capture
from leftoff.session.facts.report import Facts
from leftoff.session.records import SessionRecord
from leftoff.session.sessions import KnownSession
from leftoff.store import Store


def read_on(
    record: SessionRecord, memory: capture.SessionMemory | None
) -> capture.SessionMemory | None:
    """Read new lines of the transcript; if it is gone, return what was learned before."""
    path = Path(record.transcript_path)
    if not record.transcript_path or not path.is_file():
        return memory
    return capture.read_session(path, agent=record.agent, memory=memory)


def build_session(
    store: Store, record: SessionRecord, facts: Facts | None, memory: capture.SessionMemory | None
) -> KnownSession | None:
    """Combine what is known about a session; None if nothing was ever asked in it."""
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
