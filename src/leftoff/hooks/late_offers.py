"""Offer with a later prompt what was not ready at session start.

A session start that waits for a recovery writes a file. The recovery removes that file when it is
done. If the start gives up first, it renames the file, and so the recovery finds out that it has to
prepare a reply to the next prompt. The name decides: exactly one of the two says what was found.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from leftoff import config
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.errors import StoreRefused
from leftoff.hooks import offers, replies
from leftoff.hooks.offers import StartReply
from leftoff.session import records
from leftoff.store import Store, disk
from leftoff.text.fence import Rendered, say
from leftoff.text.plural import format_count

_WAITING = ".waiting"


class Owed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The sessions whose work a session start could not offer."""

    agent: str
    session_id: str
    cwd: str
    at: float
    sessions: list[str]
    is_ready: bool = False
    """Whether the reply to the next prompt offers it."""


_decoder = msgspec.json.Decoder(Owed)


def expect(state: Path, event: HookEvent, sessions: Sequence[str]) -> None:
    """Note which sessions a session start waits for."""
    path = replies.owed_path(state, event.agent, event.session_id)
    disk.ensure_folder(path.parent)
    owed = Owed(
        agent=event.agent,
        session_id=event.session_id,
        cwd=event.cwd,
        at=event.at,
        sessions=[*sessions],
    )
    _write(path.with_name(path.name + _WAITING), owed)


def give_up(state: Path, event: HookEvent) -> bool:
    """Leave the offer to a later prompt; return False if the recovery is done."""
    path = replies.owed_path(state, event.agent, event.session_id)
    try:
        path.with_name(path.name + _WAITING).rename(path)
    except OSError:
        return False
    return True


def finish(store: Store, agent: str, session_id: str, found: Sequence[str]) -> None:
    """End a recovery: prepare the late offer if the session start has given up waiting.

    `found` are recovered sessions that the session start did not know. The caller has locked the
    session that started.
    """
    state = store.project.state_folder
    path = replies.owed_path(state, agent, session_id)
    try:
        path.with_name(path.name + _WAITING).unlink()
    except FileNotFoundError:
        owed, life = read(state, agent, session_id), records.life_of(state, agent, session_id)
        if owed is not None:
            owed = msgspec.structs.replace(owed, sessions=[*owed.sessions, *found])
            made = prepare(store, config.load(store.project).settings, owed)
            if made.offered and life is not None:
                records.keep_life(state, msgspec.structs.replace(life, offered=made.offered))


def prepare(store: Store, settings: config.Settings, owed: Owed) -> StartReply:
    """Write the reply to the next prompt, once all sessions are recovered."""
    state = store.project.state_folder
    made = build(store, settings, owed)
    place = replies.path_of(state, owed.cwd, owed.agent, "UserPromptSubmit", owed.session_id)
    # A reply that is there already will be written again, with the offer, by the next settle.
    if made.text and not place.exists():
        reply = DIALECTS[owed.agent].context_reply(
            "UserPromptSubmit", made.text, notice=made.notice
        )
        replies.put(place, reply)
        mark_ready(state, owed)
    return made


def build(store: Store, settings: config.Settings, owed: Owed) -> StartReply:
    """Return the late offer; empty while a session is not recovered, or if none left work."""
    state = store.project.state_folder
    lives = {life.session_id for life in records.list_lives(state, store.project)}
    if lives.intersection(owed.sessions):
        return StartReply()
    event = HookEvent(
        agent=owed.agent,
        kind="session-start",
        session_id=owed.session_id,
        cwd=owed.cwd,
        at=owed.at,
    )
    made = offers.offer_recovered(event, store, settings, owed.sessions)
    if not made.text:
        forget(state, owed.agent, owed.session_id)
    return made


def mark_ready(state: Path, owed: Owed) -> None:
    """Note that the reply to the next prompt holds the offer."""
    path = replies.owed_path(state, owed.agent, owed.session_id)
    _write(path, msgspec.structs.replace(owed, is_ready=True))


def read(state: Path, agent: str, session_id: str) -> Owed | None:
    """Return what is owed to a session; None if nothing is."""
    try:
        return _decoder.decode(disk.read(replies.owed_path(state, agent, session_id))[0])
    except (OSError, StoreRefused, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def forget(state: Path, agent: str, session_id: str) -> None:
    """Note that nothing is owed to a session any more."""
    with contextlib.suppress(OSError):
        os.unlink(replies.owed_path(state, agent, session_id))  # noqa: PTH108 - it may be gone


def announce(count: int) -> Rendered:
    """Say that some sessions are still being read; 0 if it is not known how many."""
    return say(
        "leftoff: still reading {what} that ended here. If work was left off there, it follows "
        "with your next prompt.",
        what=format_count(count, "session") if count else "sessions",
    )


def _write(path: Path, owed: Owed) -> None:
    disk.replace(path, msgspec.json.encode(owed), temps=path.parent, durable=False)
