"""Queue the prompts that were captured but not answered yet.

Prompts come from two sources: hooks store them in `prompts.jsonl` when the context is nearly full,
and a crash leaves them in the agent's own queue, which the session's record or checkpoint holds. A
prompt is identified by its session and its words, so one that is in both appears once. Nothing is
deleted: replayed, dropped and answered prompts stay in the log and can be restored.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

import msgspec

from leftoff import processes, redact
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import new_id
from leftoff.digests import blake2b
from leftoff.errors import LeftoffError
from leftoff.phrases.intents import is_slash_command, passes_always
from leftoff.phrases.short_answers import drop_greeting
from leftoff.session import records
from leftoff.session.prompt_files import LEGACY, FilePrompt
from leftoff.store import CheckpointEntry, Store

if TYPE_CHECKING:
    from leftoff.session.facts.fold_state import FoldState

Action = Literal["captured", "edited", "replayed", "dropped", "answered", "restored"]
Fate = Literal["pending", "replayed", "dropped", "answered"]

_FATE_AFTER: dict[Action, Fate] = {
    "captured": "pending",
    "edited": "pending",
    "restored": "pending",
    "replayed": "replayed",
    "dropped": "dropped",
    "answered": "answered",
}
# Enough of a prompt to recognize it; session records keep no more of a transcript's prompts.
_COMPARED_CHARS = 500
# Shorter prompts, such as `yes` or `go on`, mean something different in another session.
_SHORTEST_CHARS = 20
_AUTOSAVES = 100
_IN_QUEUE = "queue-"
# Programs send prompts too: <task-notification>agent 3 finished</task-notification>.
_NOTICE = re.compile(r"\s*<[a-z]+(?:-[a-z]+)+>")


class PromptLogLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log: a prompt was captured, or an action was taken on it."""

    prompt: str
    at: datetime
    action: Action
    text: str = ""
    agent: str = ""
    session_id: str = ""
    written_at: str = msgspec.field(default="", name="told_at")
    tag: str = ""
    seal: str = ""
    is_blocked: bool = False


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt and its current state."""

    id: str
    at: datetime
    text: str
    agent: str = ""
    session_id: str = ""
    written_at: str = ""
    """The time as written in a file, if it could not be parsed."""
    tag: str = ""
    """The kind of notice, if a file labels it as one."""
    typed: str = ""
    """The original words, if the prompt was edited."""
    fate: Fate = "pending"
    is_blocked: bool = False
    """Whether the agent never got it."""
    seal: str = ""
    """Proves that the prompt was captured in a session of this user on this machine."""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it: its session and its words."""
        return self.session_id, _normalize(self.text)

    @property
    def is_from_a_session(self) -> bool:
        """Whether it comes from an agent's session; a file may hold anyone's words."""
        return bool(self.agent)

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be answered.

        The agent's program runs a slash command at once, and no transcript shows that. So a slash
        command waits only if it was blocked.
        """
        return self.fate == "pending" and (self.is_blocked or not is_slash_command(self.text))

    @property
    def is_from_a_person(self) -> bool:
        """Whether a person typed it; notices from programs are not replayed with the others."""
        return not self.tag and _NOTICE.match(self.text) is None


_decoder = msgspec.json.Decoder(PromptLogLine)


def keep(store: Store, event: HookEvent, *, is_blocked: bool = False) -> None:
    """Store a prompt durably, without its secrets; commands such as `/compact` are not stored.

    The same prompt of the same session is queued only once.
    """
    # These prompts are never blocked, so there is nothing to replay.
    if not event.prompt.strip() or passes_always(event.prompt):
        return
    at = datetime.fromtimestamp(event.at, UTC)
    prompt = Prompt(
        id=new_id(at),
        at=at,
        text=_without_secrets(event.prompt),
        agent=event.agent,
        session_id=event.session_id,
        is_blocked=is_blocked,
        seal=records.seal(store.project.state_folder, event.agent, event.session_id),
    )
    _append_captured(store, prompt)


def import_prompts(
    store: Store, found: Sequence[FilePrompt], session_id: str, *, is_back: bool = False
) -> list[Prompt]:
    """Queue the prompts of a file, without their secrets; skip the ones already queued.

    The file holds prompts that were blocked, so a slash command in it never ran. `is_back` says
    that the file was brought back from the trash: its prompts wait again.
    """
    known = {prompt.key: prompt for prompt in _load_prompts(store)}
    taken = []
    for each in found:
        prompt = Prompt(
            id=new_id(each.at),
            at=each.at,
            text=_without_secrets(each.text),
            session_id=session_id,
            written_at=each.written_at if each.written_at == LEGACY else "",
            tag=each.tag,
            is_blocked=True,
        )
        before = known.get(prompt.key)
        if before is None:
            known[prompt.key] = prompt
            _append_captured(store, prompt)
            taken.append(prompt)
        elif is_back and before.fate != "pending":
            record(store, before, "restored")
            taken.append(before)
    return taken


def is_the_users(store: Store, prompt: Prompt) -> bool:
    """Return whether this user's session here asked it; anyone can write a store."""
    if not prompt.is_from_a_session:
        return False
    record = records.load(store, prompt.agent, prompt.session_id)
    # A prompt found in an agent's queue has no seal of its own, but its session's record has.
    given = (prompt.seal, record.seal)
    return any(
        records.is_sealed(store.project.state_folder, prompt.agent, prompt.session_id, each)
        for each in given
    )


def list_pending(store: Store) -> list[Prompt]:
    """Return the waiting prompts, oldest first."""
    return [prompt for prompt in history(store) if prompt.is_waiting]


def list_kept(store: Store, *, with_files: bool = False) -> list[Prompt]:
    """Return the waiting prompts of people that hooks stored, or files held, oldest first.

    This reads one log. `pending` also looks for prompts in sessions and checkpoints.
    """
    waiting = [each for each in _load_prompts(store) if each.is_waiting and each.is_from_a_person]
    return [each for each in waiting if with_files or each.is_from_a_session]


def list_prompts(store: Store) -> list[Prompt]:
    """Return the prompts in the log, whatever their state."""
    return _load_prompts(store)


def history(store: Store) -> list[Prompt]:
    """Return every prompt that was ever queued, oldest first."""
    captured = _load_prompts(store)
    known = {prompt.key for prompt in captured}
    found = {prompt.key: prompt for prompt in _find_in_queues(store) if prompt.key not in known}
    return sorted([*captured, *found.values()], key=lambda prompt: (prompt.at, prompt.id))


def record(store: Store, prompt: Prompt, action: Action, *, text: str = "") -> None:
    """Record an action taken on a prompt."""
    if all(each.id != prompt.id for each in _load_prompts(store)):
        _append_captured(store, prompt)
    _append(store, PromptLogLine(prompt=prompt.id, at=store.now(), action=action, text=text))


def follow(store: Store, event: HookEvent, state: "FoldState | None") -> None:
    """Remove prompts from the queue that this event shows to be asked again or answered."""
    if event.kind == "prompt":
        note_asked(store, event)
    elif state is not None:
        note_answered(store, event.session_id, state)


def note_asked(store: Store, event: HookEvent) -> None:
    """Remove prompts from the queue that the user asks again verbatim in another session."""
    if len(event.prompt.strip()) < _SHORTEST_CHARS:
        return
    words = _normalize(_without_secrets(event.prompt))
    for prompt in list_pending(store):
        if prompt.session_id != event.session_id and prompt.key[1] == words:
            record(store, prompt, "replayed")


def note_answered(store: Store, session_id: str, state: "FoldState") -> None:
    """Remove prompts from the queue that their own session has answered."""
    waiting = [
        prompt
        for prompt in _load_prompts(store)
        if prompt.fate == "pending" and prompt.session_id == session_id
    ]
    for prompt in waiting:
        # The state keeps requests without their greetings.
        if _is_answered(_normalize(drop_greeting(prompt.text)), state):
            record(store, prompt, "answered")


def note_finished(store: Store, session_id: str) -> None:
    """Remove prompts from the queue that earlier sessions left to the thread of a session.

    The session resumed the thread and has finished a turn of work: its briefing named the prompts
    of the agents' own queues. It does not name those that hooks stored, so they stay.
    """
    index = store.index()
    joined, thread = index.find_joined(session_id), index.find_thread(session_id)
    if joined is None or thread is None:
        return
    for prompt in list_pending(store):
        is_earlier = prompt.session_id != session_id and prompt.at <= joined.at
        if is_earlier and prompt.id.startswith(_IN_QUEUE) and prompt.is_from_a_session:
            left = index.find_thread(prompt.session_id)
            if left is not None and left.slot == thread.slot:
                record(store, prompt, "answered")


def _is_answered(words: str, state: "FoldState") -> bool:
    if any(_normalize(drop_greeting(queued.text)) == words for queued in state.queued):
        return False
    asked = [_normalize(said.text) for said in state.requests]
    # If later prompts followed it, it was answered, or the user withdrew it.
    return words in asked and (asked[-1] != words or state.is_turn_over)


def _load_prompts(store: Store) -> list[Prompt]:
    known: dict[str, Prompt] = {}
    waiting: dict[tuple[str, str], str] = {}
    for line in store.read_log("prompts", _decoder.decode):
        if line.action == "captured":
            prompt = _from_line(line)
            # A prompt is captured again if a session repeats it. It is queued again only if the
            # earlier one is done with.
            twin = known.get(waiting.get(prompt.key, ""))
            if line.prompt not in known and (twin is None or twin.fate != "pending"):
                known[prompt.id] = prompt
                waiting[prompt.key] = prompt.id
        elif (before := known.get(line.prompt)) is not None:
            known[line.prompt] = _apply_action(before, line)
    return list(known.values())


def _apply_action(prompt: Prompt, line: PromptLogLine) -> Prompt:
    """Return a prompt after an action was taken on it."""
    fate = _FATE_AFTER[line.action]
    if line.action != "edited":
        return msgspec.structs.replace(prompt, fate=fate)
    typed = prompt.typed or prompt.text
    return msgspec.structs.replace(prompt, text=line.text, typed=typed, fate=fate)


def _find_in_queues(store: Store) -> Iterator[Prompt]:
    """Yield the queued prompts of dead sessions; a running session answers its own."""
    lives = records.list_lives(store.project.state_folder, store.project)
    dead = [life for life in lives if life.pid and not processes.is_alive(life.pid, life.pid_began)]
    live = {life.session_id for life in lives} - {life.session_id for life in dead}
    for life in dead:
        at = datetime.fromtimestamp(life.seen_at, UTC)
        texts = _read_queue(records.load(store, life.agent, life.session_id)) or []
        yield from _build_prompts(texts, at=at, agent=life.agent, session_id=life.session_id)
    # An earlier session of the work may have left prompts that the newest one does not know.
    for autosave in _list_autosaves(store):
        if autosave.entry.session_id not in live:
            yield from _find_in_autosave(store, autosave)


class _Autosave(msgspec.Struct, frozen=True):
    """An autosave with the prompts that were waiting then."""

    entry: CheckpointEntry
    prompts: list[str]
    is_imported: bool


class _Autosaves(msgspec.Struct):
    """The newest autosaves of a store, as long as nothing happens there."""

    stamp: object = None
    found: list[_Autosave] = []
    read: dict[str, _Autosave] = {}


# Settle asks at every prompt, and a backlog holds many.
_autosaves: WeakKeyDictionary[Store, _Autosaves] = WeakKeyDictionary()


def _list_autosaves(store: Store) -> list[_Autosave]:
    """Return the newest autosaves with waiting prompts; a checkpoint is read once, as it stays."""
    kept = _autosaves.setdefault(store, _Autosaves())
    # Everything that happens to checkpoints is in the log.
    stamp = [_stamp(path) for path in store.log_paths("events")]
    if stamp != kept.stamp:
        entries = store.index().newest_autosaves(_AUTOSAVES)
        read = {each.id: kept.read.get(each.id) or _read_autosave(store, each) for each in entries}
        kept.read = {key: autosave for key, autosave in read.items() if autosave is not None}
        # The index may have moved on, but what a checkpoint says stays the same.
        kept.found = [
            msgspec.structs.replace(kept.read[each.id], entry=each)
            for each in entries
            if each.id in kept.read and kept.read[each.id].prompts
        ]
        kept.stamp = stamp
    return kept.found


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_ino, found.st_size


def _read_autosave(store: Store, entry: CheckpointEntry) -> _Autosave | None:
    try:
        checkpoint = store.load(entry)
    except (LeftoffError, OSError):
        return None
    return _Autosave(entry, checkpoint.pending_prompts, checkpoint.source is not None)


def _find_in_autosave(store: Store, autosave: _Autosave) -> Iterator[Prompt]:
    entry = autosave.entry
    agent, session_id = entry.agent or "", entry.session_id or entry.id
    # The session may have continued after the save; if so, its record has the newer queue.
    record = records.load(store, agent, session_id)
    queued = _read_queue(record)
    still = {_normalize(text) for text in [*(queued or []), record.turn.asked]}
    texts = [text for text in autosave.prompts if queued is None or _normalize(text) in still]
    # Prompts imported from a file belong to no session, whichever agent the file names.
    agent = "" if autosave.is_imported else agent
    yield from _build_prompts(texts, at=entry.saved_at, agent=agent, session_id=session_id)


class _Queued(msgspec.Struct, frozen=True):
    text: str


class _QueueState(msgspec.Struct, frozen=True):
    queued: list[_Queued] = []


class _Memory(msgspec.Struct, frozen=True):
    """The part of a session's memory needed here; decoding all of it would load every reader."""

    state: _QueueState


_memory_decoder: msgspec.json.Decoder[_Memory | None] = msgspec.json.Decoder(_Memory | None)


def _read_queue(record: records.SessionRecord) -> list[str] | None:
    """Return the agent's queue at the last reading; None if the session was never read."""
    try:
        memory = _memory_decoder.decode(record.memory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return [queued.text for queued in memory.state.queued] if memory is not None else None


def _build_prompts(
    texts: Sequence[str], *, at: datetime, agent: str, session_id: str
) -> Iterator[Prompt]:
    for text in texts:
        if is_slash_command(text):
            continue
        # The same prompt always gets the same id, so that recorded actions apply to it.
        digest = blake2b(f"{session_id}\n{_normalize(text)}".encode(), digest_size=6)
        prompt_id = f"{_IN_QUEUE}{digest.hexdigest()}"
        yield Prompt(id=prompt_id, at=at, text=text, agent=agent, session_id=session_id)


def _without_secrets(text: str) -> str:
    # Listing the queue does not need the redaction rules, which take longer to load than the rest.
    return redact.redact(text)


def _normalize(text: str) -> str:
    return text.strip()[:_COMPARED_CHARS].rstrip()


def _from_line(line: PromptLogLine) -> Prompt:
    return Prompt(
        id=line.prompt,
        at=line.at,
        text=line.text,
        agent=line.agent,
        session_id=line.session_id,
        written_at=line.written_at,
        tag=line.tag,
        is_blocked=line.is_blocked,
        seal=line.seal,
    )


def _append_captured(store: Store, prompt: Prompt) -> None:
    line = PromptLogLine(
        prompt=prompt.id,
        at=prompt.at,
        action="captured",
        text=prompt.text,
        agent=prompt.agent,
        session_id=prompt.session_id,
        written_at=prompt.written_at,
        tag=prompt.tag,
        is_blocked=prompt.is_blocked,
        seal=prompt.seal,
    )
    _append(store, line)


def _append(store: Store, line: PromptLogLine) -> None:
    store.append_line("prompts", msgspec.json.encode(line))
