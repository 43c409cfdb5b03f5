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

# To resume, decline and consume is to write a line, as to clear is.
ALIKE = {"resume", "consume", "drop", "join-by-prompt", "adopt-and-list", "adopt-and-clear"}
ALIKE |= {"undo-join", "undo-consume", "redo-drop"}
# Each of these writes or reads in a way of its own; with them the kinds of faults are crossed.
CROSSED = ("save", "rebuild", "remember-without-index", "feature")
CASES = [(name, errno.EIO) for name in ALL if name not in ALIKE]
CASES += [(name, code) for name in CROSSED for code in (errno.ENOSPC, errno.EINTR, SHORT)]


@pytest.mark.parametrize(("scenario", "code"), CASES)
def test_a_call_that_fails_leaves_the_truth(
    scenario: str, code: int, tmp_path: Path, quick_folder: Path
) -> None:
    shim = library(tmp_path)
    command = ["env", f"LD_PRELOAD={shim}", sys.executable, str(faulting.__file__)]

    told = finish(_started([*command, scenario, str(code), str(quick_folder)]), seconds=600)

    # So many that SQLite's own calls are among them.
    counts = json.loads(told)
    assert min(counts) >= (10 if scenario in MORE or code != SHORT else 1), counts
