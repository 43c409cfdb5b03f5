"""Describe a tool call by its name and arguments.

Tool names differ between agents, and each module has its own table of them. The arguments are
similar enough to be interpreted in one place.
"""

from typing import Any

from leftoff.agents.loose_values import brief, cut, first_text, listing, mapping, text
from leftoff.agents.patches import command_paths, join_path, list_patched_paths
from leftoff.agents.stream import Kind, Status, TodoItem, ToolCall

_PATHS = (
    "file_path", "filePath", "path", "target_file", "target_notebook", "notebook_path",
    "absolute_path", "filename",
)  # fmt: skip
_COMMANDS = ("command", "cmd", "script")
_FOLDERS = ("workdir", "working_directory", "cwd", "dir_path", "directory")
_PATCHES = ("patch", "input", "patchText", "patch_text", "code")
_STATUSES: dict[str, Status] = {
    "pending": "pending",
    "blocked": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "done": "completed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
_LONGEST_WHAT = 400
_LONGEST_PROMPT = 2_000
_PROMPTS = ("prompt", "message", "objective", "task", "description")
_SHELLS = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")


def tool_call(call_id: str, tool: str, kind: Kind, arguments: Any, **event: Any) -> ToolCall:
    """Describe a call of a known kind by its arguments."""
    values = mapping(arguments)
    command = shell_command(values) if kind == "run" else ""
    paths = _paths(kind, arguments, values, command)
    return ToolCall(
        id=call_id,
        tool=tool,
        kind=_kind(kind, paths),
        what=_what(kind, arguments, paths, command),
        paths=paths,
        command=command,
        prompt=agent_prompt(values) if kind == "agent" else "",
        **event,
    )


def shell_command(arguments: dict[str, Any]) -> str:
    """Return the command line that a call runs, without the shell that wraps it."""
    for key in _COMMANDS:
        value = arguments.get(key)
        if value and isinstance(value, str):
            return value
        if value and isinstance(value, list):
            return unwrap_command([text(word) for word in value])
    return ""


def agent_prompt(arguments: dict[str, Any]) -> str:
    """Return what a call asks a sub-agent to do."""
    return cut(first_text(arguments, *_PROMPTS), _LONGEST_PROMPT)


def unwrap_command(words: list[str]) -> str:
    """Format an argument vector as a person would type it."""
    program = words[0].replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
    if program in _SHELLS and len(words) > 2:
        return words[-1]
    return " ".join(words)


def questions_in(arguments: dict[str, Any]) -> str:
    """Return the questions that a call asks the user; "" if it asks none."""
    if question := text(arguments.get("question")):
        return cut(question, _LONGEST_WHAT)
    entries = map(mapping, listing(arguments.get("questions")))
    asked = [question for entry in entries if (question := text(entry.get("question")))]
    return cut(" / ".join(asked), _LONGEST_WHAT)


def todo_items(entries: Any, *texts: str) -> tuple[TodoItem, ...]:
    """Convert a todo list whose entries have their text under one of these keys."""
    return tuple(
        TodoItem(text=words, status=todo_status(entry), id=text(entry.get("id")))
        for entry in map(mapping, listing(entries))
        if (words := first_text(entry, *texts))
    )


def todo_status(entry: dict[str, Any]) -> Status:
    """Return the status of a todo; an unknown status counts as pending."""
    return _STATUSES.get(text(entry.get("status")), "pending")


def _kind(kind: Kind, paths: tuple[str, ...]) -> Kind:
    if kind == "run" and paths:
        return "edit"
    return "other" if kind == "edit" and not paths else kind


def _paths(kind: Kind, arguments: Any, values: dict[str, Any], command: str) -> tuple[str, ...]:
    if kind == "run":
        folder = first_text(values, *_FOLDERS) if "*** Begin Patch" in command else ""
        return command_paths(command, folder)
    if kind == "search":
        where = first_text(values, *_PATHS, *_FOLDERS)
        return (where,) if where else ()
    if kind not in ("edit", "read"):
        return ()
    folder = first_text(values, *_FOLDERS)
    patch = arguments if isinstance(arguments, str) else first_text(values, *_PATCHES)
    if found := list_patched_paths(patch):
        return tuple(join_path(folder, path) for path in found)
    if path := first_text(values, *_PATHS):
        return (path,)
    return tuple(path for path in map(text, listing(values.get("paths"))) if path)


def _what(kind: Kind, arguments: Any, paths: tuple[str, ...], command: str) -> str:
    if kind == "run" and command:
        return cut(command, _LONGEST_WHAT)
    if paths and kind != "search":
        return paths[0]
    return questions_in(mapping(arguments)) or brief(arguments)
