"""Give a session its own state back after a compaction.

The reply starts with the session's checkpoint. Then come the last requests word for word, the
working notes, and the notes of today and yesterday beside them. What does not fit is left out,
from the end on.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec

from leftoff import config
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import Checkpoint
from leftoff.hooks import offers
from leftoff.session import records, state_file
from leftoff.store import CheckpointEntry, Store
from leftoff.text import fence
from leftoff.text.budget import measure_width
from leftoff.text.fence import Rendered, block, join, quote_key, say
from leftoff.threads import briefing, check_claims
from leftoff.threads.check_claims import Checks
from leftoff.wal.notes_place import place

_LAST_SAID = 5
_SAID_CHARS = 2_000
_STATE_CHARS = 2_000
_DAY_CHARS = 1_000
# The JSON around the text of a reply.
_FRAME_CHARS = 500
_FEWEST_TOKENS = 400
_BEGINS_WITH_SUMMARY = re.compile(rb'"(?:content|text)":\s*"(?:\s|\\n)*<summary>')
# Web pages can contain a short <summary> of their own.
_SUMMARY_BYTES = 80


class _LastState(msgspec.Struct, frozen=True):
    """The last checkpoint, the line above it, and what changed since."""

    before: Rendered
    checkpoint: Checkpoint | None = None
    checks: Checks | None = None

    def render(self, budget: int, width: int) -> Rendered:
        """Render it within this many tokens and JSON characters; drop what matters least."""
        if self.checkpoint is None:
            return self.before
        width -= measure_width(f"{self.before}\n")
        text = briefing.render(self.checkpoint, self.checks, budget=budget, width=width)
        return join([self.before, text])


def is_summed_up(head: bytes) -> bool:
    """Return whether a transcript starts with a summary of another, as some agents compact."""
    if _BEGINS_WITH_SUMMARY.search(head):
        return True
    # One regular expression for both tags would take minutes on a page full of opening tags.
    parts = (part.partition(b"<summary>") for part in head.split(b"</summary>")[:-1])
    return any(len(inside) >= _SUMMARY_BYTES for _, _, inside in parts)


def format_recovery(
    event: HookEvent, store: Store, settings: config.Settings, *, is_certain: bool = True
) -> Rendered:
    """Return what the session was doing before the compaction; empty if nothing is known.

    Agents also give up a compaction that they have announced, so it may not be certain.
    """
    entry = _find_entry(event, store)
    sources = [*_list_sources(event, store, settings)]
    if entry is None and not sources:
        return say("")
    started = say("leftoff: a compaction of this session was started.")
    before = say("leftoff: this session was compacted.") if is_certain else started
    state = _find_state(entry, event, store, before, settings)
    closing = _ask_to_confirm(entry, store, settings)
    # The agent would cut a longer reply in the middle of a line.
    most = DIALECTS[event.agent].REPLY_LIMIT - _FRAME_CHARS
    text = join([state.render(settings.budget, most), *sources, closing])
    return (
        text
        if measure_width(text) <= most
        else _shorten(state, sources, closing, budget=settings.budget, most=most)
    )


def _shorten(
    state: _LastState, sources: list[Rendered], closing: Rendered, *, budget: int, most: int
) -> Rendered:
    """Shorten the state, and drop sources from the last one on, until the reply fits."""
    least = state.render(min(budget, _FEWEST_TOKENS), most)
    while sources and measure_width(join([least, *sources, closing])) > most:
        sources.pop()
    rest = join([*sources, closing])
    room = most - measure_width(f"\n{rest}")
    return join([state.render(budget, room), rest])


def _find_entry(event: HookEvent, store: Store) -> CheckpointEntry | None:
    """Find the session's newest checkpoint, or the newest autosave of this worktree."""
    own = store.index().newest_of_session(event.session_id)
    if own is not None:
        return own
    found = store.index().autosave()
    if found is None or not check_claims.is_here(found.worktree, found.branch, store.project):
        return None
    return found


def _find_state(
    entry: CheckpointEntry | None,
    event: HookEvent,
    store: Store,
    before: Rendered,
    settings: config.Settings,
) -> _LastState:
    if entry is None:
        unknown = "{before} No checkpoint of it is known. Recovered from its notes:"
        return _LastState(say(unknown, before=before))
    checkpoint = store.load(entry)
    checks = check_claims.check_stored(checkpoint, store)
    where = say("Its state before that")
    if entry.session_id != event.session_id:
        where = say(
            "The newest autosave here is from {age}; "
            "run `leftoff resume {key:200} --accept` to resume it",
            age=offers.age(entry, store),
            # Where every name is the user's, the work goes by the system's own word.
            key="autosave" if settings.naming == "required" else quote_key(entry.name, entry.id),
        )
    return _LastState(say("{before} {where}:", before=before, where=where), checkpoint, checks)


def _ask_to_confirm(
    entry: CheckpointEntry | None, store: Store, settings: config.Settings
) -> Rendered:
    """Ask the user to confirm the last task, if the settings require that."""
    if settings.confirm != "always":
        return say("")
    notes = place(store.project, settings)
    noted = state_file.read(notes).get("summary")
    source = say(" (from {file})", file=notes.name) if noted else say("")
    return say(
        "Ask the user{source}: Last task was {task:120}. Continue? "
        "Do not act on it until they answer.",
        source=source,
        task=noted or (entry.task if entry else None) or "not known",
    )


def _list_sources(event: HookEvent, store: Store, settings: config.Settings) -> Iterator[Rendered]:
    """Yield what was written before the compaction, the most useful first."""
    notes = place(store.project, settings)
    buffer = notes.parent / "memory" / "working-buffer.md"
    if said := _quote_requests(event, store):
        yield said
    elif text := _read_notes(buffer):
        yield _quote_file(buffer, text[-_SAID_CHARS:])
    state = state_file.text_of(notes)
    if not state_file.is_empty(state):
        yield _quote_file(notes, state.strip()[:_STATE_CHARS])
    today = store.now().astimezone()
    for day in (today, today - timedelta(days=1)):
        daily = notes.parent / "memory" / f"{day:%Y-%m-%d}.md"
        if text := _read_notes(daily):
            yield _quote_file(daily, text[-_DAY_CHARS:])


def _quote_requests(event: HookEvent, store: Store) -> Rendered:
    """Return the user's last requests, because the agent's summary loses the wording."""
    record = records.load(store, event.agent, event.session_id)
    if not records.is_sealed(
        store.project.state_folder, event.agent, event.session_id, record.seal
    ):
        # The record came with the store, so anyone may have written it.
        return say("")
    asked, room = [], _SAID_CHARS
    for each in reversed(record.buffer[-_LAST_SAID:]):
        if room > 0:
            asked.append(say("- {text:lines}", text=each.asked[-room:]))
            room -= len(each.asked)
    if not asked:
        return say("")
    return fence.enclose_text(
        join([say("The user's last requests, word for word:"), *reversed(asked)])
    )


def _read_notes(path: Path) -> str:
    return state_file.text_of(path).strip()


def _quote_file(path: Path, text: str) -> Rendered:
    """Quote a file under its path: anyone may have written it, so it is not the user's word."""
    return fence.enclose_text(join([say("From the file {path:300}:", path=path), block(text)]))
