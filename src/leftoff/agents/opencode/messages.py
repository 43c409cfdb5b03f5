"""Turn the messages of an opencode session into events."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from leftoff.agents.loose_values import count, first_text, instant, listing, mapping, text
from leftoff.agents.opencode.opencode_dialect import unquote
from leftoff.agents.stream import (
    AgentThought,
    AssistantText,
    Compaction,
    Kind,
    Place,
    PlanSeen,
    PromptQueued,
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

_KINDS: dict[str, Kind] = {
    "bash": "run",
    "shell": "run",
    "write": "edit",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "read": "read",
    "list": "search",
    "glob": "search",
    "grep": "search",
    "codesearch": "search",
    "websearch": "search",
    "webfetch": "search",
    "task": "agent",
}
_REFUSED = "The user rejected permission to use this specific tool call"
_SOONEST_ANSWER_MS = 150
_NOT_ANSWERED = ("Tool execution aborted", "The user dismissed this question")
# The output of a command that the user stopped with Esc, which has no exit status.
_ABORTED = re.compile(r"\nUser aborted the command\n</\w+>\s*\Z")
# What opencode writes for a command that printed nothing.
_NO_OUTPUT = "(no output)"
_FEEDBACK = " with the following feedback: "
_DEEPEST = 4
# Plugins write to the agent as if they were the user.
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_NOTICES = ("[SYSTEM ", "[BACKGROUND TASK")
_PLAN = re.compile(r"[/\\]\.?opencode[/\\]plans?[/\\][^/\\]+\.md$")


class Session(msgspec.Struct, frozen=True):
    """A session's own record and its messages, oldest first."""

    info: dict[str, Any]
    messages: list[dict[str, Any]]


Find = Callable[[str], Session | None]


def read_session(session: Session, find: Find, *, depth: int = 0) -> Iterator[SessionEvent]:
    """Yield the events of a session; `find` loads a sub-agent's session by its id."""
    event: dict[str, Any] = {"sidechain": depth > 0}
    cwd = text(session.info.get("directory"))
    if not depth:
        version = text(session.info.get("version"))
        yield SessionInfo(session_id=_session_id(session), agent_version=version)
        if cwd:
            yield Place(cwd=cwd)
    messages = [*_skip_undone(session)]
    taken = len(messages) - _count_queued(messages)
    for number, message in enumerate(messages):
        info = mapping(message.get("info"))
        event["at"] = instant(mapping(info.get("time")).get("created"))
        here = text(mapping(info.get("path")).get("cwd"))
        if here and here != cwd and not depth:
            cwd = here
            yield Place(cwd=cwd, **event)
        yield from _read_message(info, message, event, is_queued=number >= taken)
        # A damaged database could link sessions in a circle.
        if depth < _DEEPEST:
            for child in _children(message):
                if (found := find(child)) is not None:
                    yield from read_session(found, find, depth=depth + 1)


def _session_id(session: Session) -> str:
    if found := text(session.info.get("id")):
        return found
    infos = (mapping(message.get("info")) for message in session.messages)
    return next((found for info in infos if (found := text(info.get("sessionID")))), "")


def _skip_undone(session: Session) -> Iterator[dict[str, Any]]:
    """Skip messages that the user has undone."""
    undone = text(mapping(session.info.get("revert")).get("messageID"))
    for message in session.messages:
        if undone and mapping(message.get("info")).get("id") == undone:
            return
        yield message


def _count_queued(messages: Sequence[dict[str, Any]]) -> int:
    """Count the prompts at the end, which wait because the answer before them has not ended."""
    infos = [mapping(message.get("info")) for message in reversed(messages)]
    number = next((n for n, info in enumerate(infos) if info.get("role") != "user"), 0)
    moments = mapping(infos[number].get("time")) if number else {}
    # Without an error: opencode also ends an answer with one.
    is_open = bool(moments.get("created")) and not moments.get("completed")
    return number if is_open and not infos[number].get("error") else 0


def _children(message: dict[str, Any]) -> list[str]:
    parts = (mapping(part) for part in listing(message.get("parts")))
    states = (mapping(part.get("state")) for part in parts if part.get("tool") == "task")
    found = (mapping(state.get("metadata")) for state in states)
    return [
        child for metadata in found if (child := first_text(metadata, "sessionId", "sessionID"))
    ]


def _read_message(
    info: dict[str, Any], message: dict[str, Any], event: dict[str, Any], *, is_queued: bool
) -> Iterator[SessionEvent]:
    parts = [mapping(part) for part in listing(message.get("parts"))]
    words = "\n".join(_words(part) for part in parts if _words(part))
    if info.get("role") == "user":
        typed = _REMINDER.sub("", words).strip() or _find_subtask(parts)
        if typed and not typed.startswith(_NOTICES):
            yield (PromptQueued if is_queued else UserText)(text=unquote(typed), **event)
        return
    if info.get("summary") is True:
        yield Compaction(summary=words, **event)
        return
    for part in parts:
        if said := _words(part):
            yield AssistantText(text=said, ends_turn=info.get("finish") == "stop", **event)
        if part.get("type") == "reasoning" and (thought := text(part.get("text")).strip()):
            yield AgentThought(text=thought, **event)
        if part.get("type") == "tool":
            yield from _tool(part, event)
    yield from _usage(info, event)
    if error := first_text(mapping(mapping(info.get("error")).get("data")), "message"):
        yield TurnFailed(error=error, **event)


def _words(part: dict[str, Any]) -> str:
    # opencode marks text that it adds itself.
    added = part.get("synthetic") is True or part.get("ignored") is True
    return text(part.get("text")).strip() if part.get("type") == "text" and not added else ""


def _find_subtask(parts: list[dict[str, Any]]) -> str:
    """Return a command's request to a sub-agent; such a message has no text of its own."""
    asked = (part for part in parts if part.get("type") == "subtask")
    return next((_name_command(part) for part in asked), "")


def _name_command(part: dict[str, Any]) -> str:
    """Return what the user typed; the prompt is a template that opencode filled in."""
    if command := text(part.get("command")):
        return f"/{command} {text(part.get('description'))}".strip()
    return first_text(part, "prompt", "description").strip()


def _tool(part: dict[str, Any], event: dict[str, Any]) -> Iterator[SessionEvent]:
    call_id = first_text(part, "callID", "id")
    tool = text(part.get("tool"))
    state = mapping(part.get("state"))
    given = mapping(state.get("input"))
    call = tool_call(call_id, tool, _KINDS.get(tool, "other"), given, **event)
    yield call
    if call.kind == "edit" and _PLAN.search(call.what):
        yield PlanSeen(path=call.what, text=text(given.get("content")), **event)
    if state.get("status") not in ("completed", "error"):
        return
    result = _result(call, state, event)
    yield result
    if tool == "todowrite" and result.ok:
        yield TodoList(items=todo_items(given.get("todos"), "content"), **event)


def _result(call: ToolCall, state: dict[str, Any], event: dict[str, Any]) -> ToolResult:
    metadata = mapping(state.get("metadata"))
    error, output = text(state.get("error")), text(state.get("output"))
    if output == _NO_OUTPUT:
        output = ""
    # The status of a killed command is null.
    failed = state.get("status") == "error" or metadata.get("exit", 0) != 0
    is_blocked = error.startswith(_REFUSED) and _is_instant(mapping(state.get("time")))
    return ToolResult(
        id=call.id,
        ok=not failed,
        output=error or output,
        rejected=None
        if is_blocked
        else (_refusal(error) if error or not failed else _read_abortion(output)),
        is_blocked=is_blocked,
        paths=tuple(_paths(metadata)) if call.kind == "edit" and not failed else (),
        exit=count(metadata.get("exit")) if isinstance(metadata.get("exit"), int) else None,
        **event,
    )


def _is_instant(time: dict[str, Any]) -> bool:
    """Return whether a call was rejected sooner than a person can answer.

    `opencode run` rejects what needs permission, with the words for a user's refusal.
    """
    start, end = time.get("start"), time.get("end")
    if not (isinstance(start, int) and isinstance(end, int)):
        return False
    return 0 <= end - start < _SOONEST_ANSWER_MS


def _refusal(error: str) -> str | None:
    if error.startswith(_REFUSED):
        return error.partition(_FEEDBACK)[2]
    return "" if error in _NOT_ANSWERED else None


def _read_abortion(output: str) -> str | None:
    return "" if _ABORTED.search(output) else None


def _paths(metadata: dict[str, Any]) -> Iterator[str]:
    if path := first_text(metadata, "filepath", "filePath"):
        yield path
    for file in map(mapping, listing(metadata.get("files"))):
        for key in ("filePath", "movePath"):
            if path := text(file.get(key)):
                yield path


def _usage(info: dict[str, Any], event: dict[str, Any]) -> Iterator[SessionEvent]:
    tokens = mapping(info.get("tokens"))
    cache = mapping(tokens.get("cache"))
    # Some records have no total.
    total = count(tokens.get("total")) or sum(
        count(value)
        for value in (
            tokens.get("input"),
            tokens.get("output"),
            tokens.get("reasoning"),
            cache.get("read"),
            cache.get("write"),
        )
    )
    if total:
        yield Usage(tokens=total, model=text(info.get("modelID")), **event)
