"""Hook events in one form for all agents, and what a module supplies to be a dialect."""

from collections.abc import Mapping
from typing import Any, Literal, NewType, Protocol

import msgspec

from leftoff.text.fence import Rendered

Kind = Literal[
    "session-start",
    "prompt",
    "stop",
    "failure",
    "pre-compact",
    "session-end",
    "pre-tool",
    "post-tool",
    "idle",
]


Reply = NewType("Reply", str)
"""What a hook prints: one line, made by a dialect from rendered text only."""
NO_REPLY = Reply("")


class HookEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened in a session, as the agent told it."""

    agent: str
    kind: Kind
    session_id: str
    cwd: str
    at: float = 0.0
    transcript_path: str = ""
    prompt: str = ""
    last_words: str = ""
    """What the agent said at the end of its turn, where it tells."""
    source: str = ""
    """Why a session starts: startup, resume, clear, compact; or why it ends."""
    command: str = ""
    timeout_seconds: float = 0.0
    tool: str = ""
    file: str = ""
    """The file that a tool reads or writes."""
    is_automatic: bool = False
    """Whether a compaction was the agent's own idea."""


def decode(data: bytes) -> Any:
    """Read what an agent sent; raises msgspec.DecodeError for what is no JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_leniently(data)


def _decode_leniently(data: bytes) -> Any:
    """Read JSON with half an emoji in it, as agents send it that cut texts; msgspec refuses it."""
    import json  # noqa: PLC0415 - rarely needed

    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
    return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


class Dialect(Protocol):
    """The names every dialect module supplies."""

    KINDS: dict[str, Kind]
    """The agent's event names that we listen to."""
    REPLY_LIMIT: int
    """How many characters a reply may have."""

    def translate(self, event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
        """Read a payload; None for one that tells nothing."""

    def context_reply(self, event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
        """Give the model background for its next answer, and the user a line of notice."""

    def block_reply(self, reason: Rendered) -> Reply:
        """Keep a prompt from the model, with the reason for the user."""

    def deny_reply(self, event: str, reason: Rendered) -> Reply:
        """Keep a tool from being run, with the reason for the model."""
