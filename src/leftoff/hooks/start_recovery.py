"""Recover crashed sessions in another process, so that a session start never waits for long.

A transcript may be huge, or made to be slow to read. The process continues in the background, and
the kernel ends it when a session takes too long.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from leftoff import processes
from leftoff.processes import copy_for_child

CPU_SECONDS = 2.0
"""The CPU time that a session start waits for."""
WALL_SECONDS = 8.0
"""The longest wait: on a busy machine, even little CPU time takes long."""
LOST = "--lost"
"""Option that also recovers sessions that no hook recorded."""
_PAUSE_SECONDS = 0.01


def run(folder: Path, sessions: Sequence[str], *, has_lost: bool, besides: str) -> None:
    """Recover these sessions of a project; return when that is done or takes too long.

    `besides` is the session that is starting, which is never recovered.
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
