"""Recovering: crashed sessions are saved by a process of its own, so that no start waits for long.

A transcript may be huge, or made to be slow to read. The process goes on behind the session start;
the kernel ends it when a session takes too much.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from leftoff import processes
from leftoff.environment import copy_for_child

CPU_SECONDS = 2.0
"""How much work a session start waits for."""
WALL_SECONDS = 8.0
"""How long it waits at most: on a busy machine, little work takes long."""
LOST = "--lost"
"""Asks to look for sessions of which nothing was noted."""
_PAUSE_SECONDS = 0.01


def run(folder: Path, sessions: Sequence[str], *, has_lost: bool, besides: str) -> None:
    """Recover these sessions of a project; return when it is done or takes too long.

    `besides` is the session that starts, which nobody takes for a lost one.
    """
    words = [
        sys.executable,
        "-I",
        "-m",
        "leftoff.hooks.recover_crashed",
        os.fspath(folder),
        besides,
    ]
    words += [LOST] * has_lost + ["--", *sessions]
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    child = os.posix_spawn(sys.executable, words, copy_for_child(), file_actions=silent)
    deadline = time.monotonic() + WALL_SECONDS
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline or processes.cpu_seconds(child) > CPU_SECONDS:
            return
        time.sleep(_PAUSE_SECONDS)
