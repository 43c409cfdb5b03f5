"""The prompt queue: prompts that were captured and not yet answered.

Two kinds wait: prompts that hooks kept when the context was nearly full (`prompts.jsonl`), and
prompts that a crash left in the agent's own queue (told by its session's record or checkpoint). A
prompt is known by its session and its words, so one that is in both is found once. Nothing is ever
deleted: what was replayed, dropped or answered stays in the log and can be brought back.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from leftoff import processes, redact
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import new_id
from leftoff.errors import LeftoffError
from leftoff.phrases.intents import passes_always
from leftoff.session import records, seals
from leftoff.session.prompt_files import LEGACY, FilePrompt
from leftoff.store import LISTED, CheckpointEntry, Store

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
# Enough of a prompt to know it again; transcripts are remembered only so far.
_TELLING_CHARS = 500
# Shorter prompts, such as `yes` or `go on`, mean something else in another session.
_TELLING_WORDS_CHARS = 20
_HEADS = 30
# Programs speak through the prompt too: <task-notification>agent 3 finished</task-notification>.
_NOTICE = re.compile(r"\s*<[a-z]+(?:-[a-z]+)+>")


class PromptLogLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log: a prompt was captured, or something was done about it."""

    prompt: str
    at: datetime
    action: Action
    text: str = ""
    agent: str = ""
    session_id: str = ""
    told_at: str = ""
    tag: str = ""
    seal: str = ""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, and what became of it."""

    id: str
    at: datetime
    text: str
    agent: str = ""
    session_id: str = ""
    told_at: str = ""
    """Its time as a file had it, where that is no moment."""
    tag: str = ""
    """What kind of notice a file calls it, if any."""
    typed: str = ""
    """Its words before they were edited, if they were."""
    fate: Fate = "pending"
    seal: str = ""
    """Shows that it was captured in a session of this user, on this machine."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by: its session and its words."""
        return self.session_id, _words(self.text)

    @property
    def is_from_a_session(self) -> bool:
        """Whether an agent's session told it; a file may hold anyone's words."""
        return bool(self.agent)

    @property
    def is_from_a_person(self) -> bool:
        """Whether a person typed it; a program's notice is not replayed with the others."""
        return not self.tag and _NOTICE.match(self.text) is None


_decoder = msgspec.json.Decoder(PromptLogLine)


def keep(store: Store, event: HookEvent) -> None:
    """Put a prompt on disk durably, without its secrets; the ways out are no work to come back to.

    The same prompt of the same session waits only once.
    """
    if not event.prompt.strip() or passes_always(event.prompt):
        return
    at = datetime.fromtimestamp(event.at, UTC)
    prompt = Prompt(
        id=new_id(at),
        at=at,
        text=_without_secrets(event.prompt),
        agent=event.agent,
        session_id=event.session_id,
        seal=seals.seal(store.project.state_folder, event.agent, event.session_id),
    )
    _append_captured(store, prompt)


def import_prompts(store: Store, found: Sequence[FilePrompt], session_id: str) -> list[Prompt]:
    """Queue the prompts of a file, without their secrets; those known already are left out."""
    known = {prompt.key for prompt in _load_prompts(store)}
    taken = []
    for each in found:
        prompt = Prompt(
            id=new_id(each.at),
            at=each.at,
            text=_without_secrets(each.text),
            session_id=session_id,
            told_at=each.told_at if each.told_at == LEGACY else "",
            tag=each.tag,
        )
        if prompt.key not in known:
            known.add(prompt.key)
            _append_captured(store, prompt)
            taken.append(prompt)
    return taken


def is_the_users(store: Store, prompt: Prompt) -> bool:
    """Say whether a session of this user asked it, on this machine; a store may be anyone's."""
    if not prompt.is_from_a_session:
        return False
    record = records.load(store, prompt.agent, prompt.session_id)
    given = (prompt.seal, record.seal)
    return any(
        seals.is_sealed(store.project.state_folder, prompt.agent, prompt.session_id, each)
        for each in given
    )


def pending(store: Store) -> list[Prompt]:
    """Return the prompts that wait, oldest first."""
    return [prompt for prompt in history(store) if prompt.fate == "pending"]


def list_prompts(store: Store) -> list[Prompt]:
    """Return the prompts that the log holds, whatever became of them."""
    return _load_prompts(store)


def history(store: Store) -> list[Prompt]:
    """Return every prompt that ever waited, oldest first."""
    captured = _load_prompts(store)
    known = {prompt.key for prompt in captured}
    found = {prompt.key: prompt for prompt in _find_in_queues(store) if prompt.key not in known}
    return sorted([*captured, *found.values()], key=lambda prompt: (prompt.at, prompt.id))


def record(store: Store, prompt: Prompt, action: Action, *, text: str = "") -> None:
    """Note what was done about a prompt."""
    if all(each.id != prompt.id for each in _load_prompts(store)):
        _append_captured(store, prompt)
    _append(store, PromptLogLine(prompt=prompt.id, at=store.now(), action=action, text=text))


def follow(store: Store, event: HookEvent, state: "FoldState | None") -> None:
    """Take prompts off the queue that this event shows to be on their way or answered."""
    if event.kind == "prompt":
        note_asked(store, event)
    elif state is not None:
        note_answered(store, event.session_id, state)


def note_asked(store: Store, event: HookEvent) -> None:
    """Take prompts off the queue that the user asks again, word for word, in another session."""
    if len(event.prompt.strip()) < _TELLING_WORDS_CHARS:
        return
    words = _words(_without_secrets(event.prompt))
    for prompt in pending(store):
        if prompt.session_id != event.session_id and prompt.key[1] == words:
            record(store, prompt, "replayed")


def note_answered(store: Store, session_id: str, state: "FoldState") -> None:
    """Take prompts off the queue that their own session has answered after all."""
    waiting = [
        prompt
        for prompt in _load_prompts(store)
        if prompt.fate == "pending" and prompt.session_id == session_id
    ]
    for prompt in waiting:
        if _is_answered(prompt.key[1], state):
            record(store, prompt, "answered")


def _is_answered(words: str, state: "FoldState") -> bool:
    if any(_words(queued.text) == words for queued in state.queued):
        return False
    asked = [_words(said.text) for said in state.requests]
    # One that others followed was answered, or called back by the user.
    return words in asked and (asked[-1] != words or state.is_turn_over)


def _load_prompts(store: Store) -> list[Prompt]:
    known: dict[str, Prompt] = {}
    waiting: dict[tuple[str, str], str] = {}
    for line in store.read_log("prompts", _decoder.decode):
        if line.action == "captured":
            prompt = _from_line(line)
            twin = known.get(waiting.get(prompt.key, ""))
            if line.prompt not in known and (twin is None or twin.fate != "pending"):
                known[prompt.id] = prompt
                waiting[prompt.key] = prompt.id
        elif (before := known.get(line.prompt)) is not None:
            known[line.prompt] = _after(before, line)
    return list(known.values())


def _after(prompt: Prompt, line: PromptLogLine) -> Prompt:
    """Return a prompt after something was done about it."""
    fate = _FATE_AFTER[line.action]
    if line.action != "edited":
        return msgspec.structs.replace(prompt, fate=fate)
    typed = prompt.typed or prompt.text
    return msgspec.structs.replace(prompt, text=line.text, typed=typed, fate=fate)


def _find_in_queues(store: Store) -> Iterator[Prompt]:
    """Yield what the queues of sessions held that died; those of live ones are theirs to answer."""
    lives = records.lives(store.project.state_folder, store.project)
    dead = [life for life in lives if life.pid and not processes.is_alive(life.pid, life.pid_began)]
    live = {life.session_id for life in lives} - {life.session_id for life in dead}
    for life in dead:
        at = datetime.fromtimestamp(life.seen_at, UTC)
        texts = _read_queue(records.load(store, life.agent, life.session_id)) or []
        yield from _build_prompts(texts, at=at, agent=life.agent, session_id=life.session_id)
    for entry in store.index().heads([*LISTED], _HEADS):
        if entry.name is None and entry.session_id not in live and not entry.problem:
            yield from _find_in_checkpoint(store, entry)


def _find_in_checkpoint(store: Store, entry: CheckpointEntry) -> Iterator[Prompt]:
    try:
        checkpoint = store.load(entry)
    except (LeftoffError, OSError):
        return
    texts = checkpoint.pending_prompts
    agent, session_id = entry.agent or "", entry.session_id or entry.id
    if texts:
        # The session may have gone on after it was saved, and its record tells.
        record = records.load(store, agent, session_id)
        queued = _read_queue(record)
        still = {_words(text) for text in [*(queued or []), record.turn.asked]}
        texts = [text for text in texts if queued is None or _words(text) in still]
    # What was imported from a file is no session's, whatever agent the file names.
    agent = "" if checkpoint.source is not None else agent
    yield from _build_prompts(texts, at=entry.saved_at, agent=agent, session_id=session_id)


class _Queued(msgspec.Struct, frozen=True):
    text: str


class _QueueState(msgspec.Struct, frozen=True):
    queued: list[_Queued] = []


class _Memory(msgspec.Struct, frozen=True):
    """The part of a session's memory that counts here; the whole of it needs all readers."""

    state: _QueueState


_memory_decoder: msgspec.json.Decoder[_Memory | None] = msgspec.json.Decoder(_Memory | None)


def _read_queue(record: records.SessionRecord) -> list[str] | None:
    """Return what the agent's queue held when the session was last read; None if it never was."""
    try:
        memory = _memory_decoder.decode(record.memory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return [queued.text for queued in memory.state.queued] if memory is not None else None


def _build_prompts(
    texts: Sequence[str], *, at: datetime, agent: str, session_id: str
) -> Iterator[Prompt]:
    for text in texts:
        # The same one gets the same id each time, so that what is done about it counts.
        digest = hashlib.blake2b(f"{session_id}\n{_words(text)}".encode(), digest_size=6)
        prompt_id = f"queue-{digest.hexdigest()}"
        yield Prompt(id=prompt_id, at=at, text=text, agent=agent, session_id=session_id)


def _without_secrets(text: str) -> str:
    # Looking at the queue needs no rules for secrets, and they take longer to load than the rest.
    return redact.redact(text)


def _words(text: str) -> str:
    return text.strip()[:_TELLING_CHARS].rstrip()


def _from_line(line: PromptLogLine) -> Prompt:
    return Prompt(
        id=line.prompt,
        at=line.at,
        text=line.text,
        agent=line.agent,
        session_id=line.session_id,
        told_at=line.told_at,
        tag=line.tag,
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
        told_at=prompt.told_at,
        tag=prompt.tag,
        seal=prompt.seal,
    )
    _append(store, line)


def _append(store: Store, line: PromptLogLine) -> None:
    store.append_line("prompts", msgspec.json.encode(line))
