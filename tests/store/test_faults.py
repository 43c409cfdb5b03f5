"""After any call fails in any way, the next process sees the true state."""

import errno
import json
import sys
from pathlib import Path

import pytest

import faulting
from faulting import ALL, MORE, SHORT, library
from programs import _started, finish

pytestmark = pytest.mark.slow("lets every call fail")

# Each of these writes or reads in a way of its own; with them the kinds of faults are crossed.
CROSSED = ("save", "rebuild", "remember-without-index", "feature")
# Every call of these fails in turn. Of the others, one in so many does: they share most code.
WHOLE = {*CROSSED, "first-save", "adopt-and-save", "merge-and-save", "list", "clear", "purge"}
# These write a line, as `clear` does.
LINES = {
    "resume", "consume", "drop", "join", "join-by-prompt", "undo-clear", "undo-join",
    "undo-consume", "redo-join", "redo-drop",
}  # fmt: skip
CASES = [(name, errno.EIO) for name in ALL]
CASES += [(name, code) for name in CROSSED for code in (errno.ENOSPC, errno.EINTR, SHORT)]


def choose_every(scenario: str) -> int:
    """Return how many calls lie between two that fail."""
    return 1 if scenario in WHOLE else 6 if scenario in LINES else 3


@pytest.mark.parametrize(("scenario", "code"), CASES)
def test_a_call_that_fails_leaves_the_truth(scenario: str, code: int, quick_folder: Path) -> None:
    command = ["env", f"LD_PRELOAD={library()}", sys.executable, str(faulting.__file__)]

    every = choose_every(scenario)
    words = (scenario, str(code), str(quick_folder), str(every))
    reply = finish(_started([*command, *words]), seconds=600)

    # So many that SQLite's own calls are among them.
    counts = json.loads(reply)
    enough = max(1, 10 // every) if scenario in MORE or code != SHORT else 1
    assert min(counts) >= enough, counts
