import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.gemini import gemini_agent
from leftoff.agents.stream import (
    AssistantText,
    Compaction,
    Place,
    SessionInfo,
    TodoList,
    ToolCall,
    ToolResult,
    Usage,
    UserText,
)
from recordings import RECORDED, feed, only, read_file

RECORDING = RECORDED / "gemini" / "session.jsonl"


def user(words: Any, message_id: str = "u1", **more: Any) -> dict[str, Any]:
    return {"id": message_id, "timestamp": "t", "type": "user", "content": words, **more}


def answer(message_id: str = "g1", **more: Any) -> dict[str, Any]:
    return {"id": message_id, "timestamp": "t", "type": "gemini", "content": "", **more}


def call(name: str, status: str = "success", output: str = "", **args: Any) -> dict[str, Any]:
    response = {"functionResponse": {"response": {"output": output}}}
    return {"id": name, "name": name, "args": args, "status": status, "result": [response]}


def as_document(path: Path) -> dict[str, Any]:
    """Fold recorded lines into the document that older versions wrote."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    messages: dict[str, Any] = {}
    for record in records:
        for message in record.get("$set", {}).get("messages", [record]):
            if "type" in message:
                messages[message["id"]] = message
    return {**records[0], "messages": list(messages.values())}


def test_the_recorded_session_shows_its_story() -> None:
    events = read_file(gemini_agent, RECORDING)

    assert only(events, SessionInfo)[0].session_id == "7a911f14-2b91-41f7-88b3-cd05e43d0881"
    assert only(events, Place)[0].cwd == "/home/dev/repo"
    assert [asked.text for asked in only(events, UserText)] == ["please write notes and list"]
    assert [found.tool for found in only(events, ToolCall)] == [
        "write_todos",
        "write_file",
        "run_shell_command",
    ]
    assert [found.ok for found in only(events, ToolResult)] == [True, True, False]
    assert only(events, ToolResult)[1].paths == ("/home/dev/repo/notes.txt",)
    assert only(events, ToolResult)[2].output == (
        "ls: cannot access '/nonexistent-dir': No such file or directory"
    )
    assert [todo.status for todo in only(events, TodoList)[0].items] == ["in_progress", "pending"]
    assert only(events, Usage)[-1].tokens == 1290


def test_a_document_and_lines_show_the_same(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(as_document(RECORDING), indent=2), encoding="utf-8")

    assert gemini_agent.recognises(path.read_bytes(), path) == "document"
    assert read_file(gemini_agent, path) == read_file(gemini_agent, RECORDING)


def test_a_document_on_one_line_is_still_a_document(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(as_document(RECORDING)), encoding="utf-8")

    assert gemini_agent.recognises(path.read_bytes(), path) == "document"
    assert gemini_agent.recognises(path.read_bytes()[:2000], path) == "document"
    assert gemini_agent.recognises(RECORDING.read_bytes(), RECORDING) == "lines"


def test_a_torn_document_gives_the_messages_before_the_tear(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    whole = json.dumps(as_document(RECORDING), indent=2)
    path.write_text(whole[: whole.index("write_file")], encoding="utf-8")

    events = read_file(gemini_agent, path)

    assert [found.tool for found in only(events, ToolCall)] == ["write_todos"]
    assert len(only(events, UserText)) == 1


def test_a_message_written_again_shows_only_what_is_new() -> None:
    begun = call("run_shell_command", "executing", command="make")
    ended = call("run_shell_command", output="Output: fine\nExit Code: 0", command="make")
    events = feed(
        gemini_agent,
        [
            answer(content="I build.", tokens={"total": 9}),
            answer(content="I build.", tokens={"total": 9}, toolCalls=[begun]),
            answer(content="I build.", tokens={"total": 9}, toolCalls=[ended]),
        ],
    )

    assert [type(found) for found in events] == [AssistantText, Usage, ToolCall, ToolResult]


def test_messages_set_anew_show_only_what_follows_the_known_ones() -> None:
    kept = [user("first", "u1"), answer("g1", content="yes"), user("second", "u2")]

    events = feed(gemini_agent, [*kept[:2], {"$set": {"messages": kept}}])

    assert [asked.text for asked in only(events, UserText)] == ["first", "second"]
    assert len(only(events, AssistantText)) == 1


def test_messages_without_ids_are_all_shown() -> None:
    document = {"sessionId": "1", "messages": [user("one", ""), user("two", "")]}

    assert [asked.text for asked in only(feed(gemini_agent, [document]), UserText)] == [
        "one",
        "two",
    ]


def test_a_rewind_and_unknown_records_are_survived() -> None:
    assert feed(gemini_agent, [{"$rewindTo": "u1"}, {"$new": 1}, {"id": "x", "type": "info"}]) == []


def test_a_snapshot_is_a_compaction() -> None:
    words = "<state_snapshot>\n<overall_goal>Ship</overall_goal>\n</state_snapshot>"

    (found,) = feed(gemini_agent, [user([{"text": words}])])

    assert found == Compaction(summary=words, at="t")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (user("fix it"), ["fix it"]),
        (user([{"text": "fix"}, {"text": "<hook_context>x</hook_context>"}]), ["fix"]),
        (user([{"functionResponse": {"id": "1"}}]), []),
        (user("<session_context>\nSetup\n</session_context>"), []),
        (user("/clear"), []),
        (user("/etc/hosts is wrong"), ["/etc/hosts is wrong"]),
        (user("@a.py fix\n--- Content from referenced files ---\nbody"), ["@a.py fix"]),
        (user([{"text": "long"}], displayContent=[{"text": "short"}]), ["short"]),
    ],
)
def test_only_what_a_person_typed_is_the_users(message: dict[str, Any], words: list[str]) -> None:
    assert [asked.text for asked in only(feed(gemini_agent, [message]), UserText)] == words


@pytest.mark.parametrize(
    ("output", "ok", "kept"),
    [
        ("Output: fine\nExit Code: 0\nProcess Group PGID: 7", True, "fine"),
        (
            (
                "Command: cat <<EOF\nExit Code: 0\nEOF\nDirectory: (root)\nOutput: (empty)\n"
                "Error: no such rule\nExit Code: 2\nSignal: (none)\nBackground PIDs: (none)"
            ),
            False,
            "no such rule",
        ),
        ("<untrusted_context>\nOutput: bad\nExit Code: 1\n</untrusted_context>", False, "bad"),
        (
            "<untrusted_context>\nOutput: 3 passed\nProcess Group PGID: 7\n</untrusted_context>",
            True,
            "3 passed",
        ),
    ],
)
def test_a_command_is_judged_by_its_exit_code(output: str, ok: bool, kept: str) -> None:  # noqa: FBT001
    shell = call("run_shell_command", output=output, command="make")

    (result,) = only(feed(gemini_agent, [answer(toolCalls=[shell])]), ToolResult)

    assert (result.ok, result.output) == (ok, kept)


def test_a_compression_is_reported_once_and_repeats_nothing() -> None:
    events = read_file(gemini_agent, RECORDED / "gemini" / "session-compressed.jsonl")

    assert [each.summary for each in only(events, Compaction)] == [
        "<state_snapshot>FAKE-SUMMARY of the conversation so far.</state_snapshot>"
    ] * 2
    assert [each.text for each in only(events, UserText)] == [
        "Add a retry to the HTTP client",
        "and the docs",
        "and rename the module",
        "once more",
        "a fifth thing",
        "a sixth thing",
        "goodbye",
    ]
    assert [each.text for each in only(events, AssistantText)][1:] == [
        "two",
        "three",
        "four",
        "five",
    ]
    assert [each.tool for each in only(events, ToolCall)] == ["write_file", "run_shell_command"]


def test_a_cancelled_call_is_a_refusal() -> None:
    calls = [call("replace", "cancelled", file_path="a.py")]

    (result,) = only(feed(gemini_agent, [answer(toolCalls=calls)]), ToolResult)

    assert (result.ok, result.rejected) == (False, "")


def test_the_project_is_known_by_its_hash_once_a_path_is_below_it() -> None:
    project = {"sessionId": "s", "projectHash": hashlib.sha256(b"/home/u/repo").hexdigest()}
    edited = call("replace", file_path="a.py")
    edited["resultDisplay"] = {"filePath": "/home/u/repo/src/a.py"}
    events = feed(
        gemini_agent,
        [
            project,
            answer("g1", toolCalls=[call("read_file", file_path="/home/u/other/b.py")]),
            answer("g2", toolCalls=[edited]),
            answer("g3", toolCalls=[call("read_file", file_path="/home/u/repo/c.py")]),
        ],
    )

    assert [place.cwd for place in only(events, Place)] == ["/home/u/repo"]


def test_sessions_are_found_by_name_and_by_hash(tmp_path: Path) -> None:
    root = tmp_path / ".gemini"
    hashed = hashlib.sha256(b"/repo").hexdigest()
    for name in ("repo", "other", hashed):
        (root / "tmp" / name / "chats").mkdir(parents=True)
        path = root / "tmp" / name / "chats" / "session-2026-11-15T19-21-7a911f14.jsonl"
        path.write_text(json.dumps({"sessionId": name}) + "\n", encoding="utf-8")
    projects = {"projects": {"/repo": "repo", "/other": "other"}}
    (root / "projects.json").write_text(json.dumps(projects), encoding="utf-8")

    found = {
        session.session_id
        for session in gemini_agent.find_sessions(tmp_path / ".gemini", Path("/repo"))
    }

    assert found == {"repo", hashed}


def test_a_home_without_gemini_has_no_sessions(tmp_path: Path) -> None:
    assert list(gemini_agent.find_sessions(tmp_path / ".gemini", Path("/repo"))) == []
