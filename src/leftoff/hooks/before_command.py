"""Take a snapshot before a shell command that can destroy uncommitted code.

The letterbox starts this if a word of the command is risky, and the agent waits. Most such commands
turn out to be harmless, so only what reads a command is loaded first. There is a time limit:
without a snapshot by then, the command goes on, and the next reply says so. It never fails.

Run as `python -I -m leftoff.hooks.before_command AGENT EVENT`, with the event on standard input.
"""

import os
import signal
import sys
import time

from leftoff import hooks
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import decode
from leftoff.errors import LeftoffError
from leftoff.hooks.risky_commands import assess

# The agent ends a hook after five seconds.
SECONDS = 4.0


class _TooLateError(LeftoffError):
    """The snapshot took too long."""


def protect(agent: str, event: str, data: bytes) -> None:
    """Take a snapshot of every worktree that a command can harm; note it if that fails."""
    deadline = time.monotonic() + SECONDS
    read = DIALECTS[agent].translate(event, decode(data), at=time.time())
    risk = assess(read.command, read.cwd) if read is not None and read.command else None
    if read is not None and risk is not None:
        hooks.protect_code.protect_worktrees(read, risk, deadline=deadline)


def main(agent: str, event: str) -> None:
    """Protect what a command can destroy, within the time limit."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        protect(agent, event, sys.stdin.buffer.read())
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor reports it
        hooks.protect_code.note_failure(error)


def _give_up(_signal: int, _frame: object) -> None:
    raise _TooLateError(f"The snapshot did not finish within {SECONDS:.0f} seconds.")


if __name__ == "__main__":
    main(*sys.argv[1:3])
    # A git that is still running must not keep the agent waiting.
    os._exit(0)
