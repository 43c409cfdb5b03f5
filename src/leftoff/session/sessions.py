"""Find a project's agent sessions on this machine, and recover unsaved ones."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from leftoff.agents import registry
from leftoff.agents.agent import FoundSession
from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError, SessionUnreadable
from leftoff.session import capture, records
from leftoff.session.facts.report import Facts, report
from leftoff.session.real_work import is_worth_saving
from leftoff.store import CheckpointEntry, Store
from leftoff.text import times

# A transcript changed this recently may belong to an agent that is still running.
_ALIVE_SECONDS = 120
# Agents write a few more lines after the end of a session.
_LATE = timedelta(seconds=10)
# Finding unsaved work reads so many transcripts, and looks no further back.
_NEWEST = 5
_LOOK_BACK = timedelta(days=30)

_memory_decoder: msgspec.json.Decoder[capture.SessionMemory | None] = msgspec.json.Decoder(
    capture.SessionMemory | None
)


class KnownSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session on this machine, and what its transcript says."""

    agent: str
    session_id: str
    path: Path
    touched_at: datetime
    facts: Facts
    memory: capture.SessionMemory
    checkpoint: CheckpointEntry | None = None
    """Its newest checkpoint, if any."""
    is_current: bool = False
    is_dead: bool = False
    """Whether its end was seen, or the agent's process is known to be gone."""
    head: str = ""
    """HEAD at its last event, if hooks saw it."""

    @property
    def is_saved(self) -> bool:
        """Whether no work was done after its last checkpoint."""
        last = self.checkpoint
        if last is None:
            return False
        # Agents write a few lines after the last event, and people say thanks.
        worked_at = times.parse(self.facts.worked_at)
        is_idle = worked_at is not None and worked_at <= last.as_of and self.facts.is_turn_over
        return last.saved_at >= self.touched_at or is_idle

    @property
    def has_work(self) -> bool:
        """Whether there is something to recover; a question that was answered leaves nothing."""
        return is_worth_saving(self.facts)

    @property
    def request(self) -> str:
        """What the user asked for, to name the session by."""
        return self.facts.task or self.facts.intent or "(no request)"

    def may_be_alive(self, now: datetime) -> bool:
        """Return whether an agent may still be working in it."""
        if self.is_current or self.is_dead:
            return self.is_current
        return now - self.touched_at < timedelta(seconds=_ALIVE_SECONDS)


class UnreadableTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript, or a folder of transcripts, that could not be read."""

    path: Path | str
    reason: str


def recent(
    store: Store,
    *,
    limit: int,
    since: datetime | None = None,
    unreadable: list[UnreadableTranscript] | None = None,
) -> list[KnownSession]:
    """Return the newest sessions of the project across all agents, newest first.

    `unreadable` collects the transcripts that could not be read.
    """
    refused: list[OSError] | None = None if unreadable is None else []
    every = registry.sessions_of(store.project, refused=refused)
    found = sorted(every, key=lambda pair: pair[1].touched_at, reverse=True)
    if unreadable is not None:
        unreadable += [_unreadable(error.filename, error) for error in refused or []]
    after = since.timestamp() if since else 0.0
    known = (
        _read_known_session(store, agent, each, unreadable)
        for agent, each in found[:limit]
        if each.touched_at >= after
    )
    return [session for session in known if session is not None]


def find(store: Store, key: str) -> KnownSession:
    """Return the session with this id or transcript path."""
    path = Path(key).expanduser()
    if path.is_file():
        return _from_file(store, path)
    matches = [
        pair for pair in registry.sessions_of(store.project) if pair[1].session_id.startswith(key)
    ]
    exact = [pair for pair in matches if pair[1].session_id == key] or matches
    if len(exact) == 1 and (known := _read_known_session(store, *exact[0])) is not None:
        return known
    problem = f"Several sessions begin with {key}" if exact else f"There is no session {key}"
    raise SessionUnreadable(
        problem, hint="Run `leftoff sessions` to list this project's; a file's path works too."
    )


def current(store: Store) -> KnownSession | None:
    """Return the session that leftoff runs in, if there is one with a readable transcript."""
    session = store.project.environment.find_session()
    if session is None:
        return None
    agent, session_id = session
    for name, each in registry.sessions_of(store.project):
        if name == agent and each.session_id == session_id:
            return _read_known_session(store, name, each)
    return None


def find_transcript(store: Store, agent: str, session_id: str) -> str:
    """Return the path of a session's transcript; empty if the agent has none."""
    found = (
        str(each.path)
        for name, each in registry.sessions_of(store.project)
        if (name, each.session_id) == (agent, session_id)
    )
    return next(found, "")


def dead(store: Store, *, since: datetime) -> list[KnownSession]:
    """Return the sessions that ended with unsaved work, newest first."""
    now = store.now()
    return [each for each in list_unsaved(store, since=since) if not each.may_be_alive(now)]


def list_unsaved(
    store: Store, *, since: datetime, unreadable: list[UnreadableTranscript] | None = None
) -> list[KnownSession]:
    """Return the sessions with unsaved work, newest first."""
    found = recent(store, limit=50, since=since, unreadable=unreadable)
    return [each for each in found if each.has_work and not each.is_saved]


def find_unsaved_work(
    store: Store,
    *,
    besides: Collection[str] = (),
    most_bytes: int | None = None,
    refused: list[OSError] | None = None,
) -> list[KnownSession]:
    """Return the newest ended sessions whose work is in no checkpoint, newest first.

    Reads few transcripts, none larger than `most_bytes`, so that it is quick. `refused` collects
    the errors of folders that cannot be listed.
    """
    now = store.now()
    after = (now - _LOOK_BACK).timestamp()
    every = registry.sessions_of(store.project, refused=refused)
    found = sorted(every, key=lambda pair: pair[1].touched_at, reverse=True)
    newest = [
        pair
        for pair in found[:_NEWEST]
        if pair[1].touched_at >= after
        and pair[1].session_id not in besides
        and _is_small(pair[1].path, most_bytes)
    ]
    known = [_read_known_session(store, agent, each) for agent, each in newest]
    return [
        each
        for each in known
        if each and each.has_work and not each.is_saved and not each.may_be_alive(now)
    ]


def _is_small(path: Path, most_bytes: int | None) -> bool:
    try:
        return most_bytes is None or path.stat().st_size <= most_bytes
    except OSError:
        return False


def checkpoint_of(store: Store, session: KnownSession, *, trigger: str) -> Checkpoint:
    """Build a checkpoint from a session's transcript."""
    made = capture.to_checkpoint(session.facts, session.memory, trigger=trigger, now=store.now())
    # A forked transcript may still carry the id of the session it was forked from.
    return msgspec.structs.replace(made, session_id=session.session_id or made.session_id)


def _read_known_session(
    store: Store,
    agent: str,
    found: FoundSession,
    unreadable: list[UnreadableTranscript] | None = None,
) -> KnownSession | None:
    record = records.load(store, agent, found.session_id)
    memory = read_memory(record)
    try:
        read = capture.read_session(
            found.path, agent=agent, memory=memory, session_id=found.session_id
        )
    except (LeftoffError, OSError) as error:
        refusal = error if isinstance(error, OSError) else error.__cause__
        # A missing file, or one that is not a transcript, is skipped. An unreadable file may be a
        # session, so it is reported.
        is_refused = isinstance(refusal, OSError) and not isinstance(refusal, FileNotFoundError)
        if unreadable is not None and is_refused:
            unreadable.append(_unreadable(found.path, refusal))
        return None
    # Stored at once, so that the next reading starts where this one ended.
    if read != memory:
        records.keep(store, with_memory(record, read))
    current_id = store.project.environment.find_session()
    touched_at = datetime.fromtimestamp(found.touched_at, UTC)
    return KnownSession(
        agent=agent,
        session_id=found.session_id,
        path=found.path,
        touched_at=touched_at,
        facts=report(read.state),
        memory=read,
        checkpoint=store.index().newest_of_session(found.session_id),
        is_current=current_id == (agent, found.session_id),
        is_dead=_has_ended(store, record, touched_at),
        head=record.head,
    )


def _has_ended(store: Store, record: records.SessionRecord, touched_at: datetime) -> bool:
    """Return whether a session's end was seen, or its process is known to be gone."""
    life = records.life_of(store.project.state_folder, record.agent, record.session_id)
    if life is not None:
        return life.has_crashed
    # A transcript that goes on after the end belongs to a session that was resumed without hooks.
    return record.ended_at is not None and touched_at <= record.ended_at + _LATE


def _unreadable(path: Path | str, error: BaseException | None) -> UnreadableTranscript:
    return UnreadableTranscript(path=path, reason=getattr(error, "strerror", None) or str(error))


def _from_file(store: Store, path: Path) -> KnownSession:
    memory = capture.read_session(path)
    facts = report(memory.state)
    return KnownSession(
        agent=memory.agent,
        session_id=facts.session_id,
        path=path,
        touched_at=datetime.fromtimestamp(path.stat().st_mtime, UTC),
        facts=facts,
        memory=memory,
        checkpoint=store.index().newest_of_session(facts.session_id),
    )


def read_memory(record: records.SessionRecord) -> capture.SessionMemory | None:
    """Return the capture state of a session, if it is still usable."""
    try:
        return _memory_decoder.decode(record.memory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def with_memory(
    record: records.SessionRecord, memory: capture.SessionMemory
) -> records.SessionRecord:
    """Return a session's record with a new capture state."""
    return msgspec.structs.replace(record, memory=msgspec.Raw(msgspec.json.encode(memory)))
