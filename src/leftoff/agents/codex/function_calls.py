"""Follow the tool calls of a Codex session from start to end."""

from typing import Any

import msgspec

from leftoff.agents.codex.call_output import CallOutput, read_output
from leftoff.agents.loose_values import (
    cut,
    decode_mapping,
    first_text,
    listing,
    mapping,
    remember,
    text,
)
from leftoff.agents.stream import Kind, SessionEvent, TodoList, ToolCall, ToolResult
from leftoff.agents.tool_calls import todo_items, tool_call, unwrap_command

_LONGEST = 300
_KINDS: dict[str, Kind] = {
    "exec_command": "run",
    "shell": "run",
    "shell_command": "run",
    "local_shell": "run",
    "container.exec": "run",
    "unified_exec": "run",
    "apply_patch": "edit",
    "exec": "edit",
    "view_image": "read",
    "read_file": "read",
    "list_dir": "search",
    "grep_files": "search",
    "web_search": "search",
    "spawn_agent": "agent",
}


class CodexCalls:
    """Tracks calls by id: open ones, seen ones, and processes that outlive their call."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._open: dict[str, dict[str, str]] = state.setdefault("open", {})
        self._known: dict[str, bool] = state.setdefault("known", {})
        self._running: dict[str, dict[str, str]] = state.setdefault("running", {})

    def read_start(self, payload: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle the start of a call."""
        name = text(payload.get("name"))
        # The tools of an MCP server are in a namespace, such as `mcp__leftoff`.
        space = text(payload.get("namespace"))
        name = f"{space}__{name}" if space.startswith("mcp__") else name
        arguments = _arguments(payload)
        call_id = first_text(payload, "call_id", "id")
        call = tool_call(call_id, name, _KINDS.get(name, "other"), arguments, at=at)
        process = ""
        # The call waits for a process that an earlier call started, so show that command.
        if name == "write_stdin":
            process = str(mapping(arguments).get("session_id"))
            what = self._running.get(process, {}).get("command", call.what)
            call = msgspec.structs.replace(call, what=what)
        remember(self._known, call_id, True)
        remember(self._open, call_id, {"command": cut(call.command, _LONGEST), "process": process})
        if name != "update_plan":
            return [call]
        return [call, TodoList(items=todo_items(mapping(arguments).get("plan"), "step"), at=at)]

    def read_shell_start(self, payload: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle the start of a call to the model's own shell tool."""
        return self.read_start(
            {**payload, "name": "local_shell", "arguments": payload.get("action")}, at
        )

    def read_end(self, payload: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle the end of a call, using the output that the model got."""
        call_id = text(payload.get("call_id"))
        # Another line already reported the end of this call.
        if call_id not in self._open and call_id in self._known:
            return []
        call = self._open.pop(call_id, {})
        output = read_output(payload.get("output"))
        if process := call.get("process"):
            return self._read_wait_end(call_id, process, output, at)
        if output.running:
            # The command still runs: its call ends when a later call reports that.
            running = {"call": call_id, "command": call.get("command", "")}
            remember(self._running, output.running, running)
            return []
        return [_result(call_id, output, at)]

    def _read_wait_end(
        self, call_id: str, process: str, output: CallOutput, at: str
    ) -> list[SessionEvent]:
        """Handle the end of a call that waited for a process, and of the call that started it."""
        if output.exited and (begun := self._running.pop(process, None)) is not None:
            return [ToolResult(id=call_id, ok=True, at=at), _result(begun["call"], output, at)]
        return [_result(call_id, output, at)]

    def read_search(self, payload: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle a web search, which the model runs on its own."""
        call_id = text(payload.get("id")) or f"web_search {at}"
        call = tool_call(call_id, "web_search", "search", payload.get("action"), at=at)
        return [call, ToolResult(id=call_id, ok=True, at=at)]

    def read_patch(self, payload: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle the list of files that a patch changed."""
        call_id = first_text(payload, "call_id", "id")
        changes = mapping(payload.get("changes"))
        moved = (text(mapping(change).get("move_path")) for change in changes.values())
        paths = (*changes, *(path for path in moved if path))
        status = text(payload.get("status"))
        done = ToolResult(
            id=call_id,
            ok=status == "completed" or payload.get("success") is True,
            output=text(payload.get("stderr")) or text(payload.get("stdout")),
            rejected="" if status == "declined" else None,
            paths=paths,
            at=at,
        )
        what = paths[0] if paths else ""
        call = ToolCall(
            id=call_id,
            tool="apply_patch",
            kind="edit",
            what=what,
            paths=paths,
            removed=tuple(path for path, change in changes.items() if _is_removed(mapping(change))),
            at=at,
        )
        return self._close_call(call, done)

    def read_hidden_run(self, payload: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle a command that the conversation does not show, such as one inside a script."""
        call_id = first_text(payload, "call_id", "id")
        if call_id in self._known:
            return []
        words = [text(word) for word in listing(payload.get("command"))]
        call = tool_call(
            call_id, "exec_command", "run", {"command": unwrap_command(words or [""])}, at=at
        )
        done = ToolResult(
            id=call_id,
            ok=payload.get("exit_code") == 0,
            output=text(payload.get("aggregated_output")),
            rejected="" if payload.get("status") == "declined" else None,
            at=at,
        )
        return self._close_call(call, done)

    def read_stop(self, _: dict[str, Any], at: str) -> list[SessionEvent]:
        """Handle an interruption by the user; nothing is pending after it."""
        ids = list(self._open)
        self._open.clear()
        return [ToolResult(id=call_id, ok=False, rejected="", at=at) for call_id in ids]

    def _close_call(self, call: ToolCall, done: ToolResult) -> list[SessionEvent]:
        known = done.id in self._known
        remember(self._known, done.id, True)
        # The line with the output follows and would end the call twice.
        self._open.pop(done.id, None)
        return [done] if known else [call, done]


def _is_removed(change: dict[str, Any]) -> bool:
    return text(change.get("type")) == "delete" or bool(text(change.get("move_path")))


def _result(call_id: str, output: CallOutput, at: str) -> ToolResult:
    return ToolResult(
        id=call_id,
        ok=output.ok,
        output=output.text,
        rejected=output.rejected,
        is_blocked=output.is_blocked,
        exit=output.code,
        at=at,
    )


def _arguments(payload: dict[str, Any]) -> Any:
    """Return a call's arguments; a custom tool's input is plain text."""
    if "input" in payload:
        return payload["input"]
    arguments = payload.get("arguments")
    return decode_mapping(arguments) or arguments
