"""Find a project's agent sessions on this machine, and recover unsaved ones."""

from collections.abc import Collection
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.agents import registry
from leftoff.agents.agent import FoundSession
from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError, SessionUnreadable
from leftoff.git.query import printable
from leftoff.session import capture, records
from leftoff.session.facts.report import Facts, find_top, report
from leftoff.session.real_work import can_be_task, is_worth_saving, shows_work
from leftoff.session.unsaved_work import (
    find_end,
    find_sign_of_life,
    is_finished,
    is_recent,
    is_work_saved,
)
from leftoff.store import CheckpointEntry, Store, WatchReading

_BRANCHES = "refs/heads/"
# Small talk may be newer than the last work.
_MOST_TRIED = 10

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
    ended_at: datetime | None = None
    """When its thread was done or dropped, if it was."""
    is_current: bool = False
    is_running: bool | None = None
    """Whether its process, its end or the agent's files say that it runs; None if nothing does."""
    head: str = ""
    """HEAD at its last event, if hooks saw it."""

    @property
    def is_saved(self) -> bool:
        """Whether no work was done after its last checkpoint, or after its thread ended."""
        facts = self.facts
        return is_work_saved(
            self.checkpoint,
            self.touched_at,
            facts.worked_at,
            is_turn_over=facts.is_turn_over,
            has_done=self.has_done,
        ) or is_finished(
            self.ended_at, facts.worked_at, facts.worked_for, is_turn_over=facts.is_turn_over
        )

    @property
    def has_done(self) -> bool:
        """Whether anything was done in it besides talking."""
        return shows_work(self.facts)

    @property
    def has_work(self) -> bool:
        """Whether there is something to recover; a question that was answered leaves nothing."""
        return is_worth_saving(self.facts)

    @property
    def request(self) -> str:
        """What the user asked for, or what was done, to name the session by."""
        edited = self.facts.files_modified
        done = f"Edit {edited[0]}" if edited else "(no request)"
        asked = [each for each in (self.facts.task, self.facts.intent) if each]
        # "continue" names nothing, unless nothing was done.
        request = next(filter(can_be_task, asked), None)
        return request or (done if edited else (*asked, done)[0])

    def may_be_alive(self, now: datetime) -> bool:
        """Return whether an agent may still be working in it."""
        if self.is_current or self.is_running is None:
            return self.is_current or is_recent(self.touched_at, now)
        return self.is_running


class UnreadableTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript, or a folder of transcripts, that could not be read."""

    path: Path | str
    reason: str


def list_recent(
    store: Store,
    *,
    limit: int,
    since: datetime | None = None,
    unreadable: list[UnreadableTranscript] | None = None,
    watch: WatchReading | None = None,
) -> list[KnownSession]:
    """Return the newest sessions of the project across all agents, newest first.

    `unreadable` collects the transcripts that could not be read. `watch` shows how far it is.
    """
    refused: list[OSError] | None = None if unreadable is None else []
    every = registry.sessions_of(store.project, refused=refused)
    found = sorted(every, key=lambda pair: pair[1].touched_at, reverse=True)
    if unreadable is not None:
        unreadable += [_describe_unreadable(error.filename, error) for error in refused or []]
    after = since.timestamp() if since else 0.0
    wanted = [pair for pair in found[:limit] if pair[1].touched_at >= after]
    known: list[KnownSession | None] = []
    with watch(len(wanted)) if watch else nullcontext(lambda _done: None) as advance:
        for agent, each in wanted:
            known.append(read_found(store, agent, each, unreadable))
            advance(len(known))
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
    if len(exact) == 1 and (known := read_found(store, *exact[0])) is not None:
        return known
    problem = f"Several sessions begin with {key}" if exact else f"There is no session {key}"
    raise SessionUnreadable(
        problem, hint="Run `leftoff sessions` to list this project's; a file's path works too."
    )


def find_newest(store: Store, agent: str | None = None) -> KnownSession | None:
    """Return the newest session with work, of one agent or of all."""
    found = [pair for pair in registry.sessions_of(store.project) if agent in {None, pair[0]}]
    found.sort(key=lambda pair: pair[1].touched_at, reverse=True)
    for name, each in found[:_MOST_TRIED]:
        known = read_found(store, name, each)
        if known is not None and known.has_work:
            return known
    return None


def find_current(store: Store) -> KnownSession | None:
    """Return the session that leftoff runs in, if there is one with a readable transcript."""
    session = store.project.environment.find_session()
    if session is None:
        return None
    agent, session_id = session
    for name, each in registry.sessions_of(store.project):
        if name == agent and each.session_id == session_id:
            return read_found(store, name, each)
    return None


def read_some(store: Store, wanted: Collection[tuple[str, str]]) -> list[KnownSession]:
    """Read the sessions of these agents and ids, which may be running."""
    # Their hooks may be writing their records.
    found = (
        read_found(store, agent, each, keeps=False)
        for agent, each in registry.sessions_of(store.project)
        if (agent, each.session_id) in wanted
    )
    return [known for known in found if known is not None]


def find_transcript(store: Store, agent: str, session_id: str) -> str:
    """Return the path of a session's transcript; empty if the agent has none."""
    found = (
        str(each.path)
        for name, each in registry.sessions_of(store.project)
        if (name, each.session_id) == (agent, session_id)
    )
    return next(found, "")


def list_dead(store: Store, *, since: datetime) -> list[KnownSession]:
    """Return the sessions that ended with unsaved work, newest first."""
    now = store.now()
    return [each for each in list_unsaved(store, since=since) if not each.may_be_alive(now)]


def list_unsaved(
    store: Store,
    *,
    since: datetime,
    unreadable: list[UnreadableTranscript] | None = None,
    watch: WatchReading | None = None,
) -> list[KnownSession]:
    """Return the sessions with unsaved work, newest first."""
    found = list_recent(store, limit=50, since=since, unreadable=unreadable, watch=watch)
    return [each for each in found if each.has_work and not each.is_saved]


def has_company(store: Store, session: KnownSession) -> bool:
    """Return whether another session is running in this worktree, which may change files, too."""
    lives = records.list_lives(store.project.state_folder, store.project)
    return any(
        find_top(life.cwd) == str(store.project.worktree) and not life.is_dead(store.now())
        for life in lives
        if life.session_id != session.session_id
    )


def checkpoint_of(store: Store, session: KnownSession, *, trigger: str) -> Checkpoint:
    """Build a checkpoint from a session's transcript."""
    made = capture.to_checkpoint(session.facts, session.memory, trigger=trigger, now=store.now())
    # A forked transcript may still carry the id of the session it was forked from.
    return msgspec.structs.replace(made, session_id=session.session_id or made.session_id)


def read_found(
    store: Store,
    agent: str,
    found: FoundSession,
    unreadable: list[UnreadableTranscript] | None = None,
    *,
    keeps: bool = True,
) -> KnownSession | None:
    """Read a session; None if it is not there, or not a transcript.

    `unreadable` collects the transcripts that could not be read. With `keeps`, the record of the
    session remembers how far it was read.
    """
    record = records.load(store, agent, found.session_id)
    memory = read_memory(record)
    try:
        read = _read_on(store, agent, found, record, memory)
    except (LeftoffError, OSError) as error:
        refusal = _find_refusal(error)
        if unreadable is not None and refusal is not None:
            unreadable.append(_describe_unreadable(found.path, refusal))
        return None
    # Stored at once, so that the next reading starts where this one ended.
    if keeps and read != memory:
        records.keep(store, with_memory(record, read))
    current_id = store.project.environment.find_session()
    touched_at = datetime.fromtimestamp(found.touched_at, UTC)
    return KnownSession(
        agent=agent,
        session_id=found.session_id,
        path=found.path,
        touched_at=touched_at,
        facts=with_branch(report(read.state, window=record.window), record),
        memory=read,
        checkpoint=store.index().newest_of_session(found.session_id),
        ended_at=find_end(store, store.index(), agent, found.session_id),
        is_current=current_id == (agent, found.session_id),
        is_running=find_sign_of_life(store, record, touched_at),
        head=record.head,
    )


def with_branch(facts: Facts, record: records.SessionRecord) -> Facts:
    """Add the branch that hooks saw last, for agents whose transcripts do not name it."""
    branch = record.branch.removeprefix(_BRANCHES) if record.branch.startswith(_BRANCHES) else ""
    if facts.branch or not branch:
        return facts
    return msgspec.structs.replace(facts, branch=printable(branch))


def _read_on(
    store: Store,
    agent: str,
    found: FoundSession,
    record: records.SessionRecord,
    memory: capture.SessionMemory | None,
) -> capture.SessionMemory:
    """Read what a transcript has gained since it was last read."""
    read = capture.read_session(found.path, agent=agent, memory=memory, session_id=found.session_id)
    return capture.place_session(read, record.cwd or str(store.project.worktree))


def _find_refusal(error: LeftoffError | OSError) -> OSError | None:
    """Return why the system refused to read a file that may be a session.

    A missing file, or one that is not a transcript, is not refused.
    """
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
        return cause
    return None


def _describe_unreadable(path: Path | str, error: BaseException | None) -> UnreadableTranscript:
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
