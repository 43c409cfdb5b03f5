"""Claude Code transcripts are read correctly, and nothing is added."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff import processes
from leftoff.agents.claude import claude_agent
from leftoff.agents.claude.requests import request_in
from leftoff.agents.registry import AGENTS
from leftoff.agents.stream import (
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    PromptQueued,
    PromptTaken,
    SessionEvent,
    SessionInfo,
    TodoChange,
    TodoItem,
    TodoList,
    ToolCall,
    ToolResult,
    TurnFailed,
    Usage,
    UserText,
)
from programs import name_process_domain
from recordings import RECORDED, feed, only, read_file

RECORDINGS = sorted((RECORDED / "claude").glob("*.jsonl"))
NAMES = [path.stem for path in RECORDINGS]


def recorded(name: str) -> list[SessionEvent]:
    return read_file(claude_agent, RECORDED / "claude" / f"{name}.jsonl")


def user(content: object, **fields: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


def answer(*blocks: dict[str, Any], **fields: object) -> dict[str, Any]:
    message = {"role": "assistant", "model": "claude-opus-5-5", "content": list(blocks)}
    return {"type": "assistant", "message": {**message, **fields}}


def call(name: str, **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"call-{name}", "name": name, "input": given}


def result(name: str, content: object, **fields: object) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"call-{name}", "content": content, **fields}
    return user([block])


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_a_recording_is_recognised_as_claude_alone(path: Path) -> None:
    head = path.read_bytes()[:65536]

    assert [name for name, agent in AGENTS.items() if agent.recognises(head, path)] == ["claude"]


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_a_recording_shows_its_session_and_place(path: Path) -> None:
    events = read_file(claude_agent, path)

    assert only(events, SessionInfo)
    assert only(events, Place)[0].cwd == "/home/dev/repo"


def test_edits_writes_and_failures_are_read_with_their_paths_and_outputs() -> None:
    events = recorded("p_edit_write_commit_failure")

    edits = [event.paths for event in only(events, ToolCall) if event.kind == "edit"]
    failed = [event.output for event in only(events, ToolResult) if not event.ok]
    assert edits == [("/home/dev/repo/app.py",), ("/home/dev/repo/new.txt",)]
    assert failed == ["ls: cannot access '/nope': No such file or directory"]


def test_a_checkout_is_seen_as_a_change_of_branch() -> None:
    places = only(recorded("p_edit_write_commit_failure"), Place)

    assert [place.branch for place in places if place.branch] == ["main", "feature/x"]


def test_a_killed_call_has_no_result() -> None:
    events = recorded("p_kill9_in_tool")

    assert [event.command for event in only(events, ToolCall)] == ["sleep 20; echo x > late.txt"]
    assert not only(events, ToolResult)


def test_a_prompt_queued_when_the_agent_was_killed_is_shown_and_not_taken() -> None:
    events = recorded("tui_queued_prompt_kill9")

    assert [event.text for event in only(events, PromptQueued)] == ["QUEUED-PROMPT waiting"]
    assert not only(events, PromptTaken)


def test_a_prompt_blocked_by_a_hook_is_shown_as_waiting() -> None:
    events = recorded("p_prompt_blocked")

    assert [event.text for event in only(events, PromptQueued)][-1] == "secret prompt one"


def test_a_compaction_summary_is_not_a_request() -> None:
    events = recorded("p_manual_compact")

    assert [event.text for event in only(events, UserText)] == [
        "first prompt",
        "second prompt",
        "third prompt",
    ]
    assert [bool(event.summary) for event in only(events, Compaction)] == [False, True]


def test_commands_of_the_program_and_shell_mode_are_not_requests() -> None:
    events = recorded("tui_edit_tasks_cwd_model_queue_kill9")

    assert [event.text for event in only(events, UserText)] == [
        "edit it",
        "first of queue",
        "second queued while busy",
    ]


def test_what_a_sub_agent_does_is_marked() -> None:
    events = recorded("p_subagent_child")

    assert {event.sidechain for event in only(events, AssistantText)} == {True}
    assert not only(events, Usage)


def test_a_written_plan_is_seen_with_path_and_text() -> None:
    seen = only(recorded("p_plan_file"), PlanSeen)

    assert any(plan.path.endswith(".md") and plan.text for plan in seen)


def test_a_whole_todo_list_is_read() -> None:
    assert only(recorded("p_todowrite"), TodoList)[-1].items == (
        TodoItem(text="Do a", status="completed"),
        TodoItem(text="Do b", status="in_progress"),
    )


def test_a_task_gets_its_real_id_from_the_result() -> None:
    changes = only(recorded("p_tasks"), TodoChange)

    assert [change.new_id for change in changes if change.new_id] == ["1", "2"]
    assert changes[-1] == TodoChange(at=changes[-1].at, id="1", status="completed")


def test_usage_counts_what_came_from_the_cache_and_only_on_the_main_thread() -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 1000,
        "output_tokens": 50,
    }
    side = {**answer(usage={"input_tokens": 9}), "isSidechain": True}

    assert only(feed(claude_agent, [answer(usage=usage), side]), Usage) == [
        Usage(tokens=1023, model="claude-opus-5-5")
    ]


@pytest.mark.parametrize(
    "entry",
    [
        user("Stop hook feedback:\nnot yet", isMeta=True),
        user("<local-command-stdout>ok</local-command-stdout>"),
        user("<bash-input>ls</bash-input>"),
        user("<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
        user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
        user("<task-notification>\n<task-id>1</task-id></task-notification>"),
        user("done", origin={"kind": "task-notification"}),
        user("<system-reminder>\nbe brief\n</system-reminder>"),
        user("This session is being continued from a previous conversation that ran out."),
        user("summary", isVisibleInTranscriptOnly=True),
        user("[SYSTEM NOTIFICATION - NOT USER INPUT]\nA background task ended."),
        user(
            [
                {"type": "tool_result", "tool_use_id": "1", "content": []},
                {"type": "text", "text": "Tool loaded."},
            ]
        ),
    ],
)
def test_what_no_person_asked_is_not_a_request(entry: dict[str, Any]) -> None:
    assert not only(feed(claude_agent, [entry]), UserText)


def test_a_skill_that_runs_apart_from_the_conversation_is_not_a_request_to_it() -> None:
    caveat = "<local-command-caveat>The command below was run directly.</local-command-caveat>"
    entries = [
        user(caveat, isMeta=True, promptId="p1"),
        user("/code-review 12", promptId="p1"),
        user("/etc/hosts is wrong", promptId="p2"),
        user("Fix it", promptId="p3"),
    ]

    asked = only(feed(claude_agent, entries), UserText)

    assert [each.text for each in asked] == ["/etc/hosts is wrong", "Fix it"]


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("fix the login", "fix the login"),
        (
            (
                "<command-message>gsd:quick</command-message>\n<command-name>/gsd:quick</command-name>"
                "\n<command-args>mend the footer</command-args>"
            ),
            "/gsd:quick mend the footer",
        ),
        (
            [
                {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
                {"type": "text", "text": "explain this"},
            ],
            "explain this",
        ),
        ("go on<system-reminder>\nnote\n</system-reminder>", "go on"),
        ([{"type": "image", "source": {}}, {"type": "text", "text": "like this"}], "like this"),
    ],
)
def test_a_request_is_shown_without_the_program_s_additions(content: object, asked: str) -> None:
    assert [event.text for event in only(feed(claude_agent, [user(content)]), UserText)] == [asked]


def test_a_plan_given_to_implement_is_seen() -> None:
    entry = user("Implement the following plan:\n\n# Login", planContent="# Login\n\n1. form")

    assert only(feed(claude_agent, [entry]), PlanSeen) == [PlanSeen(text="# Login\n\n1. form")]


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            (
                "The user doesn't want to proceed with this tool use. The tool use was rejected. "
                "To tell you how to proceed, the user said:\nuse a switch instead"
            ),
            "use a switch instead",
        ),
        ("The user doesn't want to proceed with this tool use. STOP what you are doing.", ""),
        ("[Request interrupted by user for tool use]", ""),
        (
            (
                "The user doesn't want to proceed with this tool use. The tool use was rejected. "
                "To tell you how to proceed, the user said:\nThe user wants to clarify these "
                "questions.\n    Start by asking them what they would like to clarify."
            ),
            "",
        ),
        ("Permission to use Bash with command make has been denied.", ""),
        ("Exit code 1\nboom", None),
    ],
)
def test_a_refused_call_carries_the_user_s_reason(output: str, reason: str | None) -> None:
    events = feed(
        claude_agent, [answer(call("Bash", command="make")), result("Bash", output, is_error=True)]
    )

    assert only(events, ToolResult)[0].rejected == reason


@pytest.mark.parametrize(
    ("tool", "output", "is_blocked"),
    [
        (
            "Bash",
            "<tool_use_error>Blocked: sleep 61 followed by: make. To wait …</tool_use_error>",
            True,
        ),
        (
            "Write",
            "Claude requested permissions to write to a.py, but you haven't granted it yet.",
            True,
        ),
        ("Bash", "Exit code 1\nBlocked: by a hook of git", False),
        ("Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>", False),
    ],
)
def test_a_call_that_the_program_turned_down_was_blocked(
    tool: str, output: str, *, is_blocked: bool
) -> None:
    events = feed(claude_agent, [answer(call(tool)), result(tool, output, is_error=True)])

    (ended,) = only(events, ToolResult)
    assert (ended.ok, ended.rejected, ended.is_blocked) == (False, None, is_blocked)


def test_the_exit_code_line_is_not_part_of_the_error() -> None:
    events = feed(
        claude_agent,
        [answer(call("Bash", command="grep x y")), result("Bash", "Exit code 1", is_error=True)],
    )

    assert only(events, ToolResult)[0].output == ""


def test_halves_of_lines_around_a_gap_are_not_part_of_the_output() -> None:
    output = (
        "Exit code 1\na.ts:1: error\n  at /home/a\n\n... [82 characters truncated] ...\n\nda/b.ts"
    )
    call_and_result = [
        answer(call("Bash", command="make")),
        result("Bash", f"{output}\nc.ts:2: error", is_error=True),
    ]

    events = feed(claude_agent, call_and_result)

    assert only(events, ToolResult)[0].output == "a.ts:1: error\n…\nc.ts:2: error"


@pytest.mark.parametrize(
    ("block", "kind", "what", "paths"),
    [
        (call("Edit", file_path="/r/a.py", old_string="x"), "edit", "/r/a.py", ("/r/a.py",)),
        (call("MultiEdit", file_path="/r/a.py", edits=[]), "edit", "/r/a.py", ("/r/a.py",)),
        (call("NotebookEdit", notebook_path="/r/n.ipynb"), "edit", "/r/n.ipynb", ("/r/n.ipynb",)),
        (call("Read", file_path="D:\\r\\a.py"), "read", "D:\\r\\a.py", ("D:\\r\\a.py",)),
        (call("PowerShell", command="dir"), "run", "dir", ()),
        (call("Grep", pattern="x", path="src"), "search", "pattern: x, path: src", ("src",)),
        (
            call("Task", description="look", prompt="find"),
            "agent",
            "description: look, prompt: find",
            (),
        ),
        (call("ExitPlanMode", plan="# Do it\n\n1. now"), "other", "Do it", ()),
        (
            call("AskUserQuestion", questions=[{"question": "Which way?", "options": []}]),
            "other",
            "Which way?",
            (),
        ),
        (
            call("mcp__fs__write_file", path="/r/b.txt", content=""),
            "edit",
            "/r/b.txt",
            ("/r/b.txt",),
        ),
        (call("Edit", file_path=7), "edit", "file_path: 7", ()),
    ],
)
def test_a_call_is_shown_by_its_kind_and_one_telling_line(
    block: dict[str, Any], kind: str, what: str, paths: tuple[str, ...]
) -> None:
    event = only(feed(claude_agent, [answer(block)]), ToolCall)[0]

    assert (event.kind, event.what, event.paths) == (kind, what, paths)


def queue(operation: str, content: str | None = None) -> dict[str, Any]:
    entry = {"type": "queue-operation", "operation": operation}
    return {**entry, "content": content} if content is not None else entry


def test_what_is_removed_without_a_name_was_queued_last() -> None:
    notice = "<task-notification>done</task-notification>"
    entries = [queue("enqueue", notice), queue("enqueue", "and the docs"), queue("remove")]

    assert len(only(feed(claude_agent, entries), PromptTaken)) == 1


def test_a_prompt_typed_directly_means_that_the_queue_is_empty() -> None:
    typed = {"type": "user", "message": {"content": "now the tests"}}
    entries = [queue("enqueue", "one"), queue("enqueue", "two"), queue("dequeue")]
    begun = {"type": "user", "message": {"content": "one"}}

    assert len(only(feed(claude_agent, [*entries, begun]), PromptTaken)) == 1
    assert len(only(feed(claude_agent, [*entries, begun, typed]), PromptTaken)) == 2


def test_a_notice_in_the_queue_is_taken_before_the_prompt_behind_it() -> None:
    notice = '{"task_id":"b1","description":"tests"}'
    entries = [queue("enqueue", notice), queue("enqueue", "and the docs"), queue("dequeue")]

    events = feed(claude_agent, entries)
    assert only(events, PromptQueued) == [PromptQueued(text="and the docs")]
    assert not only(events, PromptTaken)

    assert len(only(feed(claude_agent, [*entries, queue("dequeue")]), PromptTaken)) == 1


def test_a_prompt_consumed_in_mid_turn_is_a_request() -> None:
    attached = {"type": "queued_command", "prompt": "use tabs"}
    entries = [queue("enqueue", "use tabs"), {"type": "attachment", "attachment": attached}]

    events = feed(claude_agent, entries)

    assert [event.text for event in only(events, UserText)] == ["use tabs"]
    assert [event.text for event in only(events, PromptTaken)] == ["use tabs"]


def test_prompts_pulled_back_into_the_input_box_no_longer_wait() -> None:
    entries = [queue("enqueue", "one"), queue("enqueue", "two"), queue("popAll")]

    assert len(only(feed(claude_agent, entries), PromptTaken)) == 2


def test_a_reader_keeps_no_text_of_a_prompt() -> None:
    reader = claude_agent.new_reader({})
    reader.feed(json.dumps(queue("enqueue", "the password is hunter2")).encode())

    assert "hunter2" not in json.dumps(reader.state)


def test_the_edits_of_a_sub_agent_in_progress_entries_are_read() -> None:
    inner = {**answer(call("Write", file_path="/r/sub.py")), "timestamp": "t"}
    data = {"message": inner, "type": "agent_progress", "agentId": "a1"}
    done = {"message": result("Write", "ok"), "type": "agent_progress"}
    hook = {"type": "hook_progress", "hookEvent": "Stop", "command": "x"}

    events = feed(claude_agent, [{"type": "progress", "data": each} for each in (data, hook, done)])

    assert [(event.paths, event.sidechain) for event in only(events, ToolCall)] == [
        (("/r/sub.py",), True)
    ]
    assert [event.ok for event in only(events, ToolResult)] == [True]


def test_answers_made_up_by_the_program_are_not_shown() -> None:
    made_up = answer({"type": "text", "text": "API Error: 400"}, model="<synthetic>")
    failed = {**answer({"type": "text", "text": "API Error"}), "isApiErrorMessage": True}

    assert feed(claude_agent, [made_up, failed]) == [TurnFailed(error="API Error")]


def test_an_unknown_type_of_line_is_silent() -> None:
    assert feed(claude_agent, [{"type": "frame-link", "cwd": "/x"}, {"no": "type"}]) == []


def test_a_file_says_whether_a_process_is_in_a_session(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    domain = name_process_domain()

    def is_running(**changes: object) -> bool | None:
        folder.mkdir(exist_ok=True)
        named = {"pid": os.getpid(), "sessionId": "one", "pidDomain": domain, **changes}
        (folder / "1.json").write_text(json.dumps(named), encoding="utf-8")
        return claude_agent.is_running(tmp_path, "one")

    assert claude_agent.is_running(tmp_path, "one") is None
    assert is_running() is True
    assert is_running(procStart=str(int(processes.read_start_time(os.getpid())))) is True
    # The number belongs to a later process now, or to none.
    assert is_running(procStart="1") is False
    assert is_running(pid=4194304) is False
    assert is_running(pid="odd") is False
    # After /clear, the process is in another session.
    assert is_running(sessionId="two") is None
    # A process of another container or machine that shares the home.
    assert is_running(pid=4194304, pidDomain="linux:other:pid:[1]") is None
    (folder / "2.json").write_text("garbled", encoding="utf-8")
    (folder / "3.json").mkdir()
    assert is_running() is True


def test_sessions_are_found_by_the_folder_and_below_it(tmp_path: Path) -> None:
    for session_id, cwd in (
        ("here", "/home/dev/my_repo.x"),
        ("below", "/home/dev/my_repo.x/api"),
        ("beside", "/home/dev/my_repo.x-two"),
    ):
        folder = tmp_path / "projects" / cwd.replace("/", "-").replace("_", "-").replace(".", "-")
        folder.mkdir(parents=True)
        line = json.dumps(user("hello", cwd=cwd))
        (folder / f"{session_id}.jsonl").write_text(line + "\n", encoding="utf-8")

    found = claude_agent.find_sessions(tmp_path, Path("/home/dev/my_repo.x"))

    assert {session.session_id for session in found} == {"here", "below"}


CORRUPTED = RECORDED / "claude" / "p_tasks.jsonl"


@given(data=st.data())
def test_one_wrong_byte_costs_at_most_the_events_of_its_line(data: st.DataObject) -> None:
    lines = CORRUPTED.read_bytes().splitlines()
    which = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[which]) - 1))
    wrong = data.draw(st.integers(0, 255).filter(lambda byte: byte != 0x0A))
    damaged = lines[which][:at] + bytes([wrong]) + lines[which][at + 1 :]

    whole, broken = claude_agent.new_reader({}), claude_agent.new_reader({})
    for number, line in enumerate(lines):
        expected = whole.feed(line)
        if number != which:
            _same_but_place(broken.feed(line), expected)
            continue
        try:
            broken.feed(damaged)
        except (ValueError, RecursionError):
            continue


def _same_but_place(got: Sequence[SessionEvent], expected: Sequence[SessionEvent]) -> None:
    """Compare the events, but for those that rest on the line that was lost."""
    for kind in (UserText, AssistantText, ToolCall):
        assert only(got, kind) == only(expected, kind)


# With an expression that looks for each closing tag anew, these would take hours.
@pytest.mark.parametrize("text", ["<system-reminder>" * 60_000, "<system-reminder " * 60_000])
def test_tags_that_nothing_closes_are_words_of_the_user(text: str) -> None:
    assert request_in(text) == text.strip()
    assert request_in("<command-name>" * 60_000) == ""


@given(
    st.lists(
        st.sampled_from(
            ["<system-reminder>", "</system-reminder>", "<new-diagnostics a='>'>", "x", "\n",
             "</new-diagnostics>", "<system-reminder", ">", "<"]
        )
    ).map("".join)
)  # fmt: skip
def test_only_what_is_between_tags_of_programs_is_left_out(text: str) -> None:
    block = re.compile(r"<(system-reminder|new-diagnostics)\b[^>]*>.*?</\1>", re.DOTALL)
    asked = f"Look: <system-reminder>{text}"

    assert request_in(asked) == block.sub("", asked.strip()).strip()
