"""The Responses API on the wire, for Codex: read a request, and write the events of an answer."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2e.model import ModelHandler
from e2e.turns import LEFTOFF_TOOL, Kind, ToolCall, Turn
from e2e.wire import Request

Item = dict[str, Any]

_COMPACT_MARK = "CONTEXT CHECKPOINT COMPACTION"
_numbers = itertools.count(1)


class ResponsesRequest(Request, frozen=True, kw_only=True):
    """One request of Codex."""

    @property
    def text(self) -> str:
        """Everything the model was shown: instructions and input."""
        return "\n".join([str(self.body.get("instructions") or ""), *map(_text, self._items)])

    @property
    def news(self) -> str:
        """What the request adds to the ones before: all after the model's last words or call."""
        news: list[str] = []
        for item in reversed(self._items):
            if item.get("role") == "assistant" or str(item.get("type", "")).endswith("_call"):
                break
            news.append(_text(item))
        return "\n".join(reversed(news))

    @property
    def folder(self) -> Path | None:
        """The folder that the session runs in."""
        found = re.search(r"<cwd>(.+?)</cwd>", self.text)
        return Path(found[1]) if found else None

    @property
    def _items(self) -> list[Item]:
        return [item for item in self.body.get("input") or [] if isinstance(item, dict)]


class ResponsesHandler(ModelHandler):
    """The Responses API."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        """Answer one request."""
        if not path.rstrip("/").endswith("/responses"):
            self.send(404, {"error": {"message": "not found"}})
            return
        session_id = headers.get("session_id") or headers.get("session-id") or ""
        request = ResponsesRequest(kind=_kind(body), session_id=session_id, body=body)
        turn = self.model.take(request)
        if turn.status != 200:
            problem = {"message": "scripted error", "type": "invalid"}
            self.refuse(turn, {"error": problem})
            return
        tools = {tool.get("name") or tool.get("type") for tool in body.get("tools") or []}
        items = [*_build_items(turn, tools)]
        self.stream(stall=turn.stall, opening=_open(items), closing=_close(items, turn))


def _kind(body: dict[str, Any]) -> Kind:
    items = body.get("input") or []
    last = items[-1] if items else {}
    if isinstance(last, dict) and _COMPACT_MARK in _text(last):
        return "compact"
    return "main" if body.get("tools") else "side"


def _text(item: Item) -> str:
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content)
    output = item.get("output")
    parts = (content, item.get("arguments"), item.get("input"), output)
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in parts if each)


def _build_items(turn: Turn, tools: set[str]) -> Iterator[Item]:
    """Yield the messages and calls of a turn."""
    for text in turn.texts:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        number = next(_numbers)
        yield {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    for tool in turn.tools:
        yield _build_call(tool, tools)


def _build_call(tool: ToolCall, tools: set[str]) -> Item:
    """Return a call in the words of the tools that Codex offers."""
    number = next(_numbers)
    name, given = tool.name, tool.input
    if name == "Bash":
        shell = "exec_command" if "exec_command" in tools else "shell_command"
        name, given = shell, {"cmd" if shell == "exec_command" else "command": given["command"]}
    elif name == "Write":
        return _build_patch(given, tools, number)
    elif name.startswith(LEFTOFF_TOOL):
        # Codex groups the tools of a server in a namespace.
        space = next(each for each in tools if "leftoff" in each)
        return {**_call(name.removeprefix(LEFTOFF_TOOL), given, number), "namespace": space}
    return _call(name, given, number)


def _build_patch(given: dict[str, Any], tools: set[str], number: int) -> Item:
    lines = "".join(f"+{line}\n" for line in given["content"].splitlines())
    patch = f"*** Begin Patch\n*** Add File: {given['file_path']}\n{lines}*** End Patch\n"
    if "apply_patch" in tools:
        call = {"type": "custom_tool_call", "id": f"ctc_{number}", "call_id": f"call_{number}"}
        return {**call, "name": "apply_patch", "input": patch, "status": "completed"}
    return _call("exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}EOF\n"}, number)


def _call(name: str, given: dict[str, Any], number: int) -> Item:
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": json.dumps(given),
        "status": "completed",
    }


def _open(items: list[Item]) -> Iterator[bytes]:
    """Encode the events of the content."""
    yield _event("response.created", response=_response([], "in_progress"))
    for index, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        yield _event("response.output_item.added", output_index=index, item=begun)
        if item["type"] == "message":
            yield _event(
                "response.output_text.delta",
                output_index=index,
                item_id=item["id"],
                content_index=0,
                delta=item["content"][0]["text"],
            )


def _close(items: list[Item], turn: Turn) -> Iterator[bytes]:
    """Encode the events that end an answer."""
    for index, item in enumerate(items):
        yield _event("response.output_item.done", output_index=index, item=item)
    usage = {
        "input_tokens": turn.tokens - 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": turn.tokens,
    }
    yield _event("response.completed", response={**_response(items, "completed"), "usage": usage})


def _response(items: list[Item], status: str) -> dict[str, Any]:
    return {"id": "resp_fake", "object": "response", "status": status, "output": items}


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()
