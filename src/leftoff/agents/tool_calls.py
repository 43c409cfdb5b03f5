"""Describe a tool call by its name and arguments.

Tool names differ between agents, and each module has its own table of them. The arguments are
similar enough to be interpreted in one place.
"""

import re
from bisect import bisect_left
from typing import Any

from leftoff.agents.loose_values import brief, cut, first_text, listing, mapping, text
from leftoff.agents.patches import (
    command_paths,
    count_patched_lines,
    join_path,
    list_patched_paths,
    list_removed_paths,
)
from leftoff.agents.stream import Kind, Status, TodoItem, ToolCall

_PATHS = (
    "file_path", "filePath", "path", "target_file", "target_notebook", "notebook_path",
    "absolute_path", "filename",
)  # fmt: skip
_COMMANDS = ("command", "cmd", "script")
_FOLDERS = ("workdir", "working_directory", "cwd", "dir_path", "directory")
_PATCHES = ("patch", "input", "patchText", "patch_text", "code")
_OLD = ("old_string", "oldString", "old_str", "old_text")
_NEW = ("new_string", "newString", "new_str", "new_text")
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
# Comparing more lines would delay reading a transcript.
_MOST_COMPARED = 40_000
_LONGEST_PROMPT = 2_000
_PROMPTS = ("prompt", "message", "objective", "task", "description")
# mcp__leftoff__save (Claude Code, Codex), mcp_leftoff_save (Gemini CLI), leftoff_save (opencode),
# leftoff-save (Copilot CLI). Claude Code adds the name of a plugin.
_OWN_TOOL = re.compile(r"(?:mcp__?)?(?:plugin_\w+_)?leftoff(?:__|_|-)([a-z]+)")
_SHELLS = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")


def tool_call(call_id: str, tool: str, kind: Kind, arguments: Any, **event: Any) -> ToolCall:
    """Describe a call of a known kind by its arguments."""
    if own := find_own_command(tool):
        return ToolCall(id=call_id, tool=tool, kind="run", what=own, command=own, **event)
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
        removed=_list_removed(arguments, values, command) if paths else (),
        folder=first_text(values, *_FOLDERS) if kind == "run" else "",
        lines=_count_lines(arguments, values, command) if paths else (0, 0),
        **event,
    )


def find_own_command(tool: str) -> str:
    """Return the command that a tool of leftoff's MCP server stands for; "" for other tools.

    Such a call says as little about the work as the command does.
    """
    found = _OWN_TOOL.fullmatch(tool) if "leftoff" in tool else None
    return f"leftoff {found[1]}" if found else ""


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
    if found := list_patched_paths(_find_patch(arguments, values)):
        return tuple(join_path(folder, path) for path in found)
    if path := first_text(values, *_PATHS):
        return (path,)
    return tuple(path for path in map(text, listing(values.get("paths"))) if path)


def _find_patch(arguments: Any, values: dict[str, Any]) -> str:
    return arguments if isinstance(arguments, str) else first_text(values, *_PATCHES)


def _list_removed(arguments: Any, values: dict[str, Any], command: str) -> tuple[str, ...]:
    folder = first_text(values, *_FOLDERS)
    found = list_removed_paths(command or _find_patch(arguments, values))
    return tuple(join_path(folder, path) for path in found)


def _count_lines(arguments: Any, values: dict[str, Any], command: str) -> tuple[int, int]:
    """Return how many lines an edit adds and drops, if its arguments show that."""
    if patched := count_patched_lines(command or _find_patch(arguments, values)):
        return patched
    return count_changed_lines(first_text(values, *_OLD), first_text(values, *_NEW))


def count_changed_lines(old: str, new: str) -> tuple[int, int]:
    """Return how many lines an edit adds and drops, as a diff counts them.

    Without the old text, it is unknown what the new one replaces.
    """
    if not old:
        return 0, 0
    before, after = old.splitlines(), new.splitlines()
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        before.pop()
        after.pop()
    kept = _count_common(before, after)
    return len(after) - kept, len(before) - kept


def _count_common(before: list[str], after: list[str]) -> int:
    """Return how many lines the longest common subsequence has; 0 if the texts are too long."""
    if len(before) * len(after) > _MOST_COMPARED:
        return 0
    places: dict[str, list[int]] = {}
    for n, line in enumerate(after):
        places.setdefault(line, []).append(n)
    # For each length, where the common subsequence of that length ends that ends first.
    ends: list[int] = []
    for line in before:
        for n in reversed(places.get(line, [])):
            at = bisect_left(ends, n)
            ends[at : at + 1] = [n]
    return len(ends)


def _what(kind: Kind, arguments: Any, paths: tuple[str, ...], command: str) -> str:
    if kind == "run" and command:
        return cut(command, _LONGEST_WHAT)
    if paths and kind != "search":
        return paths[0]
    return questions_in(mapping(arguments)) or brief(arguments)
