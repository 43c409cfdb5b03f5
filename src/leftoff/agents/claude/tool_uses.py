"""Translate Claude Code's tool calls to events of the stream."""

from typing import Any

import msgspec
from msgspec import Raw

from leftoff.agents.claude.entries import Block
from leftoff.agents.loose_values import brief, cut, first_text, shorten_value
from leftoff.agents.stream import Kind, PlanSeen, Status, TodoChange, TodoItem, TodoList, ToolCall
from leftoff.agents.tool_calls import (
    agent_prompt,
    count_changed_lines,
    find_own_command,
    questions_in,
    tool_call,
)

KINDS: dict[str, Kind] = {
    "Edit": "edit",
    "Write": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Read": "read",
    "NotebookRead": "read",
    "Bash": "run",
    "PowerShell": "run",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "Task": "agent",
    "Agent": "agent",
}
_EDITING_SUFFIXES = ("write_file", "edit_file", "create_file")
_WHAT_CHARS = 400
_TODOS_BYTES = 320
_TODOS = '{"todos":'
_STATUSES: dict[str, Status] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


class _PathInput(msgspec.Struct, frozen=True, gc=False):
    file_path: str = ""
    notebook_path: str = ""
    path: str = ""
    old_string: str = ""
    new_string: str = ""


class _RunInput(msgspec.Struct, frozen=True, gc=False):
    command: str = ""


class _TodoInput(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    content: str | None = None
    active_form: str | None = None
    status: str | None = None
    id: str | None = None


class _TodosInput(msgspec.Struct, frozen=True, gc=False):
    todos: list[_TodoInput]


_decode_todos = msgspec.json.Decoder(_TodosInput).decode
_decode_path = msgspec.json.Decoder(_PathInput).decode
_decode_run = msgspec.json.Decoder(_RunInput).decode


def kind_of(name: str) -> Kind:
    """Return the kind of a tool by its name."""
    kind = KINDS.get(name)
    if kind is None:
        kind = "edit" if name.endswith(_EDITING_SUFFIXES) else "other"
    return kind


def describe(block: Block, at: str, *, sidechain: bool) -> ToolCall:
    """Build the event for a tool call."""
    name = block.name or ""
    if find_own_command(name):
        return tool_call(block.id or "", name, "run", {}, at=at, sidechain=sidechain)
    kind = kind_of(name)
    what, path, command, prompt, lines = "", "", "", "", (0, 0)
    try:
        if kind in {"edit", "read"}:
            given = _decode_path(block.input)
            what = path = given.file_path or given.notebook_path or given.path
            lines = count_changed_lines(given.old_string, given.new_string)
        elif kind == "run":
            command = _decode_run(block.input).command
            what = cut(command, _WHAT_CHARS)
        elif kind == "agent":
            what, path = _describe_other(name, block.input)
            prompt = agent_prompt(arguments(block.input))
        else:
            what, path = _describe_other(name, block.input)
    except ValueError:
        what, path = _describe_other(name, block.input)
    return ToolCall(
        at=at,
        sidechain=sidechain,
        id=block.id or "",
        tool=name,
        kind=kind,
        what=what,
        paths=(path,) if path else (),
        command=command,
        prompt=prompt,
        lines=lines,
    )


def arguments(raw: Raw) -> dict[str, Any]:
    """Return a call's input as a dict, whatever it holds."""
    try:
        value = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def todo_list(raw: Raw) -> TodoList | None:
    """Convert a TodoWrite call, which replaces the whole list."""
    try:
        todos = _decode_todos(raw).todos
    except ValueError:
        return _odd_todo_list(raw)
    items = [
        TodoItem(
            text=todo.content or todo.active_form or "",
            status=_STATUSES.get(todo.status or "", "pending"),
            id=todo.id or "",
        )
        for todo in todos
    ]
    return TodoList(items=tuple(items))


def _odd_todo_list(raw: Raw) -> TodoList | None:
    given = arguments(raw).get("todos")
    if not isinstance(given, list):
        return None
    items = [
        TodoItem(
            text=str(item.get("content") or item.get("activeForm") or ""),
            status=_STATUSES.get(str(item.get("status")), "pending"),
            id=str(item.get("id") or ""),
        )
        for item in given
        if isinstance(item, dict)
    ]
    return TodoList(items=tuple(items))


def todo_created(raw: Raw, task_id: str) -> TodoChange:
    """Convert a TaskCreate call; the real id is known only from its result."""
    given = arguments(raw)
    text = str(given.get("subject") or given.get("description") or "")
    return TodoChange(id=task_id, text=text, status="pending")


def todo_updated(raw: Raw) -> TodoChange | None:
    """Convert a TaskUpdate call."""
    given = arguments(raw)
    task_id = given.get("taskId")
    if task_id is None:
        return None
    status = str(given.get("status") or "")
    return TodoChange(
        id=str(task_id),
        text=str(given.get("subject") or ""),
        status="deleted" if status == "deleted" else _STATUSES.get(status, ""),
    )


def plan_shown(raw: Raw) -> PlanSeen | None:
    """Convert an ExitPlanMode call, which shows a plan for approval."""
    given = arguments(raw)
    path = str(given.get("planFilePath") or "")
    text = str(given.get("plan") or "")
    return PlanSeen(path=path, text=text) if path or text else None


def plan_written(path: str, raw: Raw) -> PlanSeen | None:
    """Convert an edit of a file in the agent's plans folder."""
    if not is_plan_file(path):
        return None
    return PlanSeen(path=path, text=str(arguments(raw).get("content") or ""))


def is_plan_file(path: str) -> bool:
    """Return whether a path is in the folder where Claude Code keeps its plans."""
    return path.endswith(".md") and "/.claude/plans/" in path.replace("\\", "/")


def _describe_other(name: str, raw: Raw) -> tuple[str, str]:
    """Return the summary line and the path of any other call."""
    if name == "TodoWrite":
        return _todos_as_written(raw), ""
    given = arguments(raw)
    if name in {"ExitPlanMode", "exit_plan_mode"}:
        return _title(str(given.get("plan") or "")), ""
    if name == "AskUserQuestion":
        return questions_in(given) or brief(given), ""
    return brief(given), first_text(given, "file_path", "path", "notebook_path")


def _todos_as_written(raw: Raw) -> str:
    # The list is long and frequent, and parsed elsewhere: decoding it for this line is wasteful.
    head = bytes(memoryview(raw)[:_TODOS_BYTES]).decode("utf-8", "replace")
    return f"todos: {shorten_value(head.removeprefix(_TODOS))}"


def _title(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return cut(first.lstrip("# ").strip(), _WHAT_CHARS)
