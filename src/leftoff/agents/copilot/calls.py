"""The calls of a Copilot CLI session, from their beginning to their end."""

import re
from typing import Any

from leftoff.agents.copilot.todos import checklist, replay
from leftoff.agents.stream import Event, Kind, PlanSeen, TodoList, ToolCall, ToolResult
from leftoff.agents.tools import tool_call
from leftoff.agents.values import decoded, first_text, listing, mapping, remember, text

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
_EXIT = re.compile(r"exit(?:ed with exit)? code:? (-?\d+)>?\s*\Z")
_SHELL = re.compile(r"shellId:? ?\"?([\w-]+)")
_REFUSED = ("rejected", "denied")

Arguments = dict[str, Any]


class Calls:
    """Follows calls by their ids, shells by theirs, and the todo table."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state
        self._open: dict[str, dict[str, str]] = state.setdefault("open", {})
        self._shells: dict[str, str] = state.setdefault("shells", {})
        self._refusals: dict[str, str] = state.setdefault("refusals", {})

    def began(self, data: dict[str, Any], event: dict[str, Any]) -> list[Event]:
        """Read the beginning of a call."""
        call_id, tool = text(data.get("toolCallId")), text(data.get("toolName"))
        given = data.get("arguments")
        arguments = decoded(given)
        call = self._described(call_id, tool, arguments or given, event)
        remember(
            self._open,
            call_id,
            {
                "tool": tool,
                "command": call.command,
                "shell": str(arguments.get("shellId", "")),
                "query": first_text(arguments, "query", "todos")[:20_000],
            },
        )
        return [call, *_plan(call, arguments, event)]

    def ended(self, data: dict[str, Any], event: dict[str, Any]) -> list[Event]:
        """Read the end of a call."""
        call_id = text(data.get("toolCallId"))
        call = self._open.pop(call_id, {})
        error = mapping(data.get("error"))
        output = text(mapping(data.get("result")).get("content")) or text(error.get("message"))
        self._note_shell(call, output)
        rejected = self._refusals.pop(call_id, None)
        if rejected is None and error.get("code") in _REFUSED:
            rejected = ""
        result = ToolResult(
            id=call_id,
            ok=_went_well(data, call, output),
            output=output,
            rejected=rejected,
            paths=tuple(_edited(data)),
            **event,
        )
        return [result, *self._todos(call, event)] if result.ok else [result]

    def decided(self, data: dict[str, Any], _: dict[str, Any]) -> list[Event]:
        """Read whether the user allowed a call; the reason for a refusal goes with its end."""
        result = mapping(data.get("result"))
        if text(result.get("kind")).startswith("denied-interactively"):
            remember(self._refusals, text(data.get("toolCallId")), text(result.get("feedback")))
        return []

    def stopped(self, _: dict[str, Any], event: dict[str, Any]) -> list[Event]:
        """Read that the user stopped the turn; what was under way is no longer."""
        ids = list(self._open)
        self._open.clear()
        return [ToolResult(id=call_id, ok=False, rejected="", **event) for call_id in ids]

    def _described(
        self, call_id: str, tool: str, arguments: Any, event: dict[str, Any]
    ) -> ToolCall:
        values = mapping(arguments)
        if tool in _WAITING:
            command = self._shells.get(str(values.get("shellId")), "")
            what = {"command": command} if command else arguments
            return tool_call(call_id, tool, "run" if command else "other", what, **event)
        kind = _KINDS.get(tool, "other")
        if tool == "str_replace_editor" and values.get("command") == "view":
            kind = "read"
        return tool_call(call_id, tool, kind, arguments, **event)

    def _note_shell(self, call: dict[str, str], output: str) -> None:
        if not call.get("command") or call["tool"] in _WAITING:
            return
        found = _SHELL.search(output[-500:])
        if shell := call["shell"] or (found[1] if found else ""):
            remember(self._shells, shell, call["command"])

    def _todos(self, call: dict[str, str], event: dict[str, Any]) -> list[Event]:
        if call.get("tool") == "update_todo":
            return [TodoList(items=checklist(call["query"]), **event)]
        if call.get("tool") != "sql" or "todos" not in call["query"]:
            return []
        rows = replay(listing(self._state.get("todos")), call["query"])
        if rows is None:
            return []
        self._state["todos"] = rows.rows
        return [TodoList(items=rows.items, **event)]


def _went_well(data: dict[str, Any], call: dict[str, str], output: str) -> bool:
    code = mapping(data.get("shellExecution")).get("exitCode", data.get("exitCode"))
    if code is None and (found := _EXIT.search(output[-200:])):
        code = int(found[1])
    if code is not None:
        return bool(code == 0)
    # That a shell could not be read says nothing of the command in it.
    return data.get("success") is not False or call.get("tool") in _WAITING


def _edited(data: dict[str, Any]) -> list[str]:
    edits = map(mapping, listing(data.get("fileEdits")))
    return [path for edit in edits if (path := text(edit.get("path")))]


def _plan(call: ToolCall, arguments: Arguments, event: dict[str, Any]) -> list[Event]:
    if call.tool == "exit_plan_mode":
        return [PlanSeen(text=first_text(arguments, "plan", "summary", "planContent"), **event)]
    path = call.paths[0] if call.kind == "edit" and call.paths else ""
    if "session-state" in path and path.endswith("plan.md"):
        return [PlanSeen(path=path, text=text(arguments.get("file_text")), **event)]
    return []
