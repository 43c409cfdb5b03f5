"""Show a progress bar on a terminal for work that takes longer than a second."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import click

from leftoff.cli.app import Output, printable
from leftoff.text import fence

# Most work is done by then, and a bar would only flash. It counts from the start of the command,
# because a command may do several things, each of them short.
_PATIENCE_SECONDS = 1.0

Advance = Callable[[int], None]
"""Called with how much of the work is done."""


@contextlib.contextmanager
def show_progress(out: Output, label: str, length: int) -> Iterator[Advance]:
    """Show on stderr how much of the work is done, once it has taken a second.

    Without a terminal, with --json and with --quiet, nothing is shown.
    """
    if not out.is_interactive or out.quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done: None
        return
    bar = _LateBar(printable(fence.line(label)), length, out.began)
    try:
        yield bar.advance
    finally:
        bar.finish()


class _LateBar:
    """A progress bar that appears only if the work takes long."""

    def __init__(self, label: str, length: int, began: float) -> None:
        self._began = began
        self._label = label
        self._length = length
        self._bar: Any = None

    def advance(self, done: int) -> None:
        """Show how much is done."""
        if self._bar is None and time.monotonic() - self._began < _PATIENCE_SECONDS:
            return
        if self._bar is None:
            made = click.progressbar(length=self._length, label=self._label, file=sys.stderr)
            self._bar = made.__enter__()
        self._bar.update(min(done, self._length) - self._bar.pos)

    def finish(self) -> None:
        """Leave the terminal as a command expects it: on a new line, with its cursor."""
        if self._bar is not None:
            self._bar.render_finish()
