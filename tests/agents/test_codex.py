import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.codex import codex_agent
from leftoff.agents.stream import (
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    SessionEvent,
    SessionInfo,
    TodoList,
    ToolCall,
    ToolResult,
    Usage,
    UserText,
)
from recordings import RECORDED, feed, only, read_file

RECORDINGS = sorted((RECORDED / "codex").glob("*.jsonl"))


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-06-18T05:00:00.000Z", "type": "response_item", "payload": payload}


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-06-18T05:00:01.000Z", "type": "event_msg", "payload": payload}


def call(name: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return item(type="function_call", name=name, arguments=json.dumps(arguments), call_id=call_id)


def output(text: Any, call_id: str = "c1") -> dict[str, Any]:
    return item(type="function_call_output", call_id=call_id, output=text)


def user_item(*texts: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return item(type="message", role="user", content=content)


def said(text: str) -> dict[str, Any]:
    return item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])


def results(*records: dict[str, Any]) -> list[ToolResult]:
    return only(feed(codex_agent, records), ToolResult)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_recorded_version_yields_the_same_story(path: Path) -> None:
    events = read_file(codex_agent, path)

    assert only(events, SessionInfo)[0].agent_version in ("0.134.0", "0.166.0")
    assert only(events, Place) == [Place(cwd="/home/dev/repo", branch="feature/x", at=events[0].at)]
    assert [asked.text for asked in only(events, UserText)] == ["please write notes and list"]
    edit = next(found for found in only(events, ToolCall) if found.kind == "edit")
    ended = next(found for found in only(events, ToolResult) if found.id == edit.id)
    assert (edit.paths, ended.paths) == (("notes.txt",), ("/home/dev/repo/notes.txt",))
    failed = [found for found in only(events, ToolResult) if not found.ok]
    assert [found.output for found in failed] == [
        "ls: cannot access '/nonexistent-dir': No such file or directory\n"
    ]
    assert only(events, AssistantText)[-1].text.endswith("Next action: fix the path.")
    assert only(events, Usage)[-1].window == 190000


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_call_is_begun_once_and_ended_once(path: Path) -> None:
    events = read_file(codex_agent, path)

    begun = [found.id for found in only(events, ToolCall)]
    ended = [found.id for found in only(events, ToolResult)]
    assert sorted(begun) == sorted(ended) == sorted(set(begun))


def test_a_summary_is_a_compaction_and_not_something_said() -> None:
    events = read_file(codex_agent, RECORDED / "codex" / "rollout-0.166-compacted.jsonl")

    (compaction,) = only(events, Compaction)
    assert "SUMMARY: wrote notes.txt" in compaction.summary
    assert not any("SUMMARY" in words.text for words in only(events, AssistantText))


def test_plan_updates_are_todos() -> None:
    steps = [
        {"step": "Read", "status": "completed"},
        {"step": "Write", "status": "in_progress"},
        {"step": "Test", "status": "pending"},
    ]

    (todos,) = only(feed(codex_agent, [call("update_plan", plan=steps)]), TodoList)

    assert [(todo.text, todo.status) for todo in todos.items] == [
        ("Read", "completed"),
        ("Write", "in_progress"),
        ("Test", "pending"),
    ]


@pytest.mark.parametrize(
    ("text", "ok", "kept"),
    [
        (
            "Chunk ID: a1\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nfine\n",
            1,
            "fine\n",
        ),
        (
            "Chunk ID: a1\nWall time: 1 seconds\nProcess exited with code 2\nOutput:\nbad\n",
            0,
            "bad\n",
        ),
        ("Exit code: 1\nWall time: 0 seconds\nTotal output lines: 3\nOutput:\nno", 0, "no"),
        (
            "Wall time: 0.1 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nno",
            0,
            "no",
        ),
        ('{"output":"bad","metadata":{"exit_code":7,"duration_seconds":0.1}}', 0, "bad"),
        ('{"output":"fine","metadata":{"exit_code":0}}', 1, "fine"),
        ({"content": "no such tool", "success": False}, 0, "no such tool"),
        ([{"type": "input_text", "text": "seen"}], 1, "seen"),
        (
            "apply_patch verification failed: no such line",
            0,
            "apply_patch verification failed: no such line",
        ),
        ('{"a": 1}', 1, '{"a": 1}'),
        ("Plan updated", 1, "Plan updated"),
    ],
)
def test_the_exit_status_is_found_in_every_shape_of_output(text: Any, ok: int, kept: str) -> None:
    (result,) = results(call("exec_command", cmd="make"), output(text))

    assert (result.ok, result.output, result.rejected) == (bool(ok), kept, None)


@pytest.mark.parametrize(
    "text",
    ["exec command rejected by user", "patch rejected by user", "aborted by user after 3.1s",
     "Wall time: 2.0 seconds\naborted by user",
     'exec_command failed for `make`: Spawn { message: "Rejected(\\"rejected by user\\")" }'],
)  # fmt: skip
def test_a_call_the_user_refused_or_stopped_is_not_a_failure(text: str) -> None:
    (result,) = results(call("exec_command", cmd="make"), output(text))

    assert (result.ok, result.rejected) == (False, "")


def test_a_call_that_codex_itself_blocks_is_neither_failed_nor_refused() -> None:
    text = (
        'exec_command failed for `make`: CreateProcess { message: "Rejected(\\"approval required '
        'by policy, but AskForApproval is set to Never\\")" }'
    )

    (result,) = results(call("exec_command", cmd="make"), output(text))

    assert (result.ok, result.rejected, result.is_blocked) == (False, None, True)


def test_an_output_that_quotes_an_exit_code_is_not_one() -> None:
    text = "Process exited with code 0\nOutput:\nlog says:\nProcess exited with code 9\n"

    (result,) = results(call("exec_command", cmd="cat log"), output(text))

    assert result.ok
    assert "code 9" in result.output


def test_a_long_command_ends_when_a_later_call_reports_it() -> None:
    begun = [
        call("exec_command", "c1", cmd="npm test"),
        output("Wall time: 30 seconds\nProcess running with session ID 77\nOutput:\n", "c1"),
    ]
    waited = [
        call("write_stdin", "c2", session_id=77, chars=""),
        output("Wall time: 9 seconds\nProcess exited with code 1\nOutput:\n1 failed\n", "c2"),
    ]

    assert results(*begun) == []
    assert only(feed(codex_agent, [*begun, *waited]), ToolCall)[1].what == "npm test"
    assert [(found.id, found.ok, found.output) for found in results(*begun, *waited)] == [
        ("c2", True, ""),
        ("c1", False, "1 failed\n"),
    ]


def test_a_wait_that_times_out_says_nothing_about_the_command() -> None:
    (result,) = results(
        call("write_stdin", "c2", session_id=5, chars=""),
        output("write_stdin failed: Unknown process id 5", "c2"),
    )

    assert (result.id, result.ok) == ("c2", False)


PATCH = """*** Begin Patch
*** Add File: src/new.py
+x
*** Update File: src/old.py
*** Move to: src/moved.py
@@
-a
+b
*** Delete File: src/gone.py
*** End Patch"""
PATCHED = ("src/new.py", "src/old.py", "src/moved.py", "src/gone.py")


@pytest.mark.parametrize(
    "record",
    [
        item(type="custom_tool_call", name="apply_patch", call_id="c1", input=PATCH),
        call("apply_patch", input=PATCH),
        call("exec_command", cmd=f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"),
        call("shell", command=["bash", "-lc", f"applypatch <<'EOF'\n{PATCH}\nEOF"]),
        call("shell", command=["apply_patch", PATCH]),
        item(type="custom_tool_call", name="exec", call_id="c1",
             input=f"await tools.apply_patch({json.dumps(PATCH)})"),
    ],
)  # fmt: skip
def test_a_patch_names_its_files_however_it_is_applied(record: dict[str, Any]) -> None:
    (begun,) = only(feed(codex_agent, [record]), ToolCall)

    assert (begun.kind, begun.paths) == ("edit", PATCHED)


def test_a_patch_applied_elsewhere_names_its_files_from_there() -> None:
    command = f"cd sub && apply_patch <<'EOF'\n{PATCH}\nEOF"

    (begun,) = only(
        feed(codex_agent, [call("exec_command", cmd=command, workdir="/repo")]), ToolCall
    )

    assert begun.paths[0] == "/repo/sub/src/new.py"


def test_a_patch_that_did_not_apply_changed_nothing() -> None:
    failed = event(
        type="patch_apply_end", call_id="c1", success=False, changes={}, stderr="no line"
    )

    (result,) = results(
        item(type="custom_tool_call", name="apply_patch", call_id="c1", input=PATCH), failed
    )

    assert (result.ok, result.paths, result.output) == (False, (), "no line")


def test_a_moved_file_counts_under_both_names() -> None:
    changes = {"/r/a.py": {"type": "update", "unified_diff": "", "move_path": "/r/b.py"}}
    done = event(type="patch_apply_end", call_id="c9", success=True, changes=changes)

    events = feed(codex_agent, [done])

    assert only(events, ToolCall)[0].paths == ("/r/a.py", "/r/b.py")
    assert only(events, ToolResult)[0].ok


def test_commands_inside_a_script_are_known_from_their_own_records() -> None:
    ran = {"type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "make"],
           "exit_code": 2, "aggregated_output": "no rule", "status": "failed"}  # fmt: skip

    events = feed(codex_agent, [event(type="item_completed", item=ran)])

    assert only(events, ToolCall)[0].command == "make"
    assert not only(events, ToolResult)[0].ok


def test_injected_text_is_not_the_users() -> None:
    events = feed(
        codex_agent,
        [
            user_item(
                "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>", "<environment_context>"
            ),
            user_item("<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>"),
            said("Ready."),
        ],
    )

    assert not only(events, UserText)


def test_a_request_counts_once_although_it_is_written_twice() -> None:
    ask = [user_item("fix it"), event(type="user_message", message="fix it"), said("Done.")]

    events = feed(codex_agent, [*ask, *ask])

    assert [asked.text for asked in only(events, UserText)] == ["fix it", "fix it"]


def test_a_request_that_no_event_confirms_is_shown_when_it_is_answered() -> None:
    events = feed(codex_agent, [user_item("fix it"), call("exec_command", cmd="ls")])

    assert [type(found) for found in events] == [UserText, ToolCall]


def test_an_editors_preamble_is_not_part_of_the_request() -> None:
    text = "# Context from my IDE setup:\n\n- a.py\n\n## My request for Codex:\nfix it\n"

    (asked,) = only(feed(codex_agent, [event(type="user_message", message=text)]), UserText)

    assert asked.text == "fix it"


def meta(session_id: str, branch: str) -> dict[str, Any]:
    payload = {
        "id": session_id,
        "cwd": "/repo",
        "cli_version": "0.142.0",
        "git": {"branch": branch},
    }
    return {"timestamp": "t", "type": "session_meta", "payload": payload}


def test_a_fork_keeps_its_own_id_and_branch() -> None:
    events = feed(codex_agent, [meta("new", "feature"), meta("parent", "main")])

    assert [info.session_id for info in only(events, SessionInfo)] == ["new"]
    assert [place.branch for place in only(events, Place)] == ["feature"]


def test_a_new_directory_is_shown_when_a_turn_begins_in_it() -> None:
    turn = {"timestamp": "t", "type": "turn_context", "payload": {"cwd": "/repo/sub", "model": "m"}}

    assert only(feed(codex_agent, [meta("s", "main"), turn, turn]), Place)[1:] == [
        Place(cwd="/repo/sub", at="t")
    ]


def test_nothing_is_in_flight_after_the_user_stops_the_turn() -> None:
    events = feed(
        codex_agent,
        [
            call("exec_command", cmd="sleep 99"),
            event(type="turn_aborted", reason="interrupted"),
            output("aborted by user after 5.0s"),
        ],
    )

    assert [found.rejected for found in only(events, ToolResult)] == [""]


def test_a_proposed_plan_is_seen() -> None:
    events = feed(
        codex_agent, [said("Here:\n<proposed_plan>\n# Ship it\n1. Build\n</proposed_plan>")]
    )

    assert only(events, PlanSeen)[0].text == "# Ship it\n1. Build"


def test_reading_goes_on_from_the_state_it_left() -> None:
    lines = (RECORDED / "codex" / "rollout-0.134.jsonl").read_bytes().splitlines()
    whole = codex_agent.new_reader({})
    expected = [found for line in lines for found in whole.feed(line)]

    state: dict[str, Any] = {}
    got: list[SessionEvent] = []
    for line in lines:
        reader = codex_agent.new_reader(json.loads(json.dumps(state)))
        got.extend(reader.feed(line))
        state = reader.state

    assert got == expected


def test_sessions_are_found_by_folder_without_those_of_sub_agents(tmp_path: Path) -> None:
    day = tmp_path / ".codex" / "sessions" / "2026" / "11" / "15"
    day.mkdir(parents=True)
    for name, cwd, source in (
        ("a", "/repo", "cli"),
        ("b", "/repo/sub", "exec"),
        ("c", "/other", "cli"),
        ("d", "/repo", {"subagent": "review"}),
    ):
        line = {"type": "session_meta", "payload": {"id": name, "cwd": cwd, "source": source}}
        (day / f"rollout-{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (day / "rollout-e.jsonl").write_bytes(b"\xff not json")

    found = list(codex_agent.find_sessions(tmp_path / ".codex", Path("/repo")))

    assert [session.session_id for session in found] == ["b", "a"]
    assert all(session.touched_at > 0 for session in found)


def test_a_session_killed_in_a_call_knows_the_use_of_the_request_that_made_it(
    tmp_path: Path,
) -> None:
    lines = (RECORDED / "codex" / "rollout-0.166.jsonl").read_text(encoding="utf-8").splitlines()
    calls = [n for n, line in enumerate(lines) if '"type":"token_usage_record"' in line]
    killed = tmp_path / "rollout.jsonl"
    killed.write_text("\n".join(lines[: calls[1] + 1]) + "\n", encoding="utf-8")

    last = only(read_file(codex_agent, killed), Usage)[-1]

    assert (last.tokens, last.window) == (2524, 190_000)


def test_the_use_of_a_summary_and_of_sub_agents_is_not_the_sessions() -> None:
    path = RECORDED / "codex" / "rollout-0.166-compacted.jsonl"
    events = read_file(codex_agent, path)
    uses = [(each.tokens, each.window) for each in only(events, Usage)]
    other = {"thread_id": "another", "usage": {"total_tokens": 9}}
    record = {"type": "token_usage_record", "payload": other}

    assert uses[2:6] == [(195_056, 190_000)] * 3 + [(1290, 190_000)]
    assert only(feed(codex_agent, [meta("mine", "main"), record]), Usage) == []


def test_a_lock_says_whether_a_session_runs(tmp_path: Path) -> None:
    assert codex_agent.is_running(tmp_path, "one") is None
    locks = tmp_path / "thread-writer-locks"
    locks.mkdir()
    (locks / ".coordination.lock").touch()
    # It has removed the lock, as at the end of every session.
    assert codex_agent.is_running(tmp_path, "one") is False
    (locks / "one.lock").touch()
    assert codex_agent.is_running(tmp_path, "one") is False
    with (locks / "one.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert codex_agent.is_running(tmp_path, "one") is True
    assert codex_agent.is_running(tmp_path, "../one") is None


def test_the_tools_of_an_mcp_server_carry_its_name() -> None:
    ours = item(type="function_call", name="save", namespace="mcp__leftoff", call_id="c1")
    theirs = item(type="function_call", name="get", namespace="mcp__docs", call_id="c2")

    calls = only(feed(codex_agent, [ours, theirs]), ToolCall)

    assert [(each.tool, each.command) for each in calls] == [
        ("mcp__leftoff__save", "leftoff save"),
        ("mcp__docs__get", ""),
    ]


@pytest.mark.parametrize(
    ("phase", "marks"),
    [("commentary", (False, True)), ("final_answer", (True, False)), (None, (False, False))],
)
def test_words_say_whether_they_end_the_turn(phase: str | None, marks: tuple[bool, bool]) -> None:
    content = [{"type": "output_text", "text": "Still running."}]
    (said,) = only(
        feed(codex_agent, [item(type="message", role="assistant", content=content, phase=phase)]),
        AssistantText,
    )

    assert (said.ends_turn, said.is_interim) == marks
