"""What hooks know of this installation: its Python, and a file of leftoff's own.

When leftoff is uninstalled, the file goes with it, and the letterbox keeps nothing any more: nobody
would ever read it.
"""

import os
import sys
from pathlib import Path

from leftoff.hooks import settle
from leftoff.store import disk


def lines() -> bytes:
    """Return what belongs into `python` in the state folder."""
    # Not resolved: a venv's python leads to one that does not know the venv, and Homebrew's to a
    # folder that the next update removes. A shim is never what sys.executable names.
    python = os.path.abspath(sys.executable)  # noqa: PTH100 - it resolves
    return os.fsencode(f"{python}\n{settle.__file__}\n")


def refresh(state: Path) -> None:
    """Name the file of leftoff's anew if this very Python is named, as after an update."""
    path = state / "python"
    if not disk.is_regular(path):
        return
    named = disk.read_from(path, 0, limit=16_384)
    if named != lines() and named.partition(b"\n")[0] == lines().partition(b"\n")[0]:
        disk.replace(path, lines(), temps=state, durable=False)
