"""The Messages API on the wire: read a request, and write the events of an answer."""

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from e2e.turns import Kind, Turn

Block = dict[str, Any]
Message = dict[str, Any]

_PIECE = 400
_COMPACT_MARKS = (
    "create a detailed summary of the conversation",
    "create a detailed summary of the RECENT portion",
    "create a detailed summary of this conversation",
)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request of the program under test."""

    kind: Kind
    session_id: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """Everything the model was shown: system prompt and messages."""
        messages = self.body.get("messages", [])
        parts = [self.body.get("system"), *(message.get("content") for message in messages)]
        return "\n".join(flatten(part) for part in parts if part)

    @property
    def folder(self) -> Path | None:
        """The folder that the session runs in."""
        found = re.search(r"Primary working directory: (.+)", self.text)
        return Path(found[1]) if found else None

    @property
    def news(self) -> str:
        """What the request adds to the ones before."""
        return news_of(self.body)


def flatten(content: Any) -> str:
    """Return all the text in a content or system value, tool calls and results included."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(flatten(item) for item in content)
    parts = [content.get("text"), content.get("thinking"), content.get("content")]
    if content.get("type") == "tool_use":
        parts.append(json.dumps(content.get("input"), ensure_ascii=False))
    return "\n".join(flatten(part) for part in parts if part)


def news_of(body: dict[str, Any]) -> str:
    """Return the text of all messages after the last one of the assistant.

    Not merely the last message: the program puts a `system` message with what hooks said after
    the user's own.
    """
    parts: list[str] = []
    for message in reversed(body.get("messages") or []):
        if message.get("role") == "assistant":
            break
        parts.append(flatten(message.get("content")))
    return "\n".join(reversed(parts))


def kind_of(body: dict[str, Any], headers: dict[str, str]) -> Kind:
    """Tell what a request is for."""
    if any(mark in news_of(body) for mark in _COMPACT_MARKS):
        return "compact"
    if (body.get("output_config") or {}).get("format") or body.get("output_format"):
        return "title"
    if not body.get("tools"):
        return "side"
    if headers.get("x-claude-code-agent-id"):
        return "subagent"
    return "main"


def answer(turn: Turn, model: str) -> Message:
    """Build the message that a turn says."""
    return {
        "id": f"msg_fake_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(turn),
        "stop_reason": "tool_use" if turn.tools else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": turn.tokens - 10,
            "output_tokens": 20,
        },
    }


def _blocks(turn: Turn) -> list[Block]:
    spoken: list[Block] = [{"type": "text", "text": text} for text in turn.texts]
    called: list[Block] = [
        {
            "type": "tool_use",
            "id": f"toolu_fake_{uuid.uuid4().hex[:16]}",
            "name": tool.name,
            "input": tool.input,
        }
        for tool in turn.tools
    ]
    return [*spoken, *called] or [{"type": "text", "text": "ok"}]


def opening(message: Message) -> Iterator[bytes]:
    """Encode the events up to the end of the content."""
    usage = {**message["usage"], "output_tokens": 1}
    begun = {**message, "content": [], "stop_reason": None, "usage": usage}
    yield _event("message_start", message=begun)
    for index, block in enumerate(message["content"]):
        start, deltas = _pieces(block)
        yield _event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)


def closing(message: Message) -> Iterator[bytes]:
    """Encode the events that end a message."""
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=message["usage"])
    yield _event("message_stop")


def _pieces(block: Block) -> tuple[Block, list[Block]]:
    if block["type"] == "text":
        return {**block, "text": ""}, [
            {"type": "text_delta", "text": piece} for piece in _cut(block["text"])
        ]
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": piece}
        for piece in _cut(json.dumps(block["input"]))
    ]


def _cut(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)] or [""]


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()
