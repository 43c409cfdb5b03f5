"""Follow the tool calls of a Copilot CLI session from start to end."""

import re
from typing import Any

import msgspec

from leftoff.agents.copilot.todo_table import checklist, replay
from leftoff.agents.loose_values import (
    cut,
    decode_mapping,
    first_text,
    listing,
    mapping,
    remember,
    text,
)
from leftoff.agents.stream import Kind, PlanSeen, SessionEvent, TodoList, ToolCall, ToolResult
from leftoff.agents.tool_calls import tool_call

_TAIL = 500
_LONGEST = 300
_LONGEST_QUERY = 20_000
_KINDS: dict[str, Kind] = {
    "bash": "run",
    "powershell": "run",
    "shell": "run",
    "local_shell": "run",
    "create": "edit",
    "edit": "edit",
    "apply_patch": "edit",
    "str_replace_editor": "edit",
    "view": "read",
    "grep": "search",
    "rg": "search",
    "glob": "search",
    "web_search": "search",
    "web_fetch": "search",
    "task": "agent",
}
_WAITING = ("read_bash", "write_bash", "read_powershell", "write_powershell")
_STOPPING = ("stop_bash", "stop_powershell")
_EXIT = re.compile(r"exit(?:ed with exit)? code:? (-?\d+)>?\s*\Z")
_END_MARK = re.compile(r"\s*<(?:shellId: \S+ completed|exited) with exit code -?\d+>\s*\Z")
_RUNNING = re.compile(
    r"<command (?:started in background )?with shellId: ([^\s>]+)"
    r"(?:>| is still running| is running| moved to)"
)
_REFUSED = ("rejected", "denied")

Arguments = dict[str, Any]


class CopilotCalls:
    """Tracks calls by id, shells that outlive their call, and the todo table."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state
        self._open: dict[str, dict[str, str]] = state.setdefault("open", {})
        self._shells: dict[str, dict[str, str]] = state.setdefault("shells", {})
        self._refusals: dict[str, str] = state.setdefault("refusals", {})

    def read_start(self, data: dict[str, Any], event: dict[str, Any]) -> list[SessionEvent]:
        """Handle the start of a call."""
        call_id, tool = text(data.get("toolCallId")), text(data.get("toolName"))
        given = data.get("arguments")
        arguments = decode_mapping(given)
        shell = str(arguments.get("shellId", ""))
        call = tool_call(call_id, tool, _kind(tool, arguments), arguments or given, **event)
        if tool in _WAITING and shell in self._shells:
            call = msgspec.structs.replace(call, what=self._shells[shell]["command"])
        known = {
            "tool": tool,
            "command": cut(call.command, _LONGEST),
            "shell": shell,
            "query": cut(first_text(arguments, "query", "todos"), _LONGEST_QUERY),
        }
        remember(self._open, call_id, known)
        return [call, *_plan(call, arguments, event)]

    def read_end(self, data: dict[str, Any], event: dict[str, Any]) -> list[SessionEvent]:
        """Handle the end of a call."""
        call_id = text(data.get("toolCallId"))
        call = self._open.pop(call_id, {})
        output = _output(data)
        if call.get("command") and (running := _RUNNING.search(output[-_TAIL:])):
            # The command still runs: its call ends when its shell is read, stopped or done.
            shell = {"call": call_id, "command": call["command"]}
            remember(self._shells, running[1], shell)
            return []
        if call.get("tool") in (*_WAITING, *_STOPPING):
            return self._read_wait_end(call_id, call, data, event)
        result = ToolResult(
            id=call_id,
            ok=_went_well(data, output),
            output=_strip_mark(output),
            rejected=self._refusal(call_id, data),
            paths=tuple(_list_edited_paths(data)),
            exit=_whole(_exit_code(data, output)),
            **event,
        )
        return [result, *self._todos(call, event)] if result.ok else [result]

    def _read_wait_end(
        self, call_id: str, call: dict[str, str], data: dict[str, Any], event: dict[str, Any]
    ) -> list[SessionEvent]:
        """Handle the end of a call about a shell, and of the call that started the shell."""
        output = _output(data)
        ok = data.get("success") is not False
        stopped = call["tool"] in _STOPPING and ok
        exited = _exit_code(data, output)
        if (exited is None and not stopped) or call["shell"] not in self._shells:
            return [ToolResult(id=call_id, ok=ok, output=output, **event)]
        begun = self._shells.pop(call["shell"])
        # The output of a stop command is not the output of the stopped shell.
        said = "" if stopped else _strip_mark(output)
        return [
            ToolResult(id=call_id, ok=ok, **event),
            ToolResult(id=begun["call"], ok=exited == 0, output=said, exit=_whole(exited), **event),
        ]

    def read_notification(self, data: dict[str, Any], event: dict[str, Any]) -> list[SessionEvent]:
        """Handle a shell that ended successfully; the agent itself reads a failed one."""
        kind = mapping(data.get("kind"))
        shell = str(kind.get("shellId", ""))
        if kind.get("exitCode") != 0 or shell not in self._shells:
            return []
        return [ToolResult(id=self._shells.pop(shell)["call"], ok=True, **event)]

    def read_permission(self, data: dict[str, Any], _: dict[str, Any]) -> list[SessionEvent]:
        """Handle the user's decision on a call; the reason for a refusal is added to its end."""
        result = mapping(data.get("result"))
        if text(result.get("kind")).startswith("denied-interactively"):
            remember(self._refusals, text(data.get("toolCallId")), text(result.get("feedback")))
        return []

    def read_stop(self, _: dict[str, Any], event: dict[str, Any]) -> list[SessionEvent]:
        """Handle an interruption by the user; nothing is pending after it."""
        ids = list(self._open)
        self._open.clear()
        return [ToolResult(id=call_id, ok=False, rejected="", **event) for call_id in ids]

    def _refusal(self, call_id: str, data: dict[str, Any]) -> str | None:
        reason = self._refusals.pop(call_id, None)
        if reason is None and mapping(data.get("error")).get("code") in _REFUSED:
            return ""
        return reason

    def _todos(self, call: dict[str, str], event: dict[str, Any]) -> list[SessionEvent]:
        if call.get("tool") == "update_todo":
            return [TodoList(items=checklist(call["query"]), **event)]
        if call.get("tool") != "sql" or "todos" not in call["query"]:
            return []
        rows = replay(listing(self._state.get("todos")), call["query"])
        if rows is None:
            return []
        self._state["todos"] = rows.rows
        return [TodoList(items=rows.items, **event)]


def _kind(tool: str, arguments: Arguments) -> Kind:
    if tool == "str_replace_editor" and arguments.get("command") == "view":
        return "read"
    return _KINDS.get(tool, "other")


def _strip_mark(output: str) -> str:
    """Remove the line with which Copilot ends the output of a command."""
    end = _END_MARK.search(output, max(0, len(output) - _TAIL))
    return output[: end.start()] if end else output


def _output(data: dict[str, Any]) -> str:
    content = text(mapping(data.get("result")).get("content"))
    return content or text(mapping(data.get("error")).get("message"))


def _exit_code(data: dict[str, Any], output: str) -> Any:
    code = mapping(data.get("shellExecution")).get("exitCode", data.get("exitCode"))
    if code is None and (found := _EXIT.search(output[-_TAIL:])):
        return int(found[1])
    return code


def _whole(code: Any) -> int | None:
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _went_well(data: dict[str, Any], output: str) -> bool:
    code = _exit_code(data, output)
    return bool(code == 0) if code is not None else data.get("success") is not False


def _list_edited_paths(data: dict[str, Any]) -> list[str]:
    edits = map(mapping, listing(data.get("fileEdits")))
    return [path for edit in edits if (path := text(edit.get("path")))]


def _plan(call: ToolCall, arguments: Arguments, event: dict[str, Any]) -> list[SessionEvent]:
    if call.tool == "exit_plan_mode":
        return [PlanSeen(text=first_text(arguments, "plan", "summary", "planContent"), **event)]
    path = call.paths[0] if call.kind == "edit" and call.paths else ""
    if "session-state" in path and path.endswith("plan.md"):
        return [PlanSeen(path=path, text=text(arguments.get("file_text")), **event)]
    return []
