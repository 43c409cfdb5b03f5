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

PARTS = 8


def choose_every(scenario: str) -> int:
    """Return how many calls lie between two that fail."""
    return 1 if scenario in WHOLE else 6 if scenario in LINES else 3


# A program takes longer to start than most cases take.
@pytest.mark.parametrize("part", range(PARTS))
def test_a_call_that_fails_leaves_the_truth(part: int, quick_folder: Path) -> None:
    command = ["env", f"LD_PRELOAD={library()}", sys.executable, str(faulting.__file__)]

    cases = CASES[part::PARTS]
    words = [f"{scenario}:{code}:{choose_every(scenario)}" for scenario, code in cases]
    reply = finish(_started([*command, str(quick_folder), *words]), seconds=1800)

    # So many that SQLite's own calls are among them.
    for (scenario, code), counts in zip(cases, json.loads(reply), strict=True):
        every = choose_every(scenario)
        enough = max(1, 10 // every) if scenario in MORE or code != SHORT else 1
        assert min(counts) >= enough, (scenario, code, counts)
