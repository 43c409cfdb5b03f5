"""Keep what hooks know about sessions: a record in the store, and which sessions are running.

A record outlives the agent's transcript. A session that has not ended also has a small file in the
user's state folder. Finding crashed sessions then costs only as much as there are running ones, and
a session that does nothing leaves nothing in its project.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import msgspec

from leftoff.digests import blake2b
from leftoff.errors import StoreRefused
from leftoff.processes import is_alive, is_locked
from leftoff.projects.project import Project
from leftoff.projects.store_places import find_plain_store
from leftoff.store import Store, disk, plain_name

GONE = -1
"""In place of a process id: the process is not known, but it has ended."""
# A session without a known process counts as dead after this time.
_FORGOTTEN = timedelta(hours=12)


class Exchange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the user asked, verbatim, and how the agent's answer ended."""

    at: datetime
    asked: str
    answered: str = ""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What hooks reported about the current turn, until the transcript contains it."""

    asked: str = ""
    began: str = ""
    """The last command that was started."""
    said: str = ""
    read: int = 0
    """How much of the transcript had been read when the turn began."""


class Departure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a session leaves its thread, if the user asks for other work on another branch."""

    asked_at: datetime | None = None
    branch: str = ""
    """The ref of the branch that it has not left yet."""
    thread: str = ""
    """The thread that it left, once it was on another branch."""


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as the hooks see it."""

    agent: str
    session_id: str
    cwd: str = ""
    transcript_path: str = ""
    memory: msgspec.Raw = msgspec.Raw(b"null")
    """The capture state, left undecoded because most callers only need the times."""
    begun_at: datetime | None = None
    seen_at: datetime | None = None
    """When the session was last active."""
    ended_at: datetime | None = None
    end_reason: str = ""
    autosaved_at: datetime | None = None
    autosaved_state: str = ""
    """A digest of the last autosave, so that the same state is not saved twice."""
    advised: int = 0
    """The highest step of the context ladder that was shown to the user."""
    ready: int = 0
    """The step that the reply to the next prompt will show."""
    deferred_at: datetime | None = None
    """When context warnings were silenced; a save or compaction ends that."""
    repeats: list[str] = []
    """Ids of failed approaches being retried; the reply to the next prompt warns about them."""
    warned: list[str] = []
    """Ids that the session was warned about."""
    recaps: bool = msgspec.field(default=False, name="retells")
    """Whether the reply to the next prompt gives the session its state back, after a compaction."""
    limit: str = ""
    """The usage limit at which its last turn failed, in words; a finished turn clears it."""
    window: int = 0
    """The size of the model's context, if only hooks report it."""
    compactions: int = 0
    """How many compactions the transcript had when the session was last given its state back."""
    offered: str = ""
    """As in `Life`, when the session ended."""
    has_passed: bool = False
    continued: str = ""
    """The thread that a prompt asked to continue, if it ended before the prompt was processed."""
    turn: Turn = Turn()
    buffer: list[Exchange] = []
    """The conversation since the context began to fill up; a summary would lose it."""
    head: str = ""
    """HEAD of the worktree at the last event."""
    branch: str = ""
    """The ref of the worktree's branch at the last event."""
    departure: Departure = Departure()
    seal: str = ""
    """Proves that the session ran for this user on this machine."""


def defer(store: Store, agent: str, session_id: str, at: datetime | None) -> None:
    """Silence context warnings for a session from this time on; None enables them again."""
    record = load(store, agent, session_id)
    if record.deferred_at != at:
        keep(store, msgspec.structs.replace(record, deferred_at=at))


class Life(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session that has not ended.

    `pid_began` distinguishes its process from a later one with the same number.
    """

    agent: str
    session_id: str
    store: str
    cwd: str = ""
    pid: int = 0
    pid_began: float = 0.0
    seen_at: float = 0.0
    tries: int = 0
    """How often a recovery of this session was started."""
    offered: str = ""
    """The thread that its start offered first; a prompt such as "continue" resumes it."""
    has_passed: bool = False
    """Whether the user asked for something else first, so that "continue" means that."""
    asked: bool = False
    """Whether its first prompt asked to continue before its start was noted: Copilot CLI runs the
    hooks for both at once."""
    has_joined: bool = False
    """Whether a prompt of it has joined a thread, which the user may still decline."""
    transcript_path: str = ""
    """Where its start said that the transcript is: no other event may ever be processed."""
    lock: str = ""
    """The file that the agent keeps locked while the session runs."""

    @property
    def has_crashed(self) -> bool:
        """Whether its process is known to be gone, although it has not ended."""
        if self.pid:
            return not is_alive(self.pid, self.pid_began)
        return bool(self.lock) and not is_locked(Path(self.lock))

    def is_dead(self, now: datetime) -> bool:
        """Return whether its process is gone; if that is unknown, whether it is long silent."""
        if self.pid or self.lock:
            return self.has_crashed
        # A time far ahead comes from a clock that was wrong.
        return abs(now - datetime.fromtimestamp(self.seen_at, UTC)) > _FORGOTTEN


_record_decoder = msgspec.json.Decoder(SessionRecord)
_life_decoder = msgspec.json.Decoder(Life)


def load(store: Store, agent: str, session_id: str) -> SessionRecord:
    """Return a session's record; an empty one if it is new or unreadable."""
    data = store.read_session(agent, session_id)
    try:
        if data is not None:
            return _record_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    return SessionRecord(agent=agent, session_id=session_id)


def keep(store: Store, record: SessionRecord) -> None:
    """Store a session's record and replace the earlier one."""
    record = msgspec.structs.replace(
        record, seal=seal(store.project.state_folder, record.agent, record.session_id)
    )
    try:
        store.keep_session(record.agent, record.session_id, msgspec.json.encode(record))
    except StoreRefused:
        # Not fatal: the transcript still exists and is read again next time.
        return


def keep_over(store: Store, record: SessionRecord, *, known: SessionRecord) -> SessionRecord:
    """Replace the known record, but keep a silencing that was stored in the meantime."""
    found = load(store, record.agent, record.session_id)
    # `leftoff defer` runs in another process while hooks process events.
    if found.deferred_at != known.deferred_at:
        record = msgspec.structs.replace(record, deferred_at=found.deferred_at)
    keep(store, record)
    return record


def keep_life(state: Path, life: Life) -> None:
    """Record that a session is running."""
    folder = state / "live"
    disk.ensure_folder(folder)
    disk.replace(_find_life_path(state, life), msgspec.json.encode(life), temps=folder)


def keep_life_over(state: Path, life: Life) -> Life:
    """Record that a session is running; keep what its start has noted in the meantime."""
    known = life_of(state, life.agent, life.session_id) if life.asked else None
    if known is not None and not life.offered:
        life = msgspec.structs.replace(known, asked=True, cwd=life.cwd, seen_at=life.seen_at)
    keep_life(state, life)
    return life


def end_life(state: Path, life: Life) -> None:
    """Record that a session has ended."""
    _find_life_path(state, life).unlink(missing_ok=True)


def life_of(state: Path, agent: str, session_id: str) -> Life | None:
    """Return the record of a running session; None if there is none."""
    path = _find_life_path(state, Life(agent=agent, session_id=session_id, store=""))
    return _read_life(path) if disk.is_own_folder(path.parent) else None


def _read_life(path: Path) -> Life | None:
    try:
        return _life_decoder.decode(disk.read(path)[0])
    except (OSError, StoreRefused, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def list_lives(state: Path, project: Project) -> list[Life]:
    """Return a project's sessions that have not ended, according to hooks."""
    folder = state / "live"
    files = sorted(folder.glob("*.json")) if disk.is_own_folder(folder) else []
    found = [life for life in map(_read_life, files) if life is not None]
    # A session may have begun before `git init` or a rename gave the project another store.
    stores = {
        str(each)
        for each in (
            project.store,
            find_plain_store(project.environment, project.root),
            *project.earlier,
        )
    }
    return [life for life in found if life.store in stores]


def find_life(state: Path, agent: str, pids: Sequence[int], folder: Path) -> Life | None:
    """Return an agent's session by its process, the first of these that has one.

    Without processes, return the newest session that works in the folder or above it.
    """
    live = state / "live"
    files = live.glob(f"{agent}-*.json") if disk.is_own_folder(live) else ()
    found = [life for life in map(_read_life, files) if life is not None and not life.has_crashed]
    found.sort(key=lambda life: life.seen_at, reverse=True)
    if not pids:
        return next((life for life in found if folder.is_relative_to(life.cwd)), None)
    return next((life for pid in pids for life in found if life.pid == pid), None)


def _find_life_path(state: Path, life: Life) -> Path:
    return state / "live" / f"{life.agent}-{plain_name(life.session_id)}.json"


def recover_command(moments: Iterable[datetime], now: datetime) -> str:
    """Return the command that recovers sessions last active at these moments."""
    oldest = max((now - moment for moment in moments), default=timedelta())
    # `leftoff recover` looks back a week.
    days = oldest.days + 1
    return "leftoff recover" if days < 7 else f"leftoff recover --since {days}d"


# --- seals, which prove that a session ran for this user on this machine ---
#
# Anyone can write a store with prompts that "the user" asked, and ship it in an archive. A key that
# never leaves the user's state folder signs the id of each session whose hooks ran here. Prompts of
# any other session are presented as the store's words, not as the user's.


_KEY_BYTES = 32


def seal(state: Path, agent: str, session_id: str) -> str:
    """Sign a session's id; return "" if the key can be neither read nor created."""
    key = _read_key(state)
    identity = f"{agent}\n{session_id}".encode("utf-8", "surrogateescape")
    return blake2b(identity, key=key, digest_size=16).hexdigest() if key else ""


def is_sealed(state: Path, agent: str, session_id: str, given: str) -> bool:
    """Return whether a seal was made here for exactly this session."""
    return bool(given) and given == seal(state, agent, session_id)


@cache
def _read_key(state: Path) -> bytes:
    path = state / "key"
    with contextlib.suppress(OSError, StoreRefused):
        with contextlib.suppress(FileExistsError):
            _make(path)
        found = disk.read(path)[0]
        return found if len(found) == _KEY_BYTES else b""
    return b""


def _make(path: Path) -> None:
    if os.path.lexists(path):
        return
    disk.ensure_folder(path.parent)
    temp = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    disk.replace(temp, os.urandom(_KEY_BYTES), temps=path.parent)
    try:
        # If two processes create a key at the same time, the first one's is used.
        disk.name_file(temp, path)
    finally:
        temp.unlink(missing_ok=True)
