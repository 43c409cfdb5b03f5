"""Run the user's own build and test commands."""

import time
from collections.abc import Sequence
from pathlib import Path

from leftoff.ship.outcome import Check, Listener
from leftoff.subprocesses import Ended, Program, environment, run

_TAIL_LINES = 12
_KEPT_BYTES = 200_000


def run_checks(commands: Sequence[str], folder: Path, hear: Listener) -> list[Check]:
    """Run every command, even after one fails, and pass on their output as it appears."""
    return [_run(command, folder, hear) for command in commands]


def _run(command: str, folder: Path, hear: Listener) -> Check:
    hear.says(f"$ {command}")
    started = time.monotonic()
    ended = run(
        Program(
            arguments=("sh", "-c", command),
            folder=folder,
            environment=environment(),
            kept_bytes=_KEPT_BYTES,
            on_line=hear.says,
        )
    )
    return Check(
        command=command,
        has_passed=ended.is_done,
        seconds=time.monotonic() - started,
        tail=_tail(ended),
    )


def _tail(ended: Ended) -> list[str]:
    """Return the last lines of the output, with the error stream after the rest."""
    texts = (ended.out.decode("utf-8", "replace"), ended.errors.decode("utf-8", "replace"))
    lines = [line.rstrip() for text in texts for line in text.splitlines() if line.strip()]
    return lines[-_TAIL_LINES:]
