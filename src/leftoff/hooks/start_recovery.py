"""At session start, bring this project's dead and ended sessions up to date, within a time budget.

That happens in another process, because a transcript may be huge, or made to be slow to read. If it
takes too long, that process continues in the background and prepares a reply to the next prompt,
which says what the session start could not say.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from leftoff import processes
from leftoff.agents.hook_events import HookEvent, decode
from leftoff.errors import LeftoffError
from leftoff.hooks import late_offers, lease, settle, trouble
from leftoff.processes import copy_for_child
from leftoff.text.fence import Rendered, say

CPU_SECONDS = 2.0
"""The CPU time that a session start waits for."""
WALL_SECONDS = 8.0
"""The longest wait: on a busy machine, even little CPU time takes long."""
SETTLE_SECONDS = 2.0
"""How long a session start lets settle process a few events before it helps."""
DEAD, ENDED, LOST = "--dead=", "--ended=", "--lost"
"""Options: recover a session; only process its events; recover sessions that no hook recorded."""
_PAUSE_SECONDS = 0.01
# Processing this many events takes longer than a session start may wait.
_BACKLOG = 200


class Neighbours(msgspec.Struct, frozen=True, kw_only=True):
    """The other sessions of a project, when a session starts there."""

    dead: Sequence[str] = ()
    """Sessions whose process is gone: they are recovered."""
    running: Sequence[str] = ()
    """Other sessions that have not ended: their end may be waiting in the spool."""
    has_lost: bool = False
    """Whether there may be sessions that no hook recorded."""

    @property
    def has_died(self) -> bool:
        """Whether there is something to recover."""
        return bool(self.dead) or self.has_lost


def catch_up(event: HookEvent, state: Path, others: Neighbours) -> Rendered:
    """Process what concerns the start of a session; return a sentence if that takes too long.

    Dead sessions are recovered together with their waiting events. All events that do not concern
    this start are left to settle.
    """
    names = settle.list_waiting(state)
    waiting = _find_waiting(state, names, event, others)
    is_long = len(waiting) > _BACKLOG
    if waiting and not (is_long or others.has_died):
        if settle.await_events(state, waiting, wait_seconds=SETTLE_SECONDS):
            return say("")
    elif names:
        settle.wake(state)
    sessions = [*dict.fromkeys([*others.dead, *waiting.values()])]
    if not (sessions or others.has_lost):
        return say("")
    return _run_apart(event, state, sessions, others, is_long=is_long)


def _find_waiting(
    state: Path, names: Sequence[str], event: HookEvent, others: Neighbours
) -> dict[str, str]:
    """Return the new events that concern the start of a session, by name, with their session."""
    reads, running = len(names) <= _BACKLOG, {*others.running}
    concerned, found = {*others.dead, event.session_id}, list[tuple[str, str]]()
    for name in names:
        # AGENT.EVENT.PID.NUMBER.SESSION; few hooks do not know their session.
        parts = name.split(".", 4)
        session = parts[4] if len(parts) > 4 else _read_session(state, name) if reads else ""
        if not session or lease.TRIED in name:
            continue
        found.append((name, session))
        if parts[1] == "SessionEnd" and (session in running or len(parts) == 4):
            concerned.add(session)
    return {name: session for name, session in found if session in concerned}


def _read_session(state: Path, name: str) -> str:
    """Return the session that an event names in its content; empty if it cannot be read."""
    try:
        payload = decode((state / "spool" / name).read_bytes())
    except (OSError, msgspec.DecodeError):
        return ""
    session = payload.get("session_id") if isinstance(payload, dict) else None
    return session if isinstance(session, str) else ""


def _run_apart(
    event: HookEvent, state: Path, sessions: Sequence[str], others: Neighbours, *, is_long: bool
) -> Rendered:
    """Process these sessions in another process; return a sentence if that takes too long."""
    owed = [each for each in sessions if each != event.session_id]
    try:
        if owed or others.has_lost:
            late_offers.expect(state, event, owed)
        child = _start(event, sessions, others)
    except (LeftoffError, OSError, ValueError) as error:
        trouble.note(state, "recovering crashed sessions", error)
        return say("")
    if not is_long:
        _wait(child)
    is_late = late_offers.give_up(state, event)
    return late_offers.announce(len(owed)) if is_late else say("")


def _start(event: HookEvent, sessions: Sequence[str], others: Neighbours) -> int:
    words = [sys.executable, "-I", "-m", "leftoff.hooks.recover_crashed"]
    words += [event.cwd, event.agent, event.session_id, *([LOST] if others.has_lost else [])]
    words += [f"{DEAD if each in others.dead else ENDED}{each}" for each in sessions]
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    return os.posix_spawn(sys.executable, words, copy_for_child(), file_actions=silent)


def _wait(child: int) -> None:
    """Wait until a process ends or has used up its time."""
    deadline = time.monotonic() + WALL_SECONDS
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline or processes.cpu_seconds(child) > CPU_SECONDS:
            return
        time.sleep(_PAUSE_SECONDS)
