"""What is kept of each session in the store: how far it was read, and how it lives and ended.

A record outlives the agent's transcript. Sessions that have not ended also have a small file in
`live/`, so that looking for crashed ones costs what is running, not what ever ran.
"""

import contextlib
from datetime import datetime

import msgspec

from leftoff.errors import StoreRefused
from leftoff.store import SessionFile, Store


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as the hooks have seen it."""

    agent: str
    session_id: str
    cwd: str = ""
    transcript_path: str = ""
    memory: msgspec.Raw = msgspec.Raw(b"null")
    """What capture remembers, left undecoded for those who only ask when a session ended."""
    begun_at: datetime | None = None
    seen_at: datetime | None = None
    """When the last event came."""
    ended_at: datetime | None = None
    end_reason: str = ""
    autosaved_at: datetime | None = None
    autosaved_state: str = ""
    """A digest of what the last autosave held: the same is not saved twice."""
    advised: int = 0
    """The highest step of the context ladder the user was told of."""


class Life(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that has not ended.

    `pid_began` tells its process from a later one that got the same number.
    """

    agent: str
    session_id: str
    cwd: str = ""
    pid: int = 0
    pid_began: float = 0.0
    seen_at: float = 0.0


_record_decoder = msgspec.json.Decoder(Record)
_life_decoder = msgspec.json.Decoder(Life)


def load(store: Store, agent: str, session_id: str) -> Record:
    """Return what is kept of a session; an empty record of one that is new or was garbled."""
    data = store.read_session("sessions", agent, session_id)
    try:
        if data is not None:
            return _record_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    return Record(agent=agent, session_id=session_id)


def keep(store: Store, record: Record) -> None:
    """Put a record in the place of the one before."""
    _keep(store, "sessions", record)


def keep_life(store: Store, life: Life) -> None:
    """Note that a session is running."""
    _keep(store, "live", life)


def end_life(store: Store, agent: str, session_id: str) -> None:
    """Note that a session has ended."""
    store.drop_session("live", agent, session_id)


def lives(store: Store) -> list[Life]:
    """Return the sessions that have not ended, as far as anyone told."""
    found = []
    for data in store.session_files("live"):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            found.append(_life_decoder.decode(data))
    return found


def _keep(store: Store, kind: SessionFile, what: Record | Life) -> None:
    try:
        store.keep_session(kind, what.agent, what.session_id, msgspec.json.encode(what))
    except StoreRefused:
        # The transcript is still there, and is read again next time.
        return
