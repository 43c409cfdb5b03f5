from typing import Any

import pytest

from leftoff.agents.stream import Kind, TodoItem
from leftoff.agents.tool_calls import (
    count_changed_lines,
    shell_command,
    todo_items,
    tool_call,
)


@pytest.mark.parametrize(
    ("kind", "arguments", "what"),
    [
        ("run", {"command": "make", "description": "Build"}, "make"),
        ("read", {"file_path": "a.py", "limit": 3}, "a.py"),
        ("search", {"path": "src", "pattern": "x+"}, "path: src, pattern: x+"),
        ("agent", {"description": "look", "prompt": "Look"}, "description: look, prompt: Look"),
        ("other", {"question": "Which one?"}, "Which one?"),
        ("other", {"questions": [{"question": "A?"}, 3, {"question": "B?"}]}, "A? / B?"),
        ("other", {"a": 1, "b": [2]}, "a: 1, b: [2]"),
        ("other", "plain input", "plain input"),
        ("other", None, ""),
    ],
)
def test_a_call_is_shown_by_one_telling_line(kind: Kind, arguments: Any, what: str) -> None:
    assert tool_call("1", "tool", kind, arguments).what == what


def test_what_a_call_shows_is_bounded() -> None:
    given = dict.fromkeys("abcd", "some words " * 999)

    assert len(tool_call("1", "tool", "other", given).what) <= 400
    assert len(tool_call("1", "tool", "run", {"command": "make it " * 999}).what) <= 400


def test_a_search_names_where_it_looks() -> None:
    assert tool_call("1", "grep", "search", {"pattern": "x", "path": "src"}).paths == ("src",)
    assert tool_call("1", "grep", "search", {"pattern": "x"}).paths == ()


def test_an_edit_without_a_file_is_none() -> None:
    assert tool_call("1", "exec", "edit", "await tools.list()").kind == "other"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "make"}, "make"),
        ({"cmd": "make"}, "make"),
        ({"command": ["bash", "-lc", "make all"]}, "make all"),
        ({"command": ["/bin/zsh", "-c", "make"]}, "make"),
        ({"command": ["C:\\Windows\\powershell.exe", "-Command", "dir"]}, "dir"),
        ({"command": ["git", "status"]}, "git status"),
        ({"command": [None, 3]}, " "),
        ({"command": 3}, ""),
        ({}, ""),
    ],
)
def test_a_command_is_freed_of_its_shell(arguments: dict[str, Any], command: str) -> None:
    assert shell_command(arguments) == command


def test_todos_are_read_leniently() -> None:
    entries = [
        {"content": "A", "status": "done", "id": "1"},
        {"content": "B"},
        {"content": "C", "status": "cancelled"},
        {"content": "D", "status": "waiting for CI"},
        {"content": ""},
        "not a todo",
    ]

    assert todo_items(entries, "content") == (
        TodoItem(text="A", status="completed", id="1"),
        TodoItem(text="B", status="pending"),
        TodoItem(text="C", status="cancelled"),
        TodoItem(text="D", status="pending"),
    )


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("mcp__leftoff__save", "leftoff save"),
        ("mcp__plugin_leftoff_leftoff__save", "leftoff save"),
        ("mcp_leftoff_resume", "leftoff resume"),
        ("leftoff_status", "leftoff status"),
        ("leftoff-save", "leftoff save"),
        ("mcp__other__save", ""),
        ("leftoff", ""),
        ("mcp__leftoffs__save", ""),
        ("save", ""),
    ],
)
def test_a_call_of_the_own_server_is_a_command_of_leftoff(tool: str, command: str) -> None:
    call = tool_call("1", tool, "other", {"name": "csv-export"})

    assert call.command == command
    assert (call.kind == "run") is bool(command)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\nb\nc\nd", "x\na\ny\nc\nz", (3, 2)),
        ("a\nb\nc", "a\nB\nc", (1, 1)),
        ("def f():\n    a\n\n    b", "def f():\n    A\n\n    B\n    c", (3, 2)),
        ("a\nb", "", (0, 2)),
        ("", "a\nb", (0, 0)),
    ],
)
def test_an_edit_counts_the_lines_that_a_diff_counts(
    old: str, new: str, lines: tuple[int, int]
) -> None:
    assert count_changed_lines(old, new) == lines
