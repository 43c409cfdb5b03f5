"""Define hook events in one form for all agents, and what a dialect module provides.

Agents name their events in different ways. leftoff's commands always use the names of Claude Code,
so that the letterbox and everything behind it know one set of names: `hook gemini
UserPromptSubmit` is wired to Gemini's `BeforeAgent`.
"""

from collections.abc import Mapping
from pathlib import Path
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
"""The one line that a hook prints, which a dialect builds from rendered text only."""
NO_REPLY = Reply("")


def restore_reply(kept: str) -> Reply:
    """Return a reply that a dialect made and that leftoff kept in its state folder."""
    return Reply(kept.rstrip("\n"))


class HookEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened in a session, as the agent reported it."""

    agent: str
    kind: Kind
    session_id: str
    cwd: str
    at: float = 0.0
    transcript_path: str = ""
    prompt: str = ""
    last_words: str = ""
    """The agent's message at the end of its turn, if it reports that."""
    written_mark: str = ""
    """What the transcript holds once it has all that came before, if the event has no message."""
    source: str = ""
    """Why a session starts (startup, resume, clear, compact) or ends."""
    error: str = ""
    """Why the turn failed, in the agent's words."""
    command: str = ""
    timeout_seconds: float = 0.0
    tool: str = ""
    file: str = ""
    """The file that a tool reads or writes."""
    is_automatic: bool = False
    """Whether the agent started the compaction on its own."""
    pid: int = 0
    """The agent's process, if the event names it."""
    window: int = 0
    """The size of the model's context in tokens, if the event names it."""


def decode(data: bytes) -> Any:
    """Decode an agent's payload; raises msgspec.DecodeError if it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_leniently(data)


def _decode_leniently(data: bytes) -> Any:
    """Decode JSON with half an emoji, which agents that cut texts send and msgspec refuses."""
    import json  # noqa: PLC0415 - 1 ms, and only for broken characters

    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
    return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


class Dialect(Protocol):
    """The names that every dialect module provides."""

    KINDS: dict[str, Kind]
    """The events that leftoff handles, by the names in its commands."""
    REPLY_LIMIT: int
    """The maximum length of a reply in characters."""
    ADDS_AT_START: bool
    """Whether a reply to a session start reaches the model; if not, it waits for the prompt."""
    STARTS_AFTER_COMPACTION: bool
    """Whether a compaction is followed by a session start; if not, the next prompt is answered."""

    def translate(self, event: str, payload: Mapping[str, Any], *, at: float) -> HookEvent | None:
        """Convert a payload to an event; None if leftoff does not use it."""

    def find_transcript(self, root: Path, session_id: str) -> str:
        """Return a session's transcript below the agent's folder; empty if there is none."""

    def find_lock(self, root: Path, session_id: str) -> str:
        """Return the file that the agent keeps locked while a session runs; empty if none."""

    def find_pid(self, root: Path, session_id: str) -> int:
        """Return the process that the agent's own files name for a session; 0 if they do not."""

    def context_reply(self, event: str, text: Rendered, *, notice: Rendered | None = None) -> Reply:
        """Build a reply that adds context for the model, and optionally a notice for the user."""

    def block_reply(self, event: str, reason: Rendered) -> Reply:
        """Build a reply that blocks a prompt or a compaction, with the reason for the user.

        Empty for a compaction that the agent does not let hooks block.
        """

    def deny_reply(self, event: str, reason: Rendered) -> Reply:
        """Build a reply that denies a tool call, with the reason for the model."""
