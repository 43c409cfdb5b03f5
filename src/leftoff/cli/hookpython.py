"""leftoff hook-python."""

import sys

from leftoff import paths
from leftoff.cli.app import App, command
from leftoff.hooks import installed
from leftoff.store import disk


@command(name="hook-python")
def hook_python(app: App) -> None:
    """Let hooks run with the Python that runs leftoff now, and print its path.

    Hooks of a plugin ask for it once; `leftoff init` does it by itself.
    """
    state = paths.state_folder()
    disk.ensure_folder(state)
    disk.replace(state / "python", installed.lines(), temps=state)
    app.out.result({"python": sys.executable}, sys.executable)
