"""The banner of a mirrored system: what its files say waits for this session or another."""

import msgspec

from leftoff import config, fence, git, mirroring
from leftoff.dialects.base import HookEvent
from leftoff.hooks.offers import Told
from leftoff.store import Store


def added(told: Told, event: HookEvent, store: Store, settings: config.Settings) -> Told:
    """Put the one checkpoint that waits, this session's own or the newest, before what is told."""
    waiting = mirroring.waiting(store, settings.mirror)
    if not waiting:
        return told
    own = [each for each in waiting if each.session_id == event.session_id]
    first = (own or waiting)[0]
    whose = (
        "session-id match: current-session"
        if own
        else f"mismatch-warning: it was left for session {first.session_id}"
    )
    path = " ".join(git.printable(str(first.path)).split("\n"))
    line = fence.disarm(
        f"Pending restore detected. `leftoff restore` is recommended (checkpoint: {path} — {whose})"
    )
    return msgspec.structs.replace(
        told,
        text=f"{line}\n{told.text}" if told.text else line,
        notice=f"{line} {told.notice}" if told.notice else line,
    )
