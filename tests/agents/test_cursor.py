from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.cursor import cursor_agent
from leftoff.agents.stream import (
    AssistantText,
    Place,
    TodoChange,
    TodoList,
    ToolCall,
    ToolResult,
    UserText,
)
from recordings import RECORDED, feed, only, read_file

EXAMPLE = RECORDED / "cursor" / "conversation.jsonl"


def said(*parts: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "message": {"content": list(parts)}}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(name: str, /, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def test_a_conversation_shows_its_story() -> None:
    events = read_file(cursor_agent, EXAMPLE)

    assert [asked.text for asked in only(events, UserText)] == [
        "Add a list of planets to the docs",
        "now test it",
    ]
    assert [call.kind for call in only(events, ToolCall)] == ["read", "search", "edit", "run"]
    assert only(events, ToolCall)[2].paths == ("/home/dev/repo/docs/planets.md",)
    assert only(events, AssistantText)[-1].text == "Running the checks."


def test_a_call_has_ended_once_the_session_goes_on() -> None:
    events = read_file(cursor_agent, EXAMPLE)

    begun = [call.id for call in only(events, ToolCall)]
    assert [result.id for result in only(events, ToolResult)] == begun[:-1]


@pytest.mark.parametrize(("status", "ok"), [("success", True), ("aborted", False)])
def test_a_call_has_ended_with_its_turn(status: str, *, ok: bool) -> None:
    end = {"type": "turn_ended", "status": status}

    (result,) = only(feed(cursor_agent, [said(use("Shell", command="make")), end]), ToolResult)

    # Whoever stops a turn leaves no call to repeat.
    assert (result.ok, result.rejected) == (ok, None if ok else "")


def test_results_count_where_they_are_written() -> None:
    call = {**use("Shell", command="make"), "id": "t1"}
    failed = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no rule"}

    events = feed(cursor_agent, [said(call), said(failed, role="user")])

    assert only(events, ToolResult) == [ToolResult(id="t1", ok=False, output="no rule")]
    assert not only(events, UserText)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<user_query>\nfix it\n</user_query>", "fix it"),
        ("<system_reminder>x</system_reminder>\n<user_query>fix it</user_query>", "fix it"),
        ("<user_info>x</user_info>\n\n<rules>y</rules>\nfix it", "fix it"),
        ("fix it", "fix it"),
    ],
)
def test_only_the_query_is_the_users(text: str, typed: str) -> None:
    (asked,) = only(feed(cursor_agent, [said(words(text), role="user")]), UserText)

    assert asked.text == typed


def test_the_folder_is_shown_where_it_is_written() -> None:
    text = "<user_info>\nWorkspace Path: /home/dev/repo\n</user_info>"

    assert feed(cursor_agent, [said(words(text), role="user")]) == [Place(cwd="/home/dev/repo")]


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (use("StrReplace", path="a.py"), "a.py"),
        (use("search_replace", file_path="a.py"), "a.py"),
        (use("edit_file", target_file="a.py"), "a.py"),
        (use("EditNotebook", target_notebook="a.ipynb"), "a.ipynb"),
        (use("ApplyPatch", patch="*** Begin Patch\n*** Delete File: a.py\n*** End Patch"), "a.py"),
    ],
)
def test_edits_name_their_files_in_every_form(call: dict[str, Any], path: str) -> None:
    (begun,) = only(feed(cursor_agent, [said(call)]), ToolCall)

    assert (begun.kind, begun.paths) == ("edit", (path,))


def test_the_mark_for_hidden_thoughts_is_not_said() -> None:
    events = feed(cursor_agent, [said(words("Done.\n\n[REDACTED]")), said(words("[REDACTED]"))])

    assert [answer.text for answer in only(events, AssistantText)] == ["Done."]


def test_todos_are_replaced_or_merged_by_id() -> None:
    whole = use("TodoWrite", merge=False, todos=[{"id": "1", "content": "A", "status": "pending"}])
    merged = use(
        "TodoWrite",
        merge=True,
        todos=[{"id": "1", "status": "completed"}, {"id": "2", "status": "cancelled"}],
    )

    events = feed(cursor_agent, [said(whole), said(merged)])

    assert [todo.text for todo in only(events, TodoList)[0].items] == ["A"]
    assert only(events, TodoChange) == [
        TodoChange(id="1", status="completed"),
        TodoChange(id="2", status="cancelled"),
    ]


def test_conversations_are_found_by_folder(tmp_path: Path) -> None:
    root = tmp_path / ".cursor" / "projects"
    for place in ("home-dev-my-repo/agent-transcripts/u1", "home-dev-other/agent-transcripts/u2"):
        (root / place).mkdir(parents=True)
        (root / place / f"{place[-2:]}.jsonl").write_bytes(EXAMPLE.read_bytes())

    found = list(cursor_agent.find_sessions(tmp_path / ".cursor", Path("/home/dev/my_repo")))

    assert [session.session_id for session in found] == ["u1"]


def test_a_result_that_is_not_written_is_only_assumed() -> None:
    results = only(read_file(cursor_agent, EXAMPLE), ToolResult)

    assert results
    assert all(result.is_assumed for result in results)
