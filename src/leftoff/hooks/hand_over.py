"""Give a thread to the next session of an agent, which the user starts with `resume --in`.

The user has accepted the thread by then. So the start of that session is answered with the whole
briefing instead of an offer, and the session joins the thread at once.
"""

import contextlib
import time
from pathlib import Path

import msgspec

from leftoff.agents.hook_events import HookEvent
from leftoff.config import Settings
from leftoff.hooks.offers import StartReply
from leftoff.store import BY_HAND_OVER, CheckpointEntry, Store, disk, plain_name
from leftoff.text.fence import Rendered, join, say
from leftoff.threads import briefing, check_claims, recovery_briefing

INTRODUCTION = say("leftoff: the user handed this work over to this session. Continue it.")
"""What a session reads before the briefing of the work that it gets."""

# The agent starts at once. A mark that no session took must not surprise one tomorrow.
_VALID_SECONDS = 600.0


class HandOver(msgspec.Struct, frozen=True, kw_only=True):
    """The thread that waits for the next session of an agent in a folder."""

    thread: str
    at: float


_decoder = msgspec.json.Decoder(HandOver)


def find_mark(state: Path, worktree: Path, agent: str) -> Path:
    """Return the file that names the thread for the next session of an agent in a worktree."""
    return state / "handed" / agent / plain_name(str(worktree))


def expect(store: Store, folder: Path, agent: str, entry: CheckpointEntry) -> None:
    """Leave a thread for the next session of an agent in a folder."""
    path = find_mark(store.project.state_folder, folder, agent)
    mark = HandOver(thread=entry.slot, at=time.time())
    disk.ensure_folder(path.parent)
    disk.replace(path, msgspec.json.encode(mark), temps=path.parent, durable=False)


def take(event: HookEvent, store: Store, settings: Settings) -> StartReply | None:
    """Join the thread that waits for this session; None if there is none, or no longer."""
    path = find_mark(store.project.state_folder, store.project.worktree, event.agent)
    try:
        mark = _decoder.decode(path.read_bytes())
        # Of two sessions that start at once, one removes the mark.
        path.unlink()
        with contextlib.suppress(OSError):
            # Without marks, session starts need not look for one.
            path.parent.rmdir()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    entry = store.index().head(mark.thread)
    is_old = not 0 <= event.at - mark.at < _VALID_SECONDS
    if entry is None or is_old or not entry.is_open:
        return None
    return _build_reply(event, store, settings, entry)


def _build_reply(
    event: HookEvent, store: Store, settings: Settings, entry: CheckpointEntry
) -> StartReply:
    budget = min(settings.budget, briefing.MOST_TOKENS[event.agent])
    text = join([INTRODUCTION, _render(store, settings, entry, budget)])
    store.record(
        "consumed" if settings.on_resume == "consume" else "resumed",
        [entry.id],
        session=(event.agent, event.session_id),
        trigger=BY_HAND_OVER,
    )
    notice = say('leftoff: this session continues "{name:60}".', name=entry.name or entry.id)
    return StartReply(text, notice, entry.slot)


def _render(store: Store, settings: Settings, entry: CheckpointEntry, budget: int) -> Rendered:
    """Render the briefing as `leftoff resume NAME` does with the profile in use."""
    is_openclaw = settings.profile == "openclaw"
    if is_openclaw and entry.is_autosave:
        entry = store.index().find_purposeful(entry.slot) or entry
    checkpoint = store.load(entry)
    checks = check_claims.check_stored(checkpoint, store)
    if not is_openclaw:
        return briefing.render(checkpoint, checks, budget=budget)
    newer = recovery_briefing.find_newer(store, checkpoint)
    return recovery_briefing.render(checkpoint, checks, newer=newer, budget=budget)
