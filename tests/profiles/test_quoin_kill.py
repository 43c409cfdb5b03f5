"""A mirror that dies at any step is made up for: each file, mark and row is there once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from profiles import quoindying


@pytest.mark.accept(87, 164)
def test_nothing_is_missing_or_doubled_wherever_a_mirror_is_killed(quick_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, quoindying.__file__, str(quick_folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
