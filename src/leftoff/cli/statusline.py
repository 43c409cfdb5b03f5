"""leftoff statusline."""

import sys
import time

from leftoff import statusline as line
from leftoff.cli.app import App, command


@command()
def statusline(app: App) -> None:
    """Show one line on this session: what it works on, its context use, its last save.

    Reads what Claude Code gives its status line on standard input, and keeps the live context use.
    """
    data = sys.stdin.buffer.read() if sys.stdin is not None and not sys.stdin.isatty() else b""
    shown = line.show(data, now=time.time())
    app.out.result({"line": shown}, shown)
