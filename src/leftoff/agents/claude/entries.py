"""Define the parts of Claude Code's transcript lines that leftoff reads.

Parts whose shape varies between versions stay raw until they are needed.
"""

from typing import Any

import msgspec
from msgspec import Raw

NOTHING = Raw()


class ApiUsage(msgspec.Struct, frozen=True, gc=False):
    """The token counts of an answer, as the API reports them."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def context_tokens(self) -> int:
        """Return the size of the prompt, cached or not."""
        return (
            (self.input_tokens or 0)
            + (self.cache_creation_input_tokens or 0)
            + (self.cache_read_input_tokens or 0)
        )


class Block(msgspec.Struct, frozen=True, gc=False):
    """One part of a message: text, a tool call or a tool's result."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    tool_use_id: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """The message of one transcript line; a long answer spans several lines."""

    content: str | list[Block | str] | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: ApiUsage | None = None


class EntryOrigin(msgspec.Struct, frozen=True, gc=False):
    """Who wrote a user entry, in versions that record it."""

    kind: str | None = None


class ToolProgress(msgspec.Struct, frozen=True, gc=False):
    """A progress report of a running tool; a sub-agent's contains the sub-agent's own line."""

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
    # Whatever was submitted together has the same id. A value of another type is ignored.
    prompt_id: Raw = NOTHING
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
    """Information that Claude Code adds to the conversation."""

    type: str = ""
    prompt: Raw = NOTHING
    plan_file_path: str | None = None
    plan_exists: bool | None = None


class CompactMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """The size of the context after a compaction."""

    post_tokens: int | None = None


class CreatedTask(msgspec.Struct, frozen=True):
    """The task that a TaskCreate call created."""

    id: str | int | None = None


class TaskResult(msgspec.Struct, frozen=True):
    """The result of a TaskCreate call."""

    task: CreatedTask | None = None
