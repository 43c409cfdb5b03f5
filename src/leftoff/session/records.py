"""What is kept of each session in the store: how far it was read, and how it lives and ended.

A record outlives the agent's transcript. Sessions that have not ended also have a small file among
the user's own state, so that looking for crashed ones costs what is running, not what ever ran,
and a session that does nothing leaves nothing in its project.
"""

from datetime import datetime
from pathlib import Path

import msgspec

from leftoff.errors import StoreRefused
from leftoff.projects.project import Project
from leftoff.projects.store_places import plain_store
from leftoff.session import seals
from leftoff.store import Store, disk, plain_name


class Exchange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the user asked, word for word, and how the agent's answer ended."""

    at: datetime
    asked: str
    answered: str = ""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What hooks told of the turn at hand, until the transcript has it."""

    asked: str = ""
    began: str = ""
    """The last command that was started."""
    said: str = ""
    read: int = 0
    """How much of the transcript had been read when the turn began."""


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as the hooks have seen it."""

    agent: str
    session_id: str
    cwd: str = ""
    transcript_path: str = ""
    memory: msgspec.Raw = msgspec.Raw(b"null")
    """What capture remembers, left undecoded for those who only ask when a session ended."""
    begun_at: datetime | None = None
    seen_at: datetime | None = None
    """When the session was last at work."""
    ended_at: datetime | None = None
    end_reason: str = ""
    autosaved_at: datetime | None = None
    autosaved_state: str = ""
    """A digest of what the last autosave held: the same is not saved twice."""
    advised: int = 0
    """The highest step of the context ladder the user was told of."""
    ready: int = 0
    """The step that the reply to the next prompt tells of."""
    deferred_at: datetime | None = None
    """Since when it wants to hear nothing of its context, until it saves or is compacted."""
    repeats: list[str] = []
    """Failed approaches that it tries again, as the reply to the next prompt tells; by id."""
    warned: list[str] = []
    """Those that it was told of."""
    turn: Turn = Turn()
    buffer: list[Exchange] = []
    """What was said since the context began to fill up: a summary would lose it."""
    seal: str = ""
    """Shows that the session was this user's, on this machine."""


def defer(store: Store, agent: str, session_id: str, at: datetime | None) -> None:
    """Note that a session wants no advice on its context from now on; None ends that."""
    record = load(store, agent, session_id)
    if record.deferred_at != at:
        keep(store, msgspec.structs.replace(record, deferred_at=at))


class Life(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that has not ended.

    `pid_began` tells its process from a later one that got the same number.
    """

    agent: str
    session_id: str
    store: str
    cwd: str = ""
    pid: int = 0
    pid_began: float = 0.0
    seen_at: float = 0.0
    tries: int = 0
    """How often somebody began to recover it."""


_record_decoder = msgspec.json.Decoder(SessionRecord)
_life_decoder = msgspec.json.Decoder(Life)


def load(store: Store, agent: str, session_id: str) -> SessionRecord:
    """Return what is kept of a session; an empty record of one that is new or was garbled."""
    data = store.read_session(agent, session_id)
    try:
        if data is not None:
            return _record_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    return SessionRecord(agent=agent, session_id=session_id)


def keep(store: Store, record: SessionRecord) -> None:
    """Put a record in the place of the one before."""
    record = msgspec.structs.replace(
        record, seal=seals.seal(store.project.state_folder, record.agent, record.session_id)
    )
    try:
        store.keep_session(record.agent, record.session_id, msgspec.json.encode(record))
    except StoreRefused:
        # The transcript is still there, and is read again next time.
        return


def keep_over(store: Store, record: SessionRecord, *, known: SessionRecord) -> SessionRecord:
    """Put a record in the place of the one known before; what was deferred meanwhile counts."""
    found = load(store, record.agent, record.session_id)
    if found.deferred_at != known.deferred_at:
        record = msgspec.structs.replace(record, deferred_at=found.deferred_at)
    keep(store, record)
    return record


def keep_life(state: Path, life: Life) -> None:
    """Note that a session is running."""
    folder = state / "live"
    disk.ensure_folder(folder)
    disk.replace(_life_path(state, life), msgspec.json.encode(life), temps=folder)


def end_life(state: Path, life: Life) -> None:
    """Note that a session has ended."""
    _life_path(state, life).unlink(missing_ok=True)


def life_of(state: Path, agent: str, session_id: str) -> Life | None:
    """Return what is noted of a session that runs; None if nothing is."""
    path = _life_path(state, Life(agent=agent, session_id=session_id, store=""))
    return _read_life(path) if disk.is_own_folder(path.parent) else None


def _read_life(path: Path) -> Life | None:
    try:
        return _life_decoder.decode(disk.read(path)[0])
    except (OSError, StoreRefused, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def lives(state: Path, project: Project) -> list[Life]:
    """Return the sessions of a project that have not ended, as far as anyone told."""
    folder = state / "live"
    files = sorted(folder.glob("*.json")) if disk.is_own_folder(folder) else []
    found = [life for life in map(_read_life, files) if life is not None]
    # A session may have begun before `git init`, or a new name, gave the project another store.
    stores = {
        str(each)
        for each in (
            project.store,
            plain_store(project.environment, project.root),
            *project.earlier,
        )
    }
    return [life for life in found if life.store in stores]


def _life_path(state: Path, life: Life) -> Path:
    return state / "live" / f"{life.agent}-{plain_name(life.session_id)}.json"
