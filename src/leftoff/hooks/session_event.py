"""Combine a hook event with its session: the record, the transcript and the turn under way."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from leftoff import config, processes
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.git import query
from leftoff.git.repository import find_ref
from leftoff.hooks import context_usage
from leftoff.phrases.short_answers import is_parting
from leftoff.redact import redact
from leftoff.session import capture, records
from leftoff.session.facts.report import Facts, report
from leftoff.session.real_work import can_be_task, shows_work
from leftoff.session.records import Life, SessionRecord, Turn
from leftoff.session.sessions import KnownSession, read_memory, with_branch, with_memory
from leftoff.session.usage_limits import find_usage_limit
from leftoff.store import Store

_RECENT_SECONDS = 30.0
# opencode keeps all sessions in one.
_DATABASE = ".db"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """An event and its session: the record before the event, and the record now."""

    event: HookEvent
    store: Store
    settings: config.Settings
    before: SessionRecord
    now: SessionRecord
    facts: Facts | None = None
    memory: capture.SessionMemory | None = None
    sight: "Sight"

    @property
    def at(self) -> datetime:
        """When the event occurred."""
        return datetime.fromtimestamp(self.event.at, UTC)

    @property
    def is_recent(self) -> bool:
        """Whether git as it is now describes the event."""
        return time.time() - self.event.at < _RECENT_SECONDS

    @property
    def percent(self) -> float | None:
        """How full the context is; None if unknown."""
        return self.facts.percent if self.facts is not None else None

    def with_record(self, **changes: Any) -> Self:
        """Return a copy with these changes to the session's record."""
        return msgspec.structs.replace(self, now=msgspec.structs.replace(self.now, **changes))


class Sight:
    """What is known about one session, read once and updated by each of its events."""

    def __init__(self, store: Store, agent: str, session_id: str) -> None:
        self.store = store
        self.record = records.load(store, agent, session_id)
        self.life = records.life_of(store.project.state_folder, agent, session_id)
        self.code_kept_at = 0.0
        """When the last snapshot of the session's code began."""
        self._memory = read_memory(self.record)
        self._kept = self.record.memory
        self._stamp: tuple[object, ...] = ()
        self._written = self.record
        self._last: Case | None = None
        self._facts: tuple[capture.SessionMemory, Facts] | None = None
        self._window = 0

    @property
    def read_offset(self) -> int:
        """How much of the transcript has been read."""
        return self._memory.cursor.offset if self._memory is not None else 0

    def is_alive(self) -> bool:
        """Return whether the agent still runs; True if its process is unknown."""
        life = self.life
        return life is None or not life.pid or processes.is_alive(life.pid, life.pid_began)

    def read_on(self, record: SessionRecord) -> tuple[SessionRecord, capture.SessionMemory | None]:
        """Read new lines of the transcript, unless the file has not changed."""
        stamp = _stamp(record.transcript_path)
        if not stamp or stamp != self._stamp:
            self._memory = read_on(record, self._memory)
            self._stamp = stamp
            if self._memory is not None:
                self._kept = with_memory(record, self._memory).memory
        return msgspec.structs.replace(record, memory=self._kept), self._memory

    def facts(self, memory: capture.SessionMemory, window: int) -> Facts:
        """Report the facts in a session's memory; each memory is evaluated once."""
        if self._facts is None or self._facts[0] is not memory or self._window != window:
            self._facts, self._window = (memory, report(memory.state, window=window)), window
        return context_usage.with_live_use(
            self._facts[1], self.store.project.state_folder, self.record.session_id
        )

    def update(self, case: Case) -> None:
        """Take over the record of a processed event, to be written by `keep`."""
        self.record, self._last = case.now, case

    def keep(self) -> None:
        """Write what the events since the last call changed."""
        case = self._last
        if case is None:
            return
        if case.is_recent:
            folder = Path(case.event.cwd)
            head, branch = query.find_head_sha(folder) or "", find_ref(folder)
            self.record = msgspec.structs.replace(self.record, head=head, branch=branch)
        self.record = records.keep_over(self.store, self.record, known=self._written)
        self._written, self._last = self.record, None
        if self.life is not None:
            state = self.store.project.state_folder
            context_usage.update_statusline(self.store, state, case.event.session_id, case.facts)
            self.life = records.keep_life_over(state, self.life)


def _stamp(path: str) -> tuple[object, ...]:
    """Return what changes whenever the transcript does; empty if there is no file."""
    # A database changes in its log first, so its own file says nothing.
    if path.endswith(_DATABASE):
        return ()
    try:
        found = Path(path).stat() if path else None
    except (OSError, ValueError):
        return ()
    return (path, found.st_ino, found.st_size, found.st_mtime_ns) if found else ()


def read_case(event: HookEvent, sight: Sight, settings: config.Settings) -> Case:
    """Read what is known about an event's session, and new lines of its transcript."""
    now, memory = sight.read_on(_follow_turn(event, _apply_event(event, sight), sight))
    facts = sight.facts(memory, now.window) if memory is not None else None
    # A finished turn ends a usage limit. opencode also reports the end of one that it has given up.
    if event.kind == "stop" and (facts is None or facts.is_said_last):
        now = msgspec.structs.replace(now, limit="")
    return Case(
        event=event,
        store=sight.store,
        settings=settings,
        before=sight.record,
        now=now,
        facts=facts,
        memory=memory,
        sight=sight,
    )


def _apply_event(event: HookEvent, sight: Sight) -> SessionRecord:
    """Add what the event itself says about its session to the record."""
    before = sight.record
    at = datetime.fromtimestamp(event.at, UTC)
    ended = (before.ended_at, before.end_reason) if is_overtaken(event, sight) else (None, "")
    ended_at, end_reason = (at, event.source) if event.kind == "session-end" else ended
    return msgspec.structs.replace(
        before,
        cwd=event.cwd,
        transcript_path=event.transcript_path
        or before.transcript_path
        or _find_transcript(event, sight.store),
        begun_at=before.begun_at or at,
        # An idle notification does not show that the agent was working.
        seen_at=before.seen_at or at if event.kind == "idle" else at,
        window=event.window or before.window,
        limit=_find_limit(event, before.limit),
        ended_at=ended_at,
        end_reason=end_reason,
        deferred_at=None if event.kind == "pre-compact" else before.deferred_at,
    )


def is_overtaken(event: HookEvent, sight: Sight) -> bool:
    """Return whether the session ended before this event arrived, so that it changes nothing.

    Agents run hooks at the same time, so the end of the last turn may arrive after that of the
    session. Only a start or a prompt shows that a session goes on.
    """
    record = sight.record
    has_ended = record.ended_at is not None and record.end_reason != "crashed"
    return has_ended and sight.life is None and event.kind not in {"prompt", "session-end"}


def _find_limit(event: HookEvent, known: str) -> str:
    """Return the usage limit at which the session stopped."""
    if event.kind != "failure":
        return known
    return find_usage_limit(event.error, datetime.fromtimestamp(event.at, UTC)) or known


def _find_transcript(event: HookEvent, store: Store) -> str:
    """Return the transcript of an event that does not name it, such as most of Copilot's."""
    root = store.project.environment.find_agent_folder(event.agent)
    return DIALECTS[event.agent].find_transcript(root, event.session_id)


def _follow_turn(event: HookEvent, record: SessionRecord, sight: Sight) -> SessionRecord:
    """Keep what the event says until the transcript has it; wait for the end of a turn."""
    read = sight.read_offset
    is_awaited = event.kind == "stop" and record.transcript_path
    is_written = bool(is_awaited) and wait_for_words(
        event.last_words or event.written_mark,
        Path(record.transcript_path),
        sent_at=event.at,
        after=read,
        is_writer_alive=sight.is_alive,
    )
    turn = follow_event(event, record.turn, read=read, is_written=is_written)
    return msgspec.structs.replace(record, turn=turn)


# --- reading new lines of the transcript ---


_HEAD_BYTES = 256 * 1024
_MOST_BESIDE = 20
_MESSAGE_ID = re.compile(rb'"uuid":\s*"[\w-]{8,64}"')
# After /clear, Claude Code goes on writing the id of the session before as `session_id`, which only
# says which process wrote the line. The session's own id is `sessionId`.
_SESSION_IDS = tuple(
    re.compile(rb'"%s":\s*"([\w.-]{1,128})"' % key) for key in (b"sessionId", b"session_id")
)


def read_on(
    record: SessionRecord, memory: capture.SessionMemory | None
) -> capture.SessionMemory | None:
    """Read new lines of the transcript; if it is gone, return what was learned before."""
    path = Path(record.transcript_path)
    if not record.transcript_path or not path.is_file():
        return memory
    # Some agents keep all sessions in one file.
    read = capture.read_session(
        path, agent=record.agent, memory=memory, session_id=record.session_id
    )
    return capture.place_session(read, record.cwd)


def find_former_session(record: SessionRecord) -> str | None:
    """Return the session that this one was forked from: its transcript begins with lines of it.

    Agents either leave the former session's id in those lines, or only the ids of its messages.
    """
    path = Path(record.transcript_path)
    begin = _read_begin(path) if record.transcript_path else b""
    ids = next(filter(None, (each.findall(begin) for each in _SESSION_IDS)), [])
    others = [each.decode() for each in ids if each != record.session_id.encode()]
    first = _MESSAGE_ID.search(begin)
    if others or first is None:
        return others[-1] if others else None
    beside = sorted(path.parent.glob("*.jsonl"), key=_rank_by_age)[:_MOST_BESIDE]
    return next(
        (each.stem for each in beside if each != path and first[0] in _read_begin(each)), None
    )


def _read_begin(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _rank_by_age(path: Path) -> float:
    """Order files by their last change, newest first."""
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def find_continued(
    record: SessionRecord, life: Life | None, facts: Facts | None, settings: config.Settings
) -> str:
    """Return the thread that a session continues although it has not joined it; "" if none.

    It ended before the prompt was processed, or the session went to work and the user has only
    agreed, to what leftoff offered.
    """
    if record.continued or facts is None or facts.continues or settings.confirm == "always":
        return record.continued
    offered, has_passed = record.offered, record.has_passed
    if life is not None and life.offered:
        offered, has_passed = life.offered, life.has_passed
    asked = [facts.task, facts.intent, *facts.requests]
    # A number picks something from a list, which need not be the first.
    has_agreed = (
        facts.intent
        and shows_work(facts)
        and not any(can_be_task(each) or _DIGIT.search(each) for each in asked)
    )
    return offered if has_agreed and not has_passed else ""


_DIGIT = re.compile(r"\d")


def build_session(
    store: Store, record: SessionRecord, facts: Facts | None, memory: capture.SessionMemory | None
) -> KnownSession | None:
    """Combine what is known about a session; None if nothing was ever asked or done in it."""
    # A slash command is not a request, but the agent may have worked on it.
    if facts is None or memory is None or not (facts.intent or shows_work(facts)):
        return None
    path = Path(record.transcript_path)
    touched = path.stat().st_mtime if path.is_file() else 0.0
    return KnownSession(
        agent=record.agent,
        session_id=record.session_id,
        path=path,
        touched_at=datetime.fromtimestamp(touched, UTC),
        facts=with_branch(facts, record),
        memory=memory,
        checkpoint=store.index().newest_of_session(record.session_id),
        head=record.head,
    )


# --- waiting for the transcript, which agents write late ---


# Claude Code 2.1.325 is up to 0.11 s late at the end of a turn, and later under load.
_WAIT_SECONDS = 1.5
# By then an agent has written all that it will write, however busy the machine is.
_OLD_SECONDS = 10.0
_PAUSE = 0.02
TAIL = 256 * 1024
_COMPARED_CHARS = 80


def wait_for_words(
    words: str,
    transcript: Path,
    *,
    sent_at: float,
    after: int,
    is_writer_alive: Callable[[], bool],
) -> bool:
    """Wait a moment until the transcript holds the words of an event; return whether it does.

    Only text after the given offset counts: the same words may have been said before. The wait
    ends if the writer dies, and is skipped for an old event. At the end of the first turn there may
    be no file yet.
    """
    if not words.strip() or not transcript.parent.is_dir():
        return False
    is_old = time.time() - sent_at > _OLD_SECONDS
    deadline = time.monotonic() + (0 if is_old else _WAIT_SECONDS)
    while not has_words(transcript, words, after=after):
        if time.monotonic() > deadline or not is_writer_alive():
            return has_words(transcript, words, after=after)
        time.sleep(_PAUSE)
    return True


def has_words(transcript: Path, words: str, *, after: int) -> bool:
    """Return whether the end of the transcript, from an offset on, holds these words."""
    last_line = words.strip().splitlines()[-1].strip()[-_COMPARED_CHARS:]
    return msgspec.json.encode(last_line)[1:-1] in _read_tail(transcript, after)


def _read_tail(transcript: Path, after: int) -> bytes:
    try:
        with transcript.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(min(after, size), size - TAIL))
            return file.read()
    except OSError:
        return b""


# --- the turn that the transcript does not have yet ---
#
# An agent that dies may never write it there.


_KEPT_CHARS = 2_000
_SHOWN_CHARS = 240


def follow_event(event: HookEvent, turn: Turn, *, read: int, is_written: bool) -> Turn:
    """Return what is known about the turn after an event; empty once the transcript has it."""
    if event.kind == "prompt":
        return Turn(asked=redact(event.prompt)[:_KEPT_CHARS], read=read)
    if event.kind == "pre-tool" and event.command:
        return msgspec.structs.replace(turn, began=redact(event.command)[:_KEPT_CHARS])
    if event.kind == "stop" and is_written:
        return Turn()
    if event.kind == "stop":
        return msgspec.structs.replace(turn, began="", said=redact(event.last_words)[-_KEPT_CHARS:])
    return turn


def list_unwritten(record: SessionRecord) -> dict[str, Any]:
    """Return what hooks reported and the transcript lacks, as keys of a checkpoint."""
    turn = record.turn
    asked, said = (_keep_unwritten(record, text) for text in (turn.asked, turn.said))
    call = list_unwritten_call(record)
    # The transcript shows a slash command in another form, and a goodbye asks for nothing.
    if asked.startswith("/") or is_parting(asked):
        asked = ""
    fields: dict[str, Any] = {}
    if asked:
        fields |= {"intent": asked, "pending_prompts": [] if said or call else [asked]}
        fields |= _build_next_action(
            f"Answer the prompt that is still waiting: {_shorten(asked)}", "prompt"
        )
    fields |= call
    if said:
        fields["left_off"] = said
        fields |= _build_next_action(f"The agent's last words: {_shorten(said)}", "proposal")
    return fields


def list_unwritten_call(record: SessionRecord) -> dict[str, Any]:
    """Return the command that was cut short, as keys of a checkpoint, if the transcript lacks it.

    Gemini CLI writes a call only when it has ended.
    """
    began = _keep_unwritten(record, record.turn.began)
    if not began:
        return {}
    again = f"Check, then repeat, the call that was cut short: Bash: {_shorten(began)}."
    in_flight = {"tool": "Bash", "what": began}
    return {"in_flight": in_flight, **_build_next_action(again, "call")}


def _keep_unwritten(record: SessionRecord, text: str) -> str:
    text = text.strip()
    return text if text and not _is_written(record, text) else ""


def _build_next_action(text: str, source: str) -> dict[str, Any]:
    return {"next_action": {"text": text, "origin": "inferred", "source": source}}


def _shorten(text: str) -> str:
    return " ".join(text.split())[:_SHOWN_CHARS]


def _is_written(record: SessionRecord, words: str) -> bool:
    transcript = Path(record.transcript_path)
    if not transcript.is_file():
        return False
    if transcript.suffix == _DATABASE:
        # It has every prompt and call at once, in an order that no tail of the file shows.
        return True
    read = record.turn.read
    # With so much new text, the transcript is past this turn.
    return transcript.stat().st_size - read > TAIL or has_words(transcript, words, after=read)
