"""One stream of events for all agents: what a session reader yields and the fold consumes.

A reader translates; it does not judge. Tool names, argument names and exit-code conventions of
one agent end here. Paths are as the agent wrote them; `Place` tells from where they are relative.
"""

import hashlib
from typing import Literal

import msgspec

Kind = Literal["edit", "read", "run", "search", "agent", "other"]
Status = Literal["pending", "in_progress", "completed", "cancelled"]


class SessionEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Anything a session tells. `sidechain` marks the work of a sub-agent."""

    at: str = ""
    sidechain: bool = False


class SessionInfo(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """Which session this is."""

    session_id: str
    agent_version: str = ""
    model: str = ""


class Place(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The working directory or branch from here on; an empty field is unchanged."""

    cwd: str = ""
    branch: str = ""


class UserText(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """What a person asked; never a hook's output, a notice, a command's echo or a summary."""

    text: str


class AssistantText(
    SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True
):
    """What the agent said to the user."""

    text: str


class ToolCall(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A tool call begins. `what` is its one telling line: the command, path, pattern or task."""

    id: str
    tool: str
    kind: Kind = "other"
    what: str = ""
    paths: tuple[str, ...] = ()
    command: str = ""


class ToolResult(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A tool call ended. `rejected` is the user's reason for refusing it, or "" for none given.

    `output` is needed for commands, searches and all failures; a reader may leave it empty for
    files that were read or edited well, and leave out the middle of a long one. A failed command
    that said nothing has an empty output. `paths` are files the result says were changed.
    """

    id: str
    ok: bool
    output: str = ""
    rejected: str | None = None
    paths: tuple[str, ...] = ()


class TodoItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One todo as the agent keeps it."""

    text: str
    status: Status = "pending"
    id: str = ""


class TodoList(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The whole todo list, replacing the one before."""

    items: tuple[TodoItem, ...]


class TodoChange(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """One todo was added, or changed by its id; empty fields are unchanged, `deleted` drops it.

    `new_id` is for agents that tell the id of a todo only after they made it.
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
    """Context tokens in use after an answer, cache included; `window` only where the agent says."""

    tokens: int
    window: int = 0
    model: str = ""


class Compaction(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """The agent replaced the conversation by a summary."""

    summary: str = ""


class PromptQueued(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A prompt was typed while the agent worked."""

    text: str


class PromptTaken(SessionEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag=True):
    """A queued prompt reached the agent or was withdrawn.

    Named by its text or, where that is no longer at hand, by `prompt_key` of it; by neither, it
    is the oldest one.
    """

    text: str = ""
    key: str = ""


def prompt_key(text: str) -> str:
    """Return what stands for a prompt where its text, and its secrets, must not be kept."""
    return hashlib.blake2b(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()
