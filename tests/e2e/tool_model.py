"""A model on loopback that calls tools of an MCP server, for agents of three makers.

It speaks the Responses API (Codex), chat completions (opencode, Copilot) and the Gemini API. A
request that offers leftoff's tools gets the next call of the script, any other a text.
"""

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Call = tuple[str, dict[str, Any]]
Value = dict[str, Any]

_USED = {"input_tokens": 900, "output_tokens": 50, "total_tokens": 950}


class ToolModel:
    """The script, and what the model was shown."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.requests: list[str] = []
        self._lock = threading.Lock()
        self.port = 0

    @contextlib.contextmanager
    def serve(self) -> Iterator[None]:
        """Answer requests until the block ends."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        server.daemon_threads = True
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    @property
    def url(self) -> str:
        """Where the agent finds the model."""
        return f"http://127.0.0.1:{self.port}"

    def take(self, body: Value) -> Call | None:
        """Keep a request; return the call that answers it, or nothing for a text."""
        text = json.dumps(body, ensure_ascii=False)
        with self._lock:
            self.requests.append(text)
            has_tools = "leftoff" in json.dumps(body.get("tools") or [])
            return self.calls.pop(0) if self.calls and has_tools else None


def _find_name(body: Value, tool: str) -> str:
    """Return the name under which the agent offers a tool of leftoff."""
    names = re.findall(r'"name": "([^"]+)"', json.dumps(body.get("tools") or []))
    return next(str(each) for each in names if re.fullmatch(rf".*leftoff[_-]+{tool}", each))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, model: ToolModel, *arguments: Any) -> None:
        self.model = model
        super().__init__(*arguments)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parent's name
        """Say nothing: the test looks at the requests."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "fake-model", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        # An agent that has ended no longer listens.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if path.endswith("/responses"):
                self._stream([*_build_response(body, self.model.take(body))])
            elif path.endswith("/chat/completions"):
                self._chat(body, self.model.take(body))
            elif "enerateContent" in path:
                self._gemini(path, body)
            elif path.endswith(":countTokens"):
                self._send({"totalTokens": 900})
            else:
                self._send({})

    def _chat(self, body: Value, call: Call | None) -> None:
        made = None
        if call is not None:
            given = {"name": _find_name(body, call[0]), "arguments": json.dumps(call[1])}
            made = [{"index": 0, "id": "call_1", "type": "function", "function": given}]
        message: Value = {"role": "assistant", "content": None if made else "Done."}
        message |= {"tool_calls": made} if made else {}
        reason = "tool_calls" if made else "stop"
        base = {"id": "chat", "created": 1, "model": "fake-model"}
        used = {"prompt_tokens": 900, "completion_tokens": 50, "total_tokens": 950}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send({**base, "object": "chat.completion", "choices": [choice], "usage": used})
            return
        chunk = {**base, "object": "chat.completion.chunk"}
        parts = [{"index": 0, "delta": message}, {"index": 0, "delta": {}, "finish_reason": reason}]
        events = [{**chunk, "choices": [each]} for each in parts]
        self._stream([*events, {**chunk, "choices": [], "usage": used}], end="data: [DONE]\n\n")

    def _gemini(self, path: str, body: Value) -> None:
        settings = body.get("generationConfig") or {}
        part: Value = {"text": "Done."}
        if settings.get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"next_speaker": "user", "model_choice": "flash"})}
        elif (call := self.model.take(body)) is not None:
            part = {"functionCall": {"name": _find_name(body, call[0]), "args": call[1]}}
        content = {"role": "model", "parts": [part]}
        used = {"promptTokenCount": 900, "candidatesTokenCount": 50, "totalTokenCount": 950}
        answer = {
            "candidates": [{"index": 0, "finishReason": "STOP", "content": content}],
            "usageMetadata": used,
            "modelVersion": "fake",
        }
        if ":stream" in path:
            self._stream([answer])
        else:
            self._send(answer)

    def _stream(self, events: list[Value], end: str = "") -> None:
        lines = []
        for each in events:
            kind = f"event: {each['type']}\n" if "type" in each else ""
            lines.append(f"{kind}data: {json.dumps(each)}\n\n")
        self._write("".join([*lines, end]).encode(), "text/event-stream")

    def _send(self, value: Any) -> None:
        self._write(json.dumps(value).encode(), "application/json")

    def _write(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _build_response(body: Value, call: Call | None) -> Iterator[Value]:
    """Yield the events of an answer of the Responses API."""
    text = {"type": "output_text", "text": "Done.", "annotations": []}
    item: Value = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
    if call is not None:
        # Codex groups the tools of a server in a namespace.
        spaces = [each for each in body["tools"] if each.get("type") == "namespace"]
        space = next(each["name"] for each in spaces if "leftoff" in each["name"])
        number = len(body.get("input") or [])
        item = {"type": "function_call", "id": "f", "call_id": f"call_{number}", "name": call[0]}
        item |= {"namespace": space, "arguments": json.dumps(call[1])}
    item["status"] = "completed"
    response = {"id": "r", "object": "response", "output": []}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {**response, "status": "completed", "output": [item], "usage": _USED}
    yield {"type": "response.completed", "response": done}
