"""Read Cursor sessions: messages as lines, without results, times or token counts.

A call counts as successful once the session continues after it.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.agent import Layout, no_document
from leftoff.agents.cursor.cursor_sessions import find_sessions, is_running, sub_sessions
from leftoff.agents.loose_values import listing, mapping, parts_text, text
from leftoff.agents.stream import (
    AssistantText,
    Kind,
    Place,
    SessionEvent,
    TodoChange,
    TodoList,
    ToolResult,
    UserText,
)
from leftoff.agents.tool_calls import todo_items, todo_status, tool_call

__all__ = [
    "find_sessions",
    "is_running",
    "new_reader",
    "read_document",
    "recognises",
    "sub_sessions",
]

_KINDS: dict[str, Kind] = {
    "shell": "run",
    "runterminalcmd": "run",
    "write": "edit",
    "strreplace": "edit",
    "searchreplace": "edit",
    "editfile": "edit",
    "editnotebook": "edit",
    "applypatch": "edit",
    "delete": "edit",
    "deletefile": "edit",
    "read": "read",
    "readfile": "read",
    "grep": "search",
    "glob": "search",
    "semanticsearch": "search",
    "codebasesearch": "search",
    "websearch": "search",
    "webfetch": "search",
    "task": "agent",
}
# Cursor writes this in place of the agent's reasoning.
_HIDDEN = "[REDACTED]"
_ASKED = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_ADDED = re.compile(r"\A\s*<(\w+)[^>]*>.*?</\1>\s*", re.DOTALL)
_FOLDER = re.compile(r"^Workspace Path: ([^\n]+)", re.MULTILINE)
_MESSAGE = re.compile(
    rb'^\{\s*"role"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:\s*\{', re.MULTILINE
)

read_document = no_document


class CursorReader:
    """Turns the messages of one conversation into events."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self._open: list[str] = state.setdefault("open", [])

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        """Return the events of this message, and the ends of the calls before it."""
        record = mapping(msgspec.json.decode(line))
        content = mapping(record.get("message")).get("content")
        if record.get("type") == "turn_ended":
            return self._end_turn(text(record.get("status")))
        if record.get("role") not in ("user", "assistant"):
            return ()
        parts = [mapping(part) for part in listing(content)]
        events = [*self._results(parts), *self._close_calls()]
        words = parts_text(content, "text").replace(_HIDDEN, "").strip()
        if record["role"] == "user":
            return [*events, *_user(words)]
        if words:
            events.append(AssistantText(text=words))
        for part in parts:
            if part.get("type") == "tool_use":
                events.extend(self._call(part))
        return events

    def _results(self, parts: list[dict[str, Any]]) -> list[SessionEvent]:
        events: list[SessionEvent] = []
        for part in parts:
            call_id = text(part.get("tool_use_id"))
            if part.get("type") == "tool_result" and call_id in self._open:
                self._open.remove(call_id)
                output = parts_text(part.get("content"))
                ok = part.get("is_error") is not True
                events.append(ToolResult(id=call_id, ok=ok, output=output))
        return events

    def _close_calls(self) -> list[SessionEvent]:
        # Most versions write no results, so a new message is the only sign that a call ended.
        ended: list[SessionEvent] = [
            ToolResult(id=call_id, ok=True, is_assumed=True) for call_id in self._open
        ]
        self._open.clear()
        return ended

    def _end_turn(self, status: str) -> list[SessionEvent]:
        """End the open calls: nothing is under way after a turn, and nobody waits for it."""
        if status == "success":
            return self._close_calls()
        stopped: list[SessionEvent] = [
            ToolResult(id=call_id, ok=False, rejected="") for call_id in self._open
        ]
        self._open.clear()
        return stopped

    def _call(self, part: dict[str, Any]) -> list[SessionEvent]:
        number = self.state["calls"] = self.state.get("calls", 0) + 1
        call_id = text(part.get("id")) or f"call-{number}"
        name, given = text(part.get("name")), part.get("input")
        self._open.append(call_id)
        # Versions spell the same tool differently: `read_file`, `ReadFile`.
        plain = name.replace("_", "").lower()
        call = tool_call(call_id, name, _KINDS.get(plain, "other"), given)
        return [call, *_todos(mapping(given))] if plain == "todowrite" else [call]


def recognises(head: bytes, path: Path) -> Layout | None:  # noqa: ARG001
    """Recognize a conversation by the shape of its messages."""
    return "lines" if _MESSAGE.search(head) else None


def new_reader(state: dict[str, Any]) -> CursorReader:
    """Create a reader for one conversation."""
    return CursorReader(state)


def _user(words: str) -> list[SessionEvent]:
    asked = _ASKED.findall(words)
    typed = "\n".join(asked) if asked else _without_added(words)
    events: list[SessionEvent] = [UserText(text=typed)] if typed else []
    folder = _FOLDER.search(words)
    return [Place(cwd=folder[1].strip()), *events] if folder else events


def _without_added(words: str) -> str:
    while added := _ADDED.match(words):
        words = words[added.end() :]
    return words.strip()


def _todos(given: dict[str, Any]) -> list[SessionEvent]:
    entries = listing(given.get("todos"))
    if given.get("merge") is not True:
        return [TodoList(items=todo_items(entries, "content"))]
    changes: list[SessionEvent] = []
    for entry in map(mapping, entries):
        status = todo_status(entry) if entry.get("status") else ""
        words = text(entry.get("content"))
        changes.append(TodoChange(id=text(entry.get("id")), text=words, status=status))
    return changes
