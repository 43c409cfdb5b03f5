"""Chat completions on the wire, for opencode and Copilot CLI: read a request, write an answer."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2e.model import ModelHandler
from e2e.turns import LEFTOFF_TOOL, Kind, ToolCall, Turn, find_leftoff_tool
from e2e.wire import Request, flatten

Value = dict[str, Any]

_OPENCODE_COMPACTS = "anchored summary from the conversation history"
_COPILOT_COMPACTS = (
    "conversation has become too long",
    "summary of the conversation",
    "<summary>",
)
_FOLDER = re.compile(r"(?:current )?working directory: *(.+)", re.IGNORECASE)
_numbers = itertools.count(1)


class ChatRequest(Request, frozen=True, kw_only=True):
    """One request of an agent that speaks this API."""

    @property
    def text(self) -> str:
        """Everything the model was shown."""
        return "\n".join(map(_text, self._messages))

    @property
    def news(self) -> str:
        """What the request adds to the ones before: all after the model's last words or call."""
        news: list[str] = []
        for message in reversed(self._messages):
            if message.get("role") == "assistant":
                break
            news.append(_text(message))
        return "\n".join(reversed(news))

    @property
    def folder(self) -> Path | None:
        """The folder that the session runs in."""
        found = _FOLDER.search(self.text)
        return Path(found[1].strip()) if found else None

    @property
    def _messages(self) -> list[Value]:
        return [each for each in self.body.get("messages") or [] if isinstance(each, dict)]


class ChatHandler(ModelHandler):
    """The chat completions API."""

    def do_GET(self) -> None:  # noqa: N802 - the name that the server calls
        model = {"id": "fake-model", "object": "model", "owned_by": "fake"}
        self.send(200, {"object": "list", "data": [model]})

    def answer(self, path: str, body: Value, headers: dict[str, str]) -> None:
        """Answer one request."""
        if not path.endswith("/chat/completions"):
            self.send(404, {"error": {"message": "not found"}})
            return
        # Only opencode names its session.
        session_id = headers.get("x-session-affinity", "")
        turn = self.model.take(ChatRequest(kind=_kind(body), session_id=session_id, body=body))
        if turn.status != 200:
            problem = {"message": "scripted error", "type": "invalid_request_error"}
            self.refuse(turn, {"error": problem})
            return
        calls = [_build_call(tool, _list_tools(body)) for tool in turn.tools]
        if body.get("stream"):
            self.stream(stall=turn.stall, opening=_open(turn), closing=_close(turn, calls))
        else:
            self.send(200, _build_answer(turn, calls))


def _kind(body: Value) -> Kind:
    texts = [_text(message) for message in body.get("messages") or []]
    if any(_OPENCODE_COMPACTS in text for text in texts):
        return "compact"
    if texts and any(mark in texts[-1] for mark in _COPILOT_COMPACTS):
        return "compact"
    return "main" if body.get("tools") else "side"


def _text(message: Value) -> str:
    calls = [call.get("function", {}).get("arguments") for call in message.get("tool_calls") or []]
    return "\n".join(filter(None, [flatten(message.get("content")), *calls]))


# --- calls, in the words of the tools that the agent offers ---


def _list_tools(body: Value) -> set[str]:
    return {tool.get("function", {}).get("name", "") for tool in body.get("tools") or []}


def _build_call(tool: ToolCall, offered: set[str]) -> Value:
    name, given = _translate(tool, offered)
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": f"call_{next(_numbers)}", "type": "function", "function": function}


def _translate(tool: ToolCall, offered: set[str]) -> tuple[str, Value]:
    if tool.name == "Bash":
        return "bash", {**tool.input, "mode": "sync"}
    if tool.name.startswith(LEFTOFF_TOOL):
        return find_leftoff_tool(tool.name, offered), tool.input
    if tool.name != "Write":
        return tool.name, tool.input
    path, content = tool.input["file_path"], tool.input["content"]
    # Copilot CLI has `create`.
    if "create" in offered:
        return "create", {"path": path, "file_text": content}
    return "write", {"filePath": path, "content": content}


# --- answers ---


def _open(turn: Turn) -> Iterator[bytes]:
    """Encode the words."""
    yield _encode({"role": "assistant", "content": ""})
    for text in turn.texts:
        yield _encode({"content": text})


def _close(turn: Turn, calls: list[Value]) -> Iterator[bytes]:
    """Encode the calls, and the events that end an answer."""
    for index, call in enumerate(calls):
        yield _encode({"tool_calls": [{"index": index, **call}]})
    yield _encode({}, _reason(calls))
    yield _event(choices=[], usage=_usage(turn))
    yield b"data: [DONE]\n\n"


def _build_answer(turn: Turn, calls: list[Value]) -> Value:
    message: Value = {"role": "assistant", "content": "\n".join(turn.texts) or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _reason(calls)}
    return {**_base("chat.completion"), "choices": [choice], "usage": _usage(turn)}


def _reason(calls: list[Value]) -> str:
    return "tool_calls" if calls else "stop"


def _usage(turn: Turn) -> Value:
    used = {"prompt_tokens": turn.tokens - 20, "completion_tokens": 20}
    return {**used, "total_tokens": turn.tokens}


def _encode(delta: Value, finish: str | None = None) -> bytes:
    return _event(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def _event(**fields: Any) -> bytes:
    value = {**_base("chat.completion.chunk"), **fields}
    return f"data: {json.dumps(value)}\n\n".encode()


def _base(kind: str) -> Value:
    return {"id": "chat_fake", "created": 1, "model": "fake-model", "object": kind}
