"""Remember which commands of a session could destroy code, and the snapshots taken before them.

One small file for each session. An agent waits while it is written, so this loads little.
"""

import contextlib
from pathlib import Path

import msgspec

from leftoff.agents.hook_events import HookEvent
from leftoff.errors import StoreRefused
from leftoff.hooks import replies
from leftoff.store import disk

_MOST = 20


class Watched(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command that could destroy code, and the snapshot that was taken before it."""

    command: str
    at: float
    worktree: str
    snapshot: str = ""
    """Empty if none could be taken."""
    is_broad: bool = True
    is_ready: bool = False
    """Whether the next reply says what happened."""


_decoder = msgspec.json.Decoder(list[Watched])


def watch(state: Path, event: HookEvent, watched: Watched, snapshot: str = "") -> None:
    """Note a command before it runs, unless it can only destroy what it names."""
    if snapshot and not watched.is_broad:
        return
    noted = msgspec.structs.replace(watched, snapshot=snapshot)
    known = read(state, event)
    write(state, event, [*known, noted][-_MOST:])


def read(state: Path, event: HookEvent) -> list[Watched]:
    """Return the commands of a session that were noted."""
    path = replies.watched_path(state, event.agent, event.session_id)
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return []


def write(state: Path, event: HookEvent, watched: list[Watched]) -> None:
    """Replace what is noted of a session."""
    path = replies.watched_path(state, event.agent, event.session_id)
    with contextlib.suppress(OSError, StoreRefused):
        if watched:
            disk.ensure_folder(path.parent)
            disk.replace(path, msgspec.json.encode(watched), temps=path.parent, durable=False)
        else:
            path.unlink(missing_ok=True)
