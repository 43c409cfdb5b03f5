"""Record which Python and which installed package the hooks use.

The record names a file of the package. When leftoff is uninstalled, that file is gone, and the
letterbox no longer stores events, because nothing would process them.
"""

import os
import sys
from pathlib import Path

from leftoff.hooks import settle
from leftoff.store import disk


def lines() -> bytes:
    """Return the content of the file `python` in the state folder."""
    # Links are not resolved: a venv's python links to one that does not know the venv, and
    # Homebrew's to a folder that the next update removes. sys.executable is never a shim.
    python = os.path.abspath(sys.executable)  # noqa: PTH100 - resolve() follows links
    return os.fsencode(f"{python}\n{settle.__file__}\n")


def refresh(state: Path) -> None:
    """Update the package's file if this Python is recorded, as after an update."""
    path = state / "python"
    if not disk.is_regular(path):
        return
    named = disk.read_from(path, 0, limit=16_384)
    if named != lines() and named.partition(b"\n")[0] == lines().partition(b"\n")[0]:
        disk.replace(path, lines(), temps=state, durable=False)
