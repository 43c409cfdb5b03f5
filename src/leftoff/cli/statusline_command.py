"""The `leftoff statusline` command: print one line about this session for a status bar."""

import sys
import time

from leftoff import statusline as line
from leftoff.cli.app import App, command


@command()
def statusline(app: App) -> None:
    """Print one line about this session for a status bar.

    Reads the JSON that Claude Code passes to its status line on standard input.
    """
    data = sys.stdin.buffer.read() if sys.stdin is not None and not sys.stdin.isatty() else b""
    shown = line.show(data, now=time.time())
    app.out.result({"line": shown}, shown)
