"""Find the programs from elsewhere that some tests run, and install them if they are missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_INSTALLER = Path(__file__).resolve().parents[1] / "scripts" / "agents.py"


def find_program(name: str) -> Path:
    """Return a program's path; where it cannot be had, fail in CI and skip elsewhere."""
    done = subprocess.run(
        (sys.executable, _INSTALLER, name), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Path(done.stdout.strip())
    if os.environ.get("CI") == "true":
        pytest.fail(done.stderr.strip(), pytrace=False)
    pytest.skip(done.stderr.strip())
