"""Define the stream of events that all session readers yield.

A reader translates and does not interpret. An agent's own tool names, argument names and exit-code
conventions end here. Paths are as the agent wrote them; `Place` holds the directory that they are
relative to.
"""

from typing import Literal

import msgspec

from leftoff.digests import blake2b

Kind = Literal["edit", "read", "run", "search", "agent", "other"]
Status = Literal["pending", "in_progress", "completed", "cancelled"]


class SessionEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of all session events. `sidechain` marks the work of a sub-agent."""

    at: str = ""
    sidechain: bool = False


class SessionInfo(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The identity of the session."""

    session_id: str
    agent_version: str = ""
    model: str = ""


class Place(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The working directory or branch from here on; an empty field means unchanged."""

    cwd: str = ""
    branch: str = ""


class UserText(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """What a person asked; never hook output, a notice, a command's echo or a summary."""

    text: str


class AssistantText(
    SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True
):
    """What the agent said to the user.

    `ends_turn` if the agent marked it as its last words, `is_interim` if as said in between.
    """

    text: str
    ends_turn: bool = False
    is_interim: bool = False


class TurnFailed(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The agent gave up a turn because of an error that it reports, such as a usage limit."""

    error: str


class TurnEnded(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The agent ended its turn: no call follows what it said last."""


class AgentThought(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """What the agent thought, if the transcript holds it in plain text."""

    text: str


class ToolCall(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A tool call begins. `what` summarizes it: the command, path, pattern or task.

    `prompt` is what a sub-agent was asked to do. `removed` are those of the paths that it deletes.
    `folder` is where a command runs, if the call says so. `lines` are how many lines an edit adds
    and drops.
    """

    id: str
    tool: str
    kind: Kind = "other"
    what: str = ""
    paths: tuple[str, ...] = ()
    command: str = ""
    prompt: str = ""
    removed: tuple[str, ...] = ()
    folder: str = ""
    lines: tuple[int, int] = (0, 0)


class ToolResult(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A tool call ended. `rejected` is the user's reason for refusing it, or "" if none was given.

    `output` is needed for commands, searches and all failures. A reader may leave it empty for
    successful reads and edits of files, and may omit the middle of a long one. A failed command
    without output has an empty one. `paths` are the files that the result reports as changed.
    `exit` is the exit code of a command, if it is known. `is_assumed` if the transcript has no
    results, so that only what follows the call shows that it ended. `is_blocked` if the agent's
    program itself turned the call down: it never ran, and nobody refused it.
    """

    id: str
    ok: bool
    output: str = ""
    rejected: str | None = None
    paths: tuple[str, ...] = ()
    exit: int | None = None
    is_assumed: bool = False
    is_blocked: bool = False


class TodoItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One entry of the agent's todo list."""

    text: str
    status: Status = "pending"
    id: str = ""


class TodoList(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The complete todo list, which replaces the one before."""

    items: tuple[TodoItem, ...]


class TodoChange(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """One todo was added, or changed by its id; empty fields are unchanged, `deleted` removes it.

    `new_id` is for agents that report a todo's id only after creating it.
    """

    id: str
    text: str = ""
    status: Status | Literal["", "deleted"] = ""
    new_id: str = ""


class PlanSeen(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A plan was written, shown for approval or given to implement."""

    path: str = ""
    text: str = ""


class Usage(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """Context tokens in use after an answer, with cache; `window` only if the agent reports it."""

    tokens: int
    window: int = 0
    model: str = ""


class Compaction(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The agent replaced the conversation with a summary."""

    summary: str = ""


class PromptQueued(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A prompt was typed while the agent was working."""

    text: str


class PromptTaken(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A queued prompt reached the agent or was withdrawn.

    It is identified by its text, or by `prompt_key` of the text if that is no longer available.
    Without either, it is the oldest one.
    """

    text: str = ""
    key: str = ""


def prompt_key(text: str) -> str:
    """Return a key that identifies a prompt without storing its text and its secrets."""
    return blake2b(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()
