"""A terminal with a screen: what a person sees, drawn by pyte from what a real pty receives."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pexpect
import pyte

from cli.runs import spawn
from e2e.waiting import until

GOLDEN = Path(__file__).parent / "golden_screens"
# Set to write the golden files anew: UPDATE_SCREENS=1 pytest tests/cli/test_screens.py
_UPDATE = "UPDATE_SCREENS"
# pyte stops at characters without a width, which real terminals skip.
_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2069\ufe0f]")
_TERMINAL = {"TERM": "xterm-256color", "PAGER": "cat"}
_CHANGING = (
    (re.compile(r"\b[0-9a-f]{8}\b"), "########"),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b"), "YYYY-MM-DD HH:MM"),
    (re.compile(r"\b20\d{6}T\d{9}Z\b"), "YYYYMMDDTHHMMSSmmmZ"),
)


class Screen:
    """A screen and a keyboard, with leftoff between them."""

    def __init__(self, child: "pexpect.spawn[str]", rows: int, columns: int) -> None:
        self.child = child
        self.raw = ""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)

    def press(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the terminal."""
        self.child.setwinsize(rows, columns)
        self._screen.resize(rows, columns)

    def wait(self, text: str) -> str:
        """Wait until a text is on the screen; return the whole screen."""
        until(lambda: text in self.read(), lambda: f"{text!r} on\n{self.read()}")
        return self.read()

    def wait_without(self, text: str) -> str:
        """Wait until a text has left the screen; return the whole screen."""
        until(lambda: text not in self.read(), lambda: f"no {text!r} on\n{self.read()}")
        return self.read()

    def finish(self) -> str:
        """Wait for the end of the program; return the screen that it leaves."""
        until(lambda: self.read() is not None and not self.child.isalive(), self.read)
        return self.read()

    def read(self) -> str:
        """Return the screen as it is now, without empty lines at its end."""
        with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
            while new := self.child.read_nonblocking(65_536, timeout=0):
                self.raw += new
                self._stream.feed(_INVISIBLE.sub("", new))
        # pyte keeps an empty cell behind each wide character.
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")

    @property
    def code(self) -> int | None:
        """The exit code, once it has ended."""
        return self.child.exitstatus


@contextlib.contextmanager
def show(
    *arguments: str, columns: int, rows: int = 40, env: Mapping[str, str] | None = None
) -> Iterator[Screen]:
    """Run leftoff on a terminal of this size."""
    env = {**_TERMINAL, **(env or {})}
    with spawn(*arguments, env=env, rows=rows, columns=columns) as child:
        yield Screen(child, rows, columns)


def compare_with_golden(name: str, shown: str) -> None:
    """Compare a screen with its golden file, but for ids and times."""
    for pattern, mark in _CHANGING:
        shown = pattern.sub(lambda found, mark=mark: mark[: len(found[0])], shown)  # type: ignore[misc]
    path = GOLDEN / f"{name}.txt"
    if os.environ.get(_UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{shown}\n", encoding="utf-8")
    assert f"{shown}\n" == path.read_text(encoding="utf-8"), f"{_UPDATE}=1 updates {path}"
