"""The lines of a Claude Code transcript, as far as they are read.

Parts whose shape varies between versions stay raw until it is known that they are needed.
"""

from typing import Any

import msgspec
from msgspec import Raw

NOTHING = Raw()


class ApiUsage(msgspec.Struct, frozen=True, gc=False):
    """What an answer cost, as the API counts it."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def context_tokens(self) -> int:
        """Return the size of the prompt, however much of it came from the cache."""
        return (
            (self.input_tokens or 0)
            + (self.cache_creation_input_tokens or 0)
            + (self.cache_read_input_tokens or 0)
        )


class Block(msgspec.Struct, frozen=True, gc=False):
    """One part of a message: text, a tool call or a tool's result."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    tool_use_id: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """What was said in one line; an answer of several parts takes several lines."""

    content: str | list[Block | str] | None = None
    model: str | None = None
    usage: ApiUsage | None = None


class EntryOrigin(msgspec.Struct, frozen=True, gc=False):
    """Who wrote a user entry, where the version says so."""

    kind: str | None = None


class ToolProgress(msgspec.Struct, frozen=True, gc=False):
    """A sign of life of a running tool; a sub-agent's carries the sub-agent's own line."""

    type: str = ""
    message: "TranscriptEntry | str | float | bool | list[Any] | None" = None


class TranscriptEntry(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of the transcript."""

    type: str = ""
    subtype: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | str | None = None
    plan_content: str | None = None
    origin: EntryOrigin | None = None
    tool_use_result: Raw = NOTHING
    attachment: Raw = NOTHING
    data: ToolProgress | str | float | bool | list[Any] | None = None
    operation: str | None = None
    content: Raw = NOTHING
    prompt_submit_ending: Raw = NOTHING
    compact_metadata: Raw = NOTHING


class Attachment(msgspec.Struct, frozen=True, rename="camel"):
    """What the program put beside the conversation."""

    type: str = ""
    prompt: Raw = NOTHING
    plan_file_path: str | None = None
    plan_exists: bool | None = None


class CompactMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """What a compaction left over."""

    post_tokens: int | None = None


class CreatedTask(msgspec.Struct, frozen=True):
    """The task a TaskCreate call made."""

    id: str | int | None = None


class TaskResult(msgspec.Struct, frozen=True):
    """The result of a TaskCreate call."""

    task: CreatedTask | None = None
