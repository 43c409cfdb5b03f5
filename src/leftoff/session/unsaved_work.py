"""Find sessions whose work is in no checkpoint, and read only those that nobody has read yet.

What a transcript says about its work is remembered until the transcript changes: `leftoff status`
and every first session start ask, and reading a transcript takes longer than the rest of both.
Whether the work is saved, and whether the session runs, is looked up each time.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from leftoff import __version__, session
from leftoff.agents import registry
from leftoff.agents.agent import FoundSession
from leftoff.errors import LeftoffError
from leftoff.session import records
from leftoff.store import FINISHED, CheckpointEntry, Store, StoreIndex, disk, plain_name
from leftoff.text import times

_NEWEST = 5
_LOOK_BACK = timedelta(days=30)
# A transcript changed this recently may belong to an agent that is still running.
_ALIVE = timedelta(seconds=120)
# Agents write a few more lines after the end of a session.
_LATE = timedelta(seconds=10)


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a transcript of this size and time says about its work."""

    size: int
    ctime_ns: int
    has_work: bool
    is_glance: bool = False
    """Whether the transcript was only looked at, not read."""
    request: str = ""
    """What the user asked for, to name the session by."""
    intent: str = ""
    branch: str = ""
    worked_at: str = ""
    worked_for: str = ""
    continues: str = ""
    """The name of the thread whose briefing it was given."""
    is_turn_over: bool = False
    has_done: bool = True
    """Whether anything was done besides talking: a prompt that waits is work, too."""


class UnsavedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session with unsaved work."""

    agent: str
    session_id: str
    path: Path
    touched_at: datetime
    request: str
    """What was asked for or done, and the thread that the session has joined."""
    intent: str = ""
    branch: str = ""
    checkpoint: CheckpointEntry | None = None
    """Its newest checkpoint, if any; work was done after it."""
    thread: str | None = None
    """The open thread that the session has joined."""


Judge = Callable[[str, FoundSession], Verdict | None]
"""Returns what is evident about a session of an agent; None if its transcript must be read."""


def find_unsaved_work(
    store: Store,
    *,
    besides: Collection[str] = (),
    judge: Judge | None = None,
    most_bytes: int | None = None,
    refused: list[OSError] | None = None,
) -> list[UnsavedSession]:
    """Return the newest ended sessions whose work is in no checkpoint, newest first.

    Looks at few sessions, so that it is quick. `judge` may spare the reading of a transcript;
    those larger than `most_bytes` are not read. `refused` collects the errors of folders that
    cannot be listed.
    """
    known, kept = _recall(store), dict[str, Verdict]()
    worked = list[tuple[str, FoundSession, Verdict]]()
    for agent, each in _list_newest(store, besides, refused):
        key = f"{each.path}#{each.session_id}"
        verdict = _find_known(known.get(key), agent, each, can_glance=judge is not None)
        verdict = verdict or (judge(agent, each) if judge is not None else None)
        verdict = verdict or _read(store, agent, each, most_bytes)
        if verdict is None:
            continue
        kept[key] = verdict
        if verdict.has_work:
            worked.append((agent, each, verdict))
    if kept != known:
        _remember(store, kept)
    if not worked:
        return []
    # Once: each call looks for new files in the store.
    index = store.index()
    found = [_check(store, index, *each) for each in worked]
    return [each for each in found if each is not None]


def start_verdict(agent: str, found: FoundSession) -> Verdict:
    """Return a verdict that knows the state of the files, and of no work."""
    # A database also changes in its log file. Sub-agents work while their session waits for them.
    log = found.path.with_name(f"{found.path.name}-wal")
    children = registry.FINDERS[agent].sub_sessions(found.path)
    stats = [*map(_read_stat, (found.path, log, *children))]
    return Verdict(
        size=sum(size for size, _ in stats),
        ctime_ns=max(changed for _, changed in stats),
        has_work=False,
    )


def _read_stat(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_ctime_ns


def find_verdicts(store: Store) -> Path:
    """Return the file that keeps what was found in the transcripts of a project."""
    name = plain_name(str(store.project.store))
    return store.project.state_folder / "contacted" / f"{name}.seen"


def is_work_saved(
    last: CheckpointEntry | None,
    touched_at: datetime,
    worked_at: str,
    *,
    is_turn_over: bool,
    has_done: bool = True,
) -> bool:
    """Return whether a session did no work after its last checkpoint."""
    if last is None:
        return False
    # Agents write a few lines after the last event, and people say thanks. Not every transcript
    # says when something was done.
    worked = times.parse(worked_at)
    is_idle = worked <= last.as_of if worked is not None else not has_done
    return last.saved_at >= touched_at or (is_idle and is_turn_over)


def find_end(store: Store, index: StoreIndex, agent: str, session_id: str) -> datetime | None:
    """Return when the thread that a session worked on was done or dropped; None if it was not.

    A checkpoint that was consumed by resuming it is not finished: the session works on it.
    """
    entry = index.find_thread(session_id)
    if entry is None:
        continued = records.load(store, agent, session_id).continued
        entry = index.head(continued) if continued else None
    if entry is None or entry.state not in FINISHED:
        return None
    joined = index.find_joined(session_id)
    is_taken = joined is not None and joined.action == "consumed"
    return None if is_taken else index.find_end(entry.id)


def is_finished(
    ended_at: datetime | None, worked_at: str, worked_for: str, *, is_turn_over: bool
) -> bool:
    """Return whether all that a session did was for a thread that has ended.

    What it does afterwards counts only if the user has asked for something since.
    """
    if ended_at is None:
        return False
    worked, requested = times.parse(worked_at), times.parse(worked_for)
    if requested is not None and requested <= ended_at:
        return True
    return worked is not None and worked <= ended_at and is_turn_over


def is_recent(touched_at: datetime, now: datetime) -> bool:
    """Return whether a session was active so recently that its agent may still run.

    A time far ahead comes from a clock that was wrong, and must not keep a session alive for years.
    """
    return abs(now - touched_at) < _ALIVE


def find_sign_of_life(
    store: Store, record: records.SessionRecord, touched_at: datetime
) -> bool | None:
    """Return whether a session runs: its process, its end or the agent's files may say so.

    None if nothing does.
    """
    agent, session_id = record.agent, record.session_id
    life = records.life_of(store.project.state_folder, agent, session_id)
    if life is not None and (life.pid or life.lock):
        return not life.has_crashed
    # A transcript that goes on after the end belongs to a session that was resumed without hooks.
    is_over = record.ended_at is not None and touched_at <= record.ended_at + _LATE
    if life is None and is_over:
        return False
    root = store.project.environment.find_agent_folder(agent)
    return registry.FINDERS[agent].is_running(root, session_id)


def _list_newest(
    store: Store, besides: Collection[str], refused: list[OSError] | None
) -> Iterable[tuple[str, FoundSession]]:
    since = (store.now() - _LOOK_BACK).timestamp()
    every = registry.sessions_of(store.project, since=since, refused=refused)
    newest = sorted(every, key=lambda pair: pair[1].touched_at, reverse=True)[:_NEWEST]
    return [pair for pair in newest if pair[1].session_id not in besides]


def _find_known(
    before: Verdict | None, agent: str, found: FoundSession, *, can_glance: bool
) -> Verdict | None:
    """Return an earlier verdict if the files are as they were then."""
    if before is None or (before.is_glance and not can_glance):
        return None
    now = start_verdict(agent, found)
    return before if (before.size, before.ctime_ns) == (now.size, now.ctime_ns) else None


def _read(store: Store, agent: str, found: FoundSession, most_bytes: int | None) -> Verdict | None:
    # Before reading: what is written meanwhile must not look as if it had been read.
    verdict = start_verdict(agent, found)
    if most_bytes is not None and _read_stat(found.path)[0] > most_bytes:
        return None
    # Loading the readers takes as long as all of `leftoff status`.
    known = session.sessions.read_found(store, agent, found)
    if known is None:
        return None
    return msgspec.structs.replace(
        verdict,
        has_work=known.has_work,
        request=known.request,
        intent=known.facts.intent,
        branch=known.facts.branch,
        worked_at=known.facts.worked_at,
        worked_for=known.facts.worked_for,
        continues=known.facts.continues or "",
        is_turn_over=known.facts.is_turn_over,
        has_done=known.has_done,
    )


def _check(
    store: Store, index: StoreIndex, agent: str, found: FoundSession, verdict: Verdict
) -> UnsavedSession | None:
    """Return a session with work if that is unsaved now, and no agent may be working on it."""
    touched_at = datetime.fromtimestamp(found.touched_at, UTC)
    last = index.newest_of_session(found.session_id)
    is_saved = is_work_saved(
        last,
        touched_at,
        verdict.worked_at,
        is_turn_over=verdict.is_turn_over,
        has_done=verdict.has_done,
    ) or is_finished(
        find_end(store, index, agent, found.session_id),
        verdict.worked_at,
        verdict.worked_for,
        is_turn_over=verdict.is_turn_over,
    )
    if is_saved or _may_be_alive(store, agent, found.session_id, touched_at):
        return None
    thread = index.find_open_thread(found.session_id) or _find_briefed(index, verdict)
    joined = f" (in {thread.name})" if thread is not None and thread.name else ""
    return UnsavedSession(
        agent=agent,
        session_id=found.session_id,
        path=found.path,
        touched_at=touched_at,
        request=f"{verdict.request}{joined}",
        intent=verdict.intent,
        branch=verdict.branch,
        checkpoint=last,
        thread=thread.slot if thread is not None else None,
    )


def _find_briefed(index: StoreIndex, verdict: Verdict) -> CheckpointEntry | None:
    """Return the open thread whose briefing a session was given: without hooks, it joined none."""
    found = index.find_named(verdict.continues) if verdict.continues else None
    return found if found is not None and found.is_open else None


def _may_be_alive(store: Store, agent: str, session_id: str, touched_at: datetime) -> bool:
    if store.project.environment.find_session() == (agent, session_id):
        return True
    is_running = find_sign_of_life(store, records.load(store, agent, session_id), touched_at)
    return is_recent(touched_at, store.now()) if is_running is None else is_running


# --- what was found in transcripts ---


class _Verdicts(msgspec.Struct, frozen=True):
    """The verdicts of one version of leftoff: another one may see more in the same transcript."""

    version: str
    verdicts: dict[str, Verdict]


def _recall(store: Store) -> dict[str, Verdict]:
    """Return the earlier verdicts, by transcript and session."""
    try:
        found = msgspec.json.decode(disk.read(find_verdicts(store))[0], type=_Verdicts)
    except (OSError, LeftoffError, msgspec.MsgspecError):
        # Without them, the transcripts are read again.
        return {}
    return found.verdicts if found.version == __version__ else {}


def _remember(store: Store, verdicts: Mapping[str, Verdict]) -> None:
    path = find_verdicts(store)
    data = msgspec.json.encode(_Verdicts(__version__, {**verdicts}))
    # They only save time, and `leftoff doctor` reports a folder that cannot be written.
    with contextlib.suppress(OSError, LeftoffError):
        disk.ensure_folder(path.parent)
        disk.replace(path, data, temps=path.parent, durable=False)
