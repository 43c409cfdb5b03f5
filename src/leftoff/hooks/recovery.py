"""Recovery: what a session is told that was just compacted.

First its own state; then, in this order, what was last said word for word, the working notes, and
the notes of today and yesterday that lie beside them. Whatever does not fit is left out, the last
first.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec

from leftoff import briefing, config, fence, records, restore, sessionstate
from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent
from leftoff.hooks import offers
from leftoff.store import Entry, Store
from leftoff.wal.place import place

_LAST_SAID = 5
_SAID_CHARS = 2_000
_STATE_CHARS = 2_000
_DAY_CHARS = 1_000
_TASK_CHARS = 120
# What a reply has besides its text.
_FRAME_CHARS = 500
_FEWEST_TOKENS = 400
_HEAD_BYTES = 256 * 1024
# A message that begins with it, or a long one; a page may have a short one, too.
_SUMMARY = re.compile(
    rb'"(?:content|text)":\s*"(?:\s|\\n)*<summary>|<summary>(?:(?!</summary>).){80,}</summary>',
    re.DOTALL,
)


def is_summed_up(transcript: Path) -> bool:
    """Say whether a session begins with a summary of another: some programs compact so."""
    with transcript.open("rb") as file:
        return _SUMMARY.search(file.read(_HEAD_BYTES)) is not None


def told(event: HookEvent, store: Store, settings: config.Settings) -> str:
    """Tell a session where it stood before; empty if nobody knows."""
    entry = _entry(event, store)
    sources = [*_sources(event, store, settings)]
    if entry is None and not sources:
        return ""
    most = DIALECTS[event.agent].REPLY_LIMIT - _FRAME_CHARS
    budget = settings.budget
    while True:
        text = "".join([_state(entry, event, store, budget), *sources])
        text += _closing(entry, store, settings)
        if len(msgspec.json.encode(text).decode()) <= most or (not sources and not budget):
            return text
        # The agent would cut it in the middle of a line; the briefing drops what matters least.
        if sources and budget <= _FEWEST_TOKENS:
            sources.pop()
        else:
            budget = budget * 3 // 4


def _entry(event: HookEvent, store: Store) -> Entry | None:
    """Find the session's own newest checkpoint, or else the newest autosave of this worktree."""
    own = store.index().newest_of_session(event.session_id)
    if own is not None:
        return own
    found = store.index().autosave()
    if found is None or not restore.is_here(found.worktree, found.branch, store.project):
        return None
    return found


def _state(entry: Entry | None, event: HookEvent, store: Store, budget: int) -> str:
    before = "leftoff: this session was compacted."
    if entry is None:
        return f"{before} No checkpoint of it is known; recovered from what was noted:\n"
    checkpoint = store.load(entry)
    checks = restore.check(checkpoint, store.project, store.now())
    where = "Where it stood before"
    if entry.session_id != event.session_id:
        key = entry.name or entry.id
        where = (
            f"The newest autosave here is from {offers.age(entry, store)}; "
            f"`leftoff resume {key} --accept` takes it up"
        )
    return f"{before} {where}:\n{briefing.render(checkpoint, checks, budget=budget)}"


def _closing(entry: Entry | None, store: Store, settings: config.Settings) -> str:
    """Name the last task; where the user confirms everything, that too."""
    if settings.confirm != "always":
        return ""
    noted = sessionstate.read(place(store.project, settings)).get("summary")
    task = noted or (entry.task if entry else None) or "not known"
    shown = fence.disarm(" ".join(str(task).split())[:_TASK_CHARS])
    return f"Tell the user: Last task was {shown}. Continue? Do nothing of it before they answer.\n"


def _sources(event: HookEvent, store: Store, settings: config.Settings) -> Iterator[str]:
    """Yield what was written down before the compaction, in the order of recovery."""
    notes = place(store.project, settings)
    said = _said(event, store) or _tail(notes.parent / "memory" / "working-buffer.md")
    if said:
        yield _fenced("The user's last requests, word for word", said[-_SAID_CHARS:])
    state = sessionstate.text_of(notes)
    if not sessionstate.is_empty(state):
        yield _fenced(f"Working notes ({notes.name})", state.strip()[:_STATE_CHARS])
    today = store.now().astimezone()
    for day in (today, today - timedelta(days=1)):
        name = f"{day:%Y-%m-%d}.md"
        if text := _tail(notes.parent / "memory" / name):
            yield _fenced(f"Notes of {name}", text[-_DAY_CHARS:])


def _said(event: HookEvent, store: Store) -> str:
    """Return what was last said while the context filled up: a summary loses the wording."""
    record = records.load(store, event.agent, event.session_id)
    return "\n".join(f"- {each.asked}" for each in record.buffer[-_LAST_SAID:])


def _tail(path: Path) -> str:
    return sessionstate.text_of(path).strip()


def _fenced(title: str, text: str) -> str:
    return fence.fenced(f"{title}:\n{fence.disarm(text)}")
