"""The Gemini API on the wire, for Gemini CLI: read a request, and write the events of an answer."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from e2e.model import ModelHandler
from e2e.turns import LEFTOFF_TOOL, SUMMARY, Kind, ToolCall, Turn, find_leftoff_tool
from e2e.wire import Request

Part = dict[str, Any]

# Gemini CLI may ask who speaks next, or which model should answer.
_CHOICE = {"reasoning": "scripted", "next_speaker": "user", "model_choice": "flash"}


class GeminiRequest(Request, frozen=True, kw_only=True):
    """One request of Gemini CLI."""

    @property
    def text(self) -> str:
        """Everything the model was shown: instructions and contents."""
        contents = [self.body.get("systemInstruction") or {}, *self._contents]
        return "\n".join(map(_text, contents))

    @property
    def news(self) -> str:
        """What the request adds to the ones before: all after the model's last words or call."""
        news: list[str] = []
        for content in reversed(self._contents):
            if content.get("role") == "model":
                break
            news.append(_text(content))
        return "\n".join(reversed(news))

    @property
    def folder(self) -> Path | None:
        """The folder that the session runs in."""
        found = re.search(r"Workspace Directories:\*\*\s*- *([^\n]+)", self.text)
        return Path(found[1].strip()) if found else None

    @property
    def _contents(self) -> list[Part]:
        return [each for each in self.body.get("contents") or [] if isinstance(each, dict)]


class GeminiHandler(ModelHandler):
    """The Gemini API."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        """Answer one request."""
        del headers
        if path.endswith(":countTokens"):
            self.send(200, {"totalTokens": 900})
        elif not path.endswith("enerateContent"):
            self.send(404, {"error": {"code": 404, "message": "not found"}})
        else:
            self._answer(path, body)

    def _answer(self, path: str, body: dict[str, Any]) -> None:
        kind = _kind(body)
        turn = self.model.take(GeminiRequest(kind=kind, session_id="", body=body))
        if turn.status != 200:
            problem = {"code": turn.status, "message": "scripted error"}
            self.refuse(turn, {"error": problem})
            return
        parts = [*_build_parts(turn, kind, _list_tools(body))]
        if ":stream" not in path:
            self.send(200, _build_answer(parts, turn))
            return
        # What comes before a stall has no end yet.
        opening = [_event(_build_chunk(parts))] if turn.stall else []
        rest = [] if turn.stall else parts
        self.stream(stall=turn.stall, opening=opening, closing=[_event(_build_answer(rest, turn))])


def _kind(body: dict[str, Any]) -> Kind:
    settings = body.get("generationConfig") or {}
    if settings.get("responseMimeType") == "application/json" or "responseJsonSchema" in settings:
        return "title"
    if _list_tools(body):
        return "main"
    return "compact" if "state_snapshot" in json.dumps(body) else "side"


def _text(content: Part) -> str:
    found = []
    for part in content.get("parts") or []:
        result = (part.get("functionResponse") or {}).get("response")
        arguments = (part.get("functionCall") or {}).get("args")
        found += [
            part.get("text"),
            result and json.dumps(result),
            arguments and json.dumps(arguments),
        ]
    return "\n".join(each for each in found if each)


def _list_tools(body: dict[str, Any]) -> set[str]:
    groups = [each.get("functionDeclarations") or [] for each in body.get("tools") or []]
    return {tool["name"] for group in groups for tool in group}


def _build_parts(turn: Turn, kind: Kind, offered: set[str]) -> Iterator[Part]:
    if kind == "title":
        yield {"text": json.dumps(_CHOICE)}
    elif kind == "compact":
        yield {"text": f"<state_snapshot>{SUMMARY}</state_snapshot>"}
    else:
        yield from ({"text": text} for text in turn.texts)
        yield from ({"functionCall": _build_call(tool, offered)} for tool in turn.tools)


def _build_call(tool: ToolCall, offered: set[str]) -> Part:
    """Return a call in the words of the tools that Gemini CLI offers."""
    if tool.name == "Bash":
        given = {"command": tool.input["command"], "description": "scripted command"}
        return {"name": "run_shell_command", "args": given}
    if tool.name.startswith(LEFTOFF_TOOL):
        return {"name": find_leftoff_tool(tool.name, offered), "args": tool.input}
    return {"name": "write_file" if tool.name == "Write" else tool.name, "args": tool.input}


def _build_chunk(parts: list[Part]) -> Part:
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"index": 0, "content": content}], "modelVersion": "fake"}


def _build_answer(parts: list[Part], turn: Turn) -> Part:
    content = {"role": "model", "parts": parts or [{"text": " "}]}
    used = {"promptTokenCount": turn.tokens - 20, "candidatesTokenCount": 20}
    return {
        "candidates": [{"index": 0, "finishReason": "STOP", "content": content}],
        "usageMetadata": {**used, "totalTokenCount": turn.tokens},
        "modelVersion": "fake",
    }


def _event(value: Part) -> bytes:
    return f"data: {json.dumps(value)}\r\n\r\n".encode()
