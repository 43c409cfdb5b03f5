"""Define what a module in this folder must provide to support an agent.

A module reads one agent's sessions in one or both layouts:

* `lines`: one JSON object per line, appended to. `new_reader(state)` creates a reader, which is fed
  each complete line once. What it must remember across lines it keeps in `state` (JSON values,
  limited in size). The state is stored with the session, so that the next read continues there.
* `document`: one JSON document or a database, read completely each time by `read_document`.

A module without one of the layouts assigns `no_reader` or `no_document` to that name. It assigns
`no_sign_of_life` to `is_running` if the agent leaves no sign of a running session, and
`no_sub_sessions` to `sub_sessions` if its sub-agents have no transcripts of their own.

What finds sessions is in a module of its own, because `leftoff status` looks for new sessions and
seldom reads one. That module loads no reader.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

import msgspec

from leftoff.errors import SessionUnreadable

if TYPE_CHECKING:
    from leftoff.agents.stream import SessionEvent

Layout = Literal["lines", "document"]

HEAD_BYTES = 65536
"""The number of bytes of a file that `recognises` is given."""


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session on this machine; `session_id` distinguishes those that share a database."""

    path: Path
    session_id: str = ""
    touched_at: float = 0.0


class LineReader(Protocol):
    """Turns the lines of one session into events."""

    state: dict[str, Any]

    def feed(self, line: bytes) -> "Sequence[SessionEvent]":
        """Return the events of this line in order; none for an unknown type of line.

        Raises msgspec.DecodeError if the line is not JSON (the caller repairs the line or splits
        two glued objects, and feeds again), and msgspec.ValidationError if it has an unknown shape
        (the caller counts and skips it).
        """


class SessionFinder(Protocol):
    """The functions that find an agent's sessions, and read none."""

    def find_sessions(self, root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
        """List the sessions under the agent's own `root` that worked in `folder`.

        May leave out those that were last changed before `since`, so that few files are opened.
        """

    def is_running(self, root: Path, session_id: str) -> bool | None:
        """Return whether the agent is in a session right now; None if its files do not say."""

    def sub_sessions(self, path: Path) -> Iterable[Path]:
        """List the transcripts of a session's sub-agents.

        They are in a folder beside the transcript, whose name is the transcript's without its end.
        """


class Agent(SessionFinder, Protocol):
    """The functions that every agent module provides."""

    def recognises(self, head: bytes, path: Path) -> Layout | None:
        """Return the layout if the first bytes show that the file is this agent's, else None."""

    def new_reader(self, state: dict[str, Any]) -> LineReader:
        """Create a reader; `state` is empty at the start of a session."""

    def read_document(self, path: Path, session_id: str) -> "Iterable[SessionEvent]":
        """Read a whole session; without an id, the newest one in the file."""


def no_reader(state: dict[str, Any]) -> NoReturn:  # noqa: ARG001
    """Serve as `new_reader` for agents that do not write lines."""
    raise SessionUnreadable("This agent does not store its sessions as lines.")


def no_document(path: Path, session_id: str) -> NoReturn:  # noqa: ARG001
    """Serve as `read_document` for agents that do not write documents."""
    raise SessionUnreadable(f"{path} is not a session document of this agent")


def no_sign_of_life(root: Path, session_id: str) -> None:  # noqa: ARG001
    """Serve as `is_running` for agents whose files do not say whether a session runs."""
    return


def no_sub_sessions(path: Path) -> Iterable[Path]:  # noqa: ARG001
    """Serve as `sub_sessions` for agents whose sub-agents have no transcripts of their own."""
    return ()
