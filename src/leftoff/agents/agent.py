"""What a module in this folder supplies to be an agent.

A module reads one agent's sessions in one or both layouts:

* `lines`: one JSON object per line, appended to. `new_reader(state)` makes a reader; each whole
  line is fed to it once. What it must remember across lines it keeps in `state` (JSON values,
  bounded in size), which is stored with the session, so that reading goes on with the new bytes.
* `document`: one JSON document or a database, read whole each time by `read_document`.

A module that lacks a layout assigns `no_reader` or `no_document` under that name.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol

import msgspec

from leftoff.agents.stream import SessionEvent
from leftoff.errors import SessionUnreadable

Layout = Literal["lines", "document"]

HEAD_BYTES = 65536
"""How much of a file `recognises` is shown."""


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session kept on this machine; `session_id` tells apart those that share a database."""

    path: Path
    session_id: str = ""
    touched_at: float = 0.0


class LineReader(Protocol):
    """Turns the lines of one session into events."""

    state: dict[str, Any]

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        """Return what this line tells, in order; nothing for a type of line not known.

        Raises msgspec.DecodeError when the line is not JSON (the caller mends the line or takes
        two glued objects apart and feeds again) and msgspec.ValidationError when it has an
        unknown shape (the caller counts and skips it).
        """


class Agent(Protocol):
    """The functions every agent module supplies."""

    def recognises(self, head: bytes, path: Path) -> Layout | None:
        """Tell from the first bytes whether the file is this agent's, and its layout."""

    def new_reader(self, state: dict[str, Any]) -> LineReader:
        """Make a reader; `state` is empty at the start of a session."""

    def read_document(self, path: Path, session_id: str) -> Iterable[SessionEvent]:
        """Read a whole session; without an id, the newest one in the file."""

    def find_sessions(self, root: Path, folder: Path) -> Iterable[FoundSession]:
        """List the sessions that this agent keeps under its own `root` for work in `folder`."""


def no_reader(state: dict[str, Any]) -> NoReturn:  # noqa: ARG001
    """Stand in for `new_reader` where an agent keeps no lines."""
    raise SessionUnreadable("This agent does not keep its sessions as lines.")


def no_document(path: Path, session_id: str) -> NoReturn:  # noqa: ARG001
    """Stand in for `read_document` where an agent keeps no documents."""
    raise SessionUnreadable(f"{path} is not a document of this agent")
