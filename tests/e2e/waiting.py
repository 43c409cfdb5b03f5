"""Wait for a condition, never for time to pass."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

# Generous: it is only ever used up when something is wrong.
PATIENCE = 300.0
_PAUSE = 0.02
# For a condition that starts a program to look.
LONG_PAUSE = 0.1


def until(
    condition: Callable[[], Found],
    what: str | Callable[[], str],
    seconds: float = PATIENCE,
    pause: float = _PAUSE,
) -> Found:
    """Return the first true value of the condition, or fail saying what was waited for."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            shown = what if isinstance(what, str) else what()
            raise AssertionError(f"Waited {seconds:g} s for: {shown}")
        time.sleep(pause)
    return found


def becomes_true(condition: Callable[[], object], seconds: float, pause: float = _PAUSE) -> bool:
    """Say whether the condition becomes true within some seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
