"""Whoever dies at any step is made up for: each file, line and note is there once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from profiles import openclawdying


@pytest.mark.accept(164)
@pytest.mark.parametrize(("what", "steps"), [("mirror", 60), ("note", 8)])
def test_nothing_is_missing_or_doubled_wherever_it_is_killed(
    quick_folder: Path, what: str, steps: int
) -> None:
    done = subprocess.run(
        [sys.executable, openclawdying.__file__, what, str(quick_folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > steps
