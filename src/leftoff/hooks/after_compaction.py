"""Recovery: what a session is told that was just compacted.

First its own state; then, in this order, what was last said word for word, the working notes, and
the notes of today and yesterday that lie beside them. Whatever does not fit is left out, the last
first.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from shlex import quote

import msgspec

from leftoff import config
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import Checkpoint
from leftoff.hooks import offers
from leftoff.session import records, seals, state_file
from leftoff.store import CheckpointEntry, Store
from leftoff.text import fence
from leftoff.text.budget import measure_width
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads import briefing, check_claims
from leftoff.threads.check_claims import Checks
from leftoff.wal.notes_place import place

_LAST_SAID = 5
_SAID_CHARS = 2_000
_STATE_CHARS = 2_000
_DAY_CHARS = 1_000
# What a reply has besides its text.
_FRAME_CHARS = 500
_FEWEST_TOKENS = 400
_HEAD_BYTES = 256 * 1024
_BEGINS_WITH_SUMMARY = re.compile(rb'"(?:content|text)":\s*"(?:\s|\\n)*<summary>')
# A page may have a short one, too.
_SUMMARY_BYTES = 80


class _LastState(msgspec.Struct, frozen=True):
    """Where the session stood, as its checkpoint tells it."""

    before: Rendered
    checkpoint: Checkpoint | None = None
    checks: Checks | None = None

    def render(self, budget: int, width: int) -> Rendered:
        """Tell it in so many tokens and, as a JSON string, characters; what matters least goes."""
        if self.checkpoint is None:
            return self.before
        width -= measure_width(f"{self.before}\n")
        text = briefing.render(self.checkpoint, self.checks, budget=budget, width=width)
        return join([self.before, text])


def is_summed_up(transcript: Path) -> bool:
    """Say whether a session begins with a summary of another: some programs compact so."""
    with transcript.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if _BEGINS_WITH_SUMMARY.search(head):
        return True
    # Not by one expression: a page full of opening marks would take it minutes.
    parts = (part.partition(b"<summary>") for part in head.split(b"</summary>")[:-1])
    return any(len(inside) >= _SUMMARY_BYTES for _, _, inside in parts)


def format_recovery(event: HookEvent, store: Store, settings: config.Settings) -> Rendered:
    """Tell a session where it stood before; empty if nobody knows."""
    entry = _entry(event, store)
    sources = [*_sources(event, store, settings)]
    if entry is None and not sources:
        return say("")
    state = _find_state(entry, event, store)
    closing = _closing(entry, store, settings)
    # What is longer the agent would cut in the middle of a line.
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
    """Leave out of the state what matters least, and then the last sources."""
    least = state.render(min(budget, _FEWEST_TOKENS), most)
    while sources and measure_width(join([least, *sources, closing])) > most:
        sources.pop()
    rest = join([*sources, closing])
    room = most - measure_width(f"\n{rest}")
    return join([state.render(budget, room), rest])


def _entry(event: HookEvent, store: Store) -> CheckpointEntry | None:
    """Find the session's own newest checkpoint, or else the newest autosave of this worktree."""
    own = store.index().newest_of_session(event.session_id)
    if own is not None:
        return own
    found = store.index().autosave()
    if found is None or not check_claims.is_here(found.worktree, found.branch, store.project):
        return None
    return found


def _find_state(entry: CheckpointEntry | None, event: HookEvent, store: Store) -> _LastState:
    before = say("leftoff: this session was compacted.")
    if entry is None:
        unknown = "{before} No checkpoint of it is known; recovered from what was noted:"
        return _LastState(say(unknown, before=before))
    checkpoint = store.load(entry)
    checks = check_claims.check(checkpoint, store.project, store.now())
    where = say("Where it stood before")
    if entry.session_id != event.session_id:
        where = say(
            "The newest autosave here is from {age}; "
            "`leftoff resume {key:200} --accept` takes it up",
            age=offers.age(entry, store),
            key=quote(entry.name or entry.id),
        )
    return _LastState(say("{before} {where}:", before=before, where=where), checkpoint, checks)


def _closing(entry: CheckpointEntry | None, store: Store, settings: config.Settings) -> Rendered:
    """Name the last task; where the user confirms everything, that too."""
    if settings.confirm != "always":
        return say("")
    notes = place(store.project, settings)
    noted = state_file.read(notes).get("summary")
    source = say(" what {file} notes", file=notes.name) if noted else say("")
    return say(
        "Tell the user{source}: Last task was {task:120}. Continue? "
        "Do nothing of it before they answer.",
        source=source,
        task=noted or (entry.task if entry else None) or "not known",
    )


def _sources(event: HookEvent, store: Store, settings: config.Settings) -> Iterator[Rendered]:
    """Yield what was written down before the compaction, in the order of recovery."""
    notes = place(store.project, settings)
    buffer = notes.parent / "memory" / "working-buffer.md"
    if said := _quote_requests(event, store):
        yield said
    elif text := _tail(buffer):
        yield _quote_file(buffer, text[-_SAID_CHARS:])
    state = state_file.text_of(notes)
    if not state_file.is_empty(state):
        yield _quote_file(notes, state.strip()[:_STATE_CHARS])
    today = store.now().astimezone()
    for day in (today, today - timedelta(days=1)):
        daily = notes.parent / "memory" / f"{day:%Y-%m-%d}.md"
        if text := _tail(daily):
            yield _quote_file(daily, text[-_DAY_CHARS:])


def _quote_requests(event: HookEvent, store: Store) -> Rendered:
    """Return what the user last said while the context filled up: a summary loses the wording."""
    record = records.load(store, event.agent, event.session_id)
    if not seals.is_sealed(store.project.state_folder, event.agent, event.session_id, record.seal):
        # The record came with the store, and anyone may have written it.
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


def _tail(path: Path) -> str:
    return state_file.text_of(path).strip()


def _quote_file(path: Path, text: str) -> Rendered:
    """Quote a file under its path: anyone may have written it, so it never counts as the user."""
    return fence.enclose_text(join([say("From the file {path:300}:", path=path), block(text)]))
