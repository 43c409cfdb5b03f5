"""A mirror that dies on the way: a process of its own, killed after some steps on disk."""

import signal
import subprocess
import sys
from pathlib import Path

from programs import with_our_path

_PROGRAM = """
import os, signal, sys

from leftoff.context import find_project
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.mirror import native_files
from leftoff.context import find_project
from leftoff.store import Store
profile, steps = sys.argv[1], int(sys.argv[2])
real = {name: getattr(os, name) for name in ("open", "write", "link", "unlink", "replace")}
def dying(name):
    def step(*arguments, **named):
        global steps
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real[name](*arguments, **named)
    return step
store = Store(find_project())
store.index()
for name in real:
    setattr(os, name, dying(name))
open_mirrors([profile]).export_changes(store)
"""


def is_killed(folder: Path, profile: str, *, after: int) -> bool:
    """Let a mirror follow what is saved in a folder; say whether it was killed before its end."""
    command = [sys.executable, "-c", _PROGRAM, profile, str(after)]
    code = subprocess.run(command, cwd=folder, env=with_our_path(), check=False).returncode
    assert code in {0, -signal.SIGKILL}
    return code != 0
