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
# Every call of these fails in turn. The others take the same ways (to resume, decline and consume
# is to write a line, as to clear is), and of them each fourth call fails.
WHOLE = {*CROSSED, "list", "first-save", "clear", "purge", "adopt-and-save", "merge-and-save"}
CASES = [(name, errno.EIO) for name in ALL]
CASES += [(name, code) for name in CROSSED for code in (errno.ENOSPC, errno.EINTR, SHORT)]


@pytest.mark.parametrize(("scenario", "code"), CASES)
def test_a_call_that_fails_leaves_the_truth(scenario: str, code: int, quick_folder: Path) -> None:
    command = ["env", f"LD_PRELOAD={library()}", sys.executable, str(faulting.__file__)]

    every = 1 if scenario in WHOLE else 4
    words = (scenario, str(code), str(quick_folder), str(every))
    reply = finish(_started([*command, *words]), seconds=600)

    # So many that SQLite's own calls are among them.
    counts = json.loads(reply)
    enough = 10 // every if scenario in MORE or code != SHORT else 1
    assert min(counts) >= enough, counts
