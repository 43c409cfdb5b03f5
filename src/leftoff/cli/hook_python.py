"""The `leftoff hook-python` command: make hooks use the Python that runs leftoff now."""

import sys

from leftoff.cli.app import App, command
from leftoff.hooks import installation
from leftoff.store import disk


@command(name="hook-python")
def hook_python(app: App) -> None:
    """Make hooks use the Python that runs leftoff now.

    Prints its path. `leftoff init` does this for you; the plugin's hooks run it once.
    """
    state = app.environment.state_folder
    disk.ensure_folder(state)
    disk.replace(state / "python", installation.lines(), temps=state)
    app.out.result({"python": sys.executable}, sys.executable)
