"""What a tool call tells, from its name and arguments.

Agents differ in tool names, and each module has its own table of them. The arguments are alike
enough to be read in one place.
"""

from typing import Any

from leftoff.agents.patches import command_paths, joined, patched_paths
from leftoff.agents.stream import Kind, Status, TodoItem, ToolCall
from leftoff.agents.values import brief, first_text, listing, mapping, text

_PATHS = (
    "file_path", "filePath", "path", "target_file", "target_notebook", "notebook_path",
    "absolute_path", "filename",
)  # fmt: skip
_COMMANDS = ("command", "cmd", "script")
_FOLDERS = ("workdir", "working_directory", "cwd", "dir_path", "directory")
_PATCHES = ("patch", "input", "patchText", "patch_text", "code")
_WHATS = (
    "pattern", "glob_pattern", "query", "search_term", "url", "description", "task", "message",
    "prompt", "name",
)  # fmt: skip
_STATUSES: dict[str, Status] = {
    "pending": "pending",
    "blocked": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "done": "completed",
}
_SHELLS = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")


def tool_call(call_id: str, tool: str, kind: Kind, arguments: Any, **event: Any) -> ToolCall:
    """Describe a call whose kind is known by its arguments."""
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
        **event,
    )


def shell_command(arguments: dict[str, Any]) -> str:
    """Return the command line that a call runs, freed of the shell it is wrapped in."""
    for key in _COMMANDS:
        value = arguments.get(key)
        if value and isinstance(value, str):
            return value
        if value and isinstance(value, list):
            return unwrapped([text(word) for word in value])
    return ""


def unwrapped(words: list[str]) -> str:
    """Write an argument vector as a person would type it."""
    program = words[0].replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
    if program in _SHELLS and len(words) > 2:
        return words[-1]
    return " ".join(words)


def todo_items(entries: Any, *texts: str) -> tuple[TodoItem, ...]:
    """Read a todo list whose entries keep their text under one of these keys."""
    items = []
    for entry in map(mapping, listing(entries)):
        status = _STATUSES.get(text(entry.get("status")) or "pending")
        words = first_text(entry, *texts)
        # A cancelled todo is no longer one.
        if words and status is not None:
            items.append(TodoItem(text=words, status=status, id=text(entry.get("id"))))
    return tuple(items)


def _kind(kind: Kind, paths: tuple[str, ...]) -> Kind:
    if kind == "run" and paths:
        return "edit"
    return "other" if kind == "edit" and not paths else kind


def _paths(kind: Kind, arguments: Any, values: dict[str, Any], command: str) -> tuple[str, ...]:
    if kind == "run":
        folder = first_text(values, *_FOLDERS) if "*** Begin Patch" in command else ""
        return command_paths(command, folder)
    if kind not in ("edit", "read"):
        return ()
    folder = first_text(values, *_FOLDERS)
    patch = arguments if isinstance(arguments, str) else first_text(values, *_PATCHES)
    if found := patched_paths(patch):
        return tuple(joined(folder, path) for path in found)
    if path := first_text(values, *_PATHS):
        return (path,)
    return tuple(path for path in map(text, listing(values.get("paths"))) if path)


def _what(kind: Kind, arguments: Any, paths: tuple[str, ...], command: str) -> str:
    if kind == "run" and command:
        return command
    if paths:
        return paths[0]
    keys = ("question",) if kind == "other" else _WHATS
    return first_text(mapping(arguments), *keys) or brief(arguments)
