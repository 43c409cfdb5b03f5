"""Read Gemini CLI sessions: one JSON document, or, in newer versions, lines that patch one.

In the line layout a message is written again whenever it grows, `$set` can replace all messages,
and `$rewindTo` drops the last ones. Each event is reported only once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import msgspec

from leftoff.agents.agent import Layout
from leftoff.agents.gemini.gemini_sessions import find_sessions, is_running, sub_sessions
from leftoff.agents.loose_values import (
    count,
    first_text,
    listing,
    mapping,
    parts_text,
    read_json,
    remember,
    text,
)
from leftoff.agents.stream import (
    AgentThought,
    AssistantText,
    Compaction,
    Kind,
    Place,
    PlanSeen,
    SessionEvent,
    SessionInfo,
    TodoList,
    ToolCall,
    ToolResult,
    TurnFailed,
    Usage,
    UserText,
)
from leftoff.agents.tool_calls import todo_items, tool_call
from leftoff.digests import sha256

__all__ = [
    "find_sessions",
    "is_running",
    "new_reader",
    "read_document",
    "recognises",
    "sub_sessions",
]

_KINDS: dict[str, Kind] = {
    "run_shell_command": "run",
    "write_file": "edit",
    "replace": "edit",
    "edit": "edit",
    "read_file": "read",
    "read_many_files": "read",
    "list_directory": "search",
    "glob": "search",
    "grep_search": "search",
    "search_file_content": "search",
    "google_web_search": "search",
    "web_fetch": "search",
    "delegate_to_agent": "agent",
    "codebase_investigator": "agent",
    "generalist": "agent",
}
_ANSWER = re.compile(rb'"type"\s*:\s*"gemini"')
_ENDED = ("success", "error", "cancelled")
_MESSAGE = re.compile(r'\{\s*"id"\s*:')
_HOOK = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)
_SNAPSHOT = "<state_snapshot>"
_REFERENCED = "\n--- Content from referenced files ---"
_COMMAND = re.compile(r"[/?][\w:-]*(?:\s|$)")
_FOLDER = re.compile(
    r"(?:Workspace Directories:\*\*\s*-|working in the (?:following )?director(?:y|ies):\s*-?)"
    r" *([^\n]+)"
)
_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_SHELL_HEAD = re.compile(
    r"\A(?:<untrusted_context>\s*)?Command: .*?\nDirectory: [^\n]*\n", re.DOTALL
)
_SHELL_START = re.compile(r"(?:<untrusted_context>\s*)?Output: ")
_SHELL_FIELD = re.compile(
    r"^(?:Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*\n?"
    r"|^(?:Output|Error|Stdout|Stderr): (?:\((?:none|empty)\)\n?)?"
    r"|^</?untrusted_context>\n?",
    re.MULTILINE,
)


class GeminiReader:
    """Turns messages into events, each reported once however often it is written."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self._reported: dict[str, list[str]] = state.setdefault("told", {})

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        """Return the events of this line that were not reported before."""
        record = mapping(msgspec.json.decode(line))
        if "type" in record and "id" in record:
            return list(self.message(record))
        patch = mapping(record.get("$set"))
        if patch and self._reported and (summary := self._pass_compression(patch)):
            return [summary]
        return self.document(patch or record)

    def _pass_compression(self, patch: dict[str, Any]) -> Compaction | None:
        """Return the summary that replaces the conversation; the rest repeats known messages."""
        messages = [mapping(one) for one in listing(patch.get("messages"))]
        new = [one for one in messages if text(one.get("id")) not in self._reported]
        found = [one for one in new if _SNAPSHOT in parts_text(one.get("content"))]
        if not found:
            return None
        # The messages that were kept have new ids.
        for message_id in filter(None, (text(one.get("id")) for one in new)):
            remember(self._reported, message_id, ["text", "thoughts", "tokens"])
        summary = parts_text(found[-1].get("content"))
        return Compaction(summary=summary, at=text(found[-1].get("timestamp")))

    def document(self, record: dict[str, Any]) -> list[SessionEvent]:
        """Return the events of a session's fields, including any messages in them."""
        events: list[SessionEvent] = []
        if session_id := text(record.get("sessionId")):
            at = text(record.get("startTime"))
            events.append(SessionInfo(session_id=session_id, at=at))
            self.state["project"] = text(record.get("projectHash"))
        if folders := [text(folder) for folder in listing(record.get("directories"))]:
            events.append(Place(cwd=folders[0]))
        for message in self._not_passed([mapping(one) for one in listing(record.get("messages"))]):
            events.extend(self.message(message))
        return events

    def _not_passed(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Skip everything before the last message that was already reported."""
        known = [n for n, one in enumerate(messages) if text(one.get("id")) in self._reported]
        return messages[known[-1] :] if known else messages

    def message(self, message: dict[str, Any]) -> Iterator[SessionEvent]:
        """Yield the events of a message; for a repeated one, only what was added."""
        message_id, at = text(message.get("id")), text(message.get("timestamp"))
        reported = self._reported.get(message_id) if message_id else None
        if reported is None:
            reported = []
            if message_id:
                remember(self._reported, message_id, reported)
            if message.get("type") == "user":
                yield from _user(message, at)
            elif message.get("type") == "error":
                yield TurnFailed(error=parts_text(message.get("content")), at=at)
        if message.get("type") == "gemini":
            yield from self._answer(message, reported, at)

    def _answer(
        self, message: dict[str, Any], reported: list[str], at: str
    ) -> Iterator[SessionEvent]:
        thoughts = [mapping(each) for each in listing(message.get("thoughts"))]
        if thoughts and "thoughts" not in reported:
            reported.append("thoughts")
            last = thoughts[-1]
            yield AgentThought(text=f"{last.get('subject')}: {last.get('description')}", at=at)
        words = parts_text(message.get("content"))
        if words.strip() and "text" not in reported:
            reported.append("text")
            yield AssistantText(text=words, at=at)
        tokens = mapping(message.get("tokens"))
        total = count(tokens.get("total")) or count(tokens.get("input"))
        if total and "tokens" not in reported:
            reported.append("tokens")
            yield Usage(tokens=total, model=text(message.get("model")), at=at)
        for call in map(mapping, listing(message.get("toolCalls"))):
            for event in _call(call, reported):
                paths = event.paths if isinstance(event, ToolCall | ToolResult) else ()
                if folder := self._find_project(paths):
                    yield Place(cwd=folder, at=at)
                yield event

    def _find_project(self, paths: Sequence[str]) -> str:
        """Return the project's folder once a path is below it: a session names only its hash."""
        wanted = text(self.state.get("project"))
        for path in paths if wanted else ():
            kind = PureWindowsPath if path[1:2] == ":" else PurePosixPath
            for folder in map(str, kind(path).parents):
                if sha256(folder.encode("utf-8", "replace")).hexdigest() == wanted:
                    self.state["project"] = ""
                    return folder
        return ""


def recognises(head: bytes, path: Path) -> Layout | None:  # noqa: ARG001
    """Recognize a session by its fields or answers; lines begin with a complete object."""
    if not head.lstrip().startswith(b"{"):
        return None
    if not (_ANSWER.search(head) or (b'"sessionId"' in head and b'"projectHash"' in head)):
        return None
    try:
        first = mapping(msgspec.json.decode(head.lstrip().split(b"\n", 1)[0]))
    except (ValueError, RecursionError):
        return "document"
    return "document" if listing(first.get("messages")) else "lines"


def new_reader(state: dict[str, Any]) -> GeminiReader:
    """Create a reader for a session stored as lines."""
    return GeminiReader(state)


def read_document(path: Path, session_id: str) -> Iterable[SessionEvent]:  # noqa: ARG001
    """Read a session stored as one document, or the readable part of a damaged one."""
    found = read_json(path.read_bytes(), _MESSAGE)
    reader = GeminiReader({})
    return reader.document(found if isinstance(found, dict) else {"messages": found})


def _user(message: dict[str, Any], at: str) -> Iterator[SessionEvent]:
    words = parts_text(message.get("content"))
    if words.startswith(("<session_context>", "This is the Gemini CLI.")):
        if folder := _FOLDER.search(words):
            yield Place(cwd=folder[1].strip(), at=at)
        return
    # After a compaction the summary is stored as a message of the user.
    if _SNAPSHOT in words:
        yield Compaction(summary=words, at=at)
        return
    shown = parts_text(message.get("displayContent")) or words
    # The CLI appends the content of files that the user mentioned with @.
    typed = _HOOK.sub("", shown).partition(_REFERENCED)[0].strip()
    if typed and not _COMMAND.match(typed) and typed != "System: Please continue.":
        yield UserText(text=typed, at=at)


def _call(call: dict[str, Any], reported: list[str]) -> Iterator[SessionEvent]:
    call_id, name = text(call.get("id")), text(call.get("name"))
    at, arguments = text(call.get("timestamp")), mapping(call.get("args"))
    # `+` marks a call that was reported, `-` its end.
    if f"+{call_id}" not in reported:
        reported.append(f"+{call_id}")
        yield tool_call(call_id, name, _KINDS.get(name, "other"), arguments, at=at)
        if name == "exit_plan_mode":
            yield PlanSeen(path=first_text(arguments, "plan_path", "plan_filename"), at=at)
    if call.get("status") not in _ENDED or f"-{call_id}" in reported:
        return
    reported.append(f"-{call_id}")
    result = _result(call, call_id, at)
    yield result
    if name == "write_todos" and result.ok:
        yield TodoList(items=todo_items(arguments.get("todos"), "description"), at=at)


def _result(call: dict[str, Any], call_id: str, at: str) -> ToolResult:
    output = _output(call)
    # The output may quote such a line; the command's own is the last one.
    codes = _EXIT.findall(output) if call.get("name") == "run_shell_command" else []
    status = call.get("status")
    if codes or _SHELL_START.match(output):
        output = _SHELL_FIELD.sub("", _SHELL_HEAD.sub("", output)).strip()
    display = mapping(call.get("resultDisplay"))
    return ToolResult(
        id=call_id,
        ok=status == "success" and (not codes or codes[-1] == "0"),
        output=output,
        rejected="" if status == "cancelled" else None,
        paths=tuple(path for path in (text(display.get("filePath")),) if path),
        exit=int(codes[-1]) if codes else None,
        at=at,
    )


def _output(call: dict[str, Any]) -> str:
    found = []
    for part in map(mapping, listing(call.get("result"))):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        found.append(first_text(response, "output", "error") or text(part.get("text")))
    return "\n".join(words for words in found if words) or text(call.get("resultDisplay"))
