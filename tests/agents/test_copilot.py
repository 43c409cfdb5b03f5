import json
import os
from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.copilot import copilot_agent
from leftoff.agents.copilot.todo_table import checklist, replay
from leftoff.agents.stream import (
    AssistantText,
    Compaction,
    Place,
    PlanSeen,
    PromptQueued,
    SessionInfo,
    TodoList,
    ToolCall,
    ToolResult,
    Usage,
    UserText,
)
from recordings import RECORDED, feed, only, read_file

RECORDINGS = sorted((RECORDED / "copilot").glob("*.jsonl"))


def event(kind: str, /, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "timestamp": "2026-06-25T01:50:34.403Z"}


def start(tool: str, call_id: str = "c1", /, **arguments: Any) -> dict[str, Any]:
    return event("tool.execution_start", toolCallId=call_id, toolName=tool, arguments=arguments)


def complete(content: str, call_id: str = "c1", /, **data: Any) -> dict[str, Any]:
    given = {"success": True, **data}
    return event(
        "tool.execution_complete", toolCallId=call_id, result={"content": content}, **given
    )


def result(*records: dict[str, Any]) -> ToolResult:
    return only(feed(copilot_agent, records), ToolResult)[-1]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_the_recorded_sessions_show_their_story(path: Path) -> None:
    events = read_file(copilot_agent, path)

    assert only(events, SessionInfo)[0].agent_version == "1.0.102"
    assert only(events, Place)[0].branch == "feature/x"
    assert [asked.text for asked in only(events, UserText)] == ["please write notes and list"]
    assert [call.paths for call in only(events, ToolCall) if call.kind == "edit"] == [
        ("/home/dev/repo/notes.txt",)
    ]
    (failed,) = [found for found in only(events, ToolResult) if not found.ok]
    assert failed.output.startswith("ls: cannot access")
    assert only(events, AssistantText)[-1].text.endswith("Next action: fix the path.")
    assert only(events, Usage)[-1].window == 128000


def test_a_cancelled_compaction_is_none() -> None:
    events = read_file(copilot_agent, RECORDED / "copilot" / "events-compaction.jsonl")

    assert not only(events, Compaction)
    assert max(usage.tokens for usage in only(events, Usage)) >= 127079


def test_a_compaction_shows_its_summary_and_what_is_left() -> None:
    done = event(
        "session.compaction_complete",
        success=True,
        summaryContent="We built it.",
        postCompactionTokens=30000,
        tokenLimit=128000,
    )

    summary, usage = feed(copilot_agent, [done])

    assert summary == Compaction(summary="We built it.", at=done["timestamp"])
    assert isinstance(usage, Usage)
    assert (usage.tokens, usage.window) == (30000, 128000)


def test_the_recorded_todos_are_read_from_sql() -> None:
    events = read_file(copilot_agent, RECORDED / "copilot" / "events-todos.jsonl")

    (todos,) = only(events, TodoList)
    assert [(todo.id, todo.text, todo.status) for todo in todos.items] == [
        ("write-notes", "Write notes.txt", "in_progress"),
        ("run-listing", "Run the listing", "pending"),
    ]


def test_todos_follow_the_statements_of_the_whole_session() -> None:
    insert = "INSERT INTO todos (id, title) VALUES ('a', 'A; b'), ('c', 'C')"
    update = "UPDATE todos SET status = 'done' WHERE id = 'a'; DELETE FROM todos WHERE id = 'c';"
    events = feed(
        copilot_agent,
        [
            start("sql", query=insert),
            complete("2 rows"),
            start("sql", query=update),
            complete("ok"),
        ],
    )

    assert [(todo.text, todo.status) for todo in only(events, TodoList)[-1].items] == [
        ("A; b", "completed")
    ]


def test_a_failed_statement_changes_no_todos() -> None:
    failed = complete("no such column", success=False)

    assert not only(
        feed(copilot_agent, [start("sql", query="UPDATE todos SET x = 1"), failed]), TodoList
    )


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH DATABASE '{path}' AS other; CREATE TABLE other.todos (id)",
        "VACUUM INTO '{path}'",
        "PRAGMA journal_mode = WAL",
        "CREATE TABLE todos2 AS SELECT * FROM todos",
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
            "INSERT INTO todos (id) SELECT x FROM n"
        ),
        "not sql at all, todos",
    ],
)
def test_statements_reach_nothing_but_the_todos(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "planted.db"

    assert replay([["a", "A", "pending"]], statement.format(path=path)) is None
    assert not path.exists()


def test_older_versions_keep_todos_as_a_checklist() -> None:
    todos = checklist("- [x] Read\n- [~] Write\n1. [ ] Test\nnot a box\n")

    assert [(todo.text, todo.status) for todo in todos] == [
        ("Read", "completed"),
        ("Write", "in_progress"),
        ("Test", "pending"),
    ]


@pytest.mark.parametrize(
    ("content", "data", "ok"),
    [
        ("fine\n<shellId: 0 completed with exit code 0>", {}, True),
        ("\n<shellId: 50 completed with exit code 128>", {}, False),
        ("no\n<exited with exit code 1>", {}, False),
        ("no", {"shellExecution": {"exitCode": 3}}, False),
        ("it says: completed with exit code 1> and goes on", {}, True),
        ("", {"success": False, "error": {"message": "timed out", "code": "failure"}}, False),
    ],
)
def test_a_command_is_judged_by_its_exit_status(content: str, data: Any, ok: bool) -> None:  # noqa: FBT001
    assert result(start("bash", command="make"), complete(content, **data)).ok is ok


@pytest.mark.parametrize(
    "mark", ["<shellId: 0 completed with exit code 1>", "<exited with exit code 1>"]
)
def test_what_copilot_adds_to_the_output_is_not_part_of_it(mark: str) -> None:
    found = result(start("bash", command="make"), complete(f"FAILED test_header\n{mark}"))

    assert (found.output, found.exit) == ("FAILED test_header", 1)


def test_the_recorded_failure_ends_with_the_words_of_the_command() -> None:
    events = read_file(copilot_agent, RECORDED / "copilot" / "events-todos.jsonl")

    (failed,) = [found for found in only(events, ToolResult) if not found.ok]
    assert failed.output.endswith("No such file or directory")


def test_an_error_is_the_output_of_a_failed_call() -> None:
    failed = complete("", success=False, error={"message": "no such path", "code": "failure"})

    assert result(start("view", path="a.py"), failed).output == "no such path"


def test_a_refused_call_carries_the_users_reason() -> None:
    denied = event(
        "permission.completed",
        toolCallId="c1",
        result={"kind": "denied-interactively-by-user", "feedback": "use pnpm"},
    )
    ended = complete("", success=False, error={"message": "denied", "code": "denied"})

    assert result(start("bash", command="npm i"), denied, ended).rejected == "use pnpm"


LONG = [
    start("bash", "c1", command="npm test", mode="async", shellId="s1"),
    complete("<command started in background with shellId: s1>", "c1"),
]


def test_a_long_command_goes_on_after_its_call() -> None:
    slow = complete("a\n<command with shellId: 7 is still running after 30 seconds. Wait.>", "c1")

    assert only(feed(copilot_agent, LONG), ToolResult) == []
    assert only(feed(copilot_agent, [LONG[0], slow]), ToolResult) == []


def test_a_long_command_ends_when_its_shell_is_read() -> None:
    read = start("read_bash", "c2", shellId="s1", delay=5)
    failed = complete("1 failed\n<exited with exit code 1>", "c2")

    events = feed(copilot_agent, [*LONG, read, failed])

    assert only(events, ToolCall)[1].what == "npm test"
    assert [(found.id, found.ok) for found in only(events, ToolResult)] == [
        ("c2", True),
        ("c1", False),
    ]


def test_a_shell_that_cannot_be_read_says_nothing_about_the_command() -> None:
    read = start("read_bash", "c2", shellId="s1", delay=5)
    gone = complete("", "c2", success=False, error={"message": "already stopped"})

    assert [found.id for found in only(feed(copilot_agent, [*LONG, read, gone]), ToolResult)] == [
        "c2"
    ]


def test_a_stopped_command_has_not_failed() -> None:
    stop = [start("stop_bash", "c2", shellId="s1"), complete("<command with id: s1 stopped>", "c2")]

    ended = only(feed(copilot_agent, [*LONG, *stop]), ToolResult)[-1]

    assert (ended.id, ended.ok, ended.output) == ("c1", False, "")


def test_a_notice_ends_a_command_that_went_well() -> None:
    def notice(code: int) -> dict[str, Any]:
        kind = {"type": "shell_completed", "shellId": "s1", "exitCode": code}
        return event("system.notification", content="done", kind=kind)

    (ended,) = only(feed(copilot_agent, [*LONG, notice(0)]), ToolResult)

    assert (ended.id, ended.ok) == ("c1", True)
    assert only(feed(copilot_agent, [*LONG, notice(1)]), ToolResult) == []


def test_edits_name_their_files_in_every_form() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
    calls = feed(
        copilot_agent,
        [
            start("create", path="/r/new.py", file_text="x"),
            start("edit", path="/r/old.py", old_str="a", new_str="b"),
            start("str_replace_editor", command="create", path="/r/c.py"),
            event("tool.execution_start", toolCallId="c", toolName="apply_patch", arguments=patch),
            start("apply_patch", input=patch),
        ],
    )

    paths = [call.paths for call in only(calls, ToolCall) if call.kind == "edit"]
    assert paths == [("/r/new.py",), ("/r/old.py",), ("/r/c.py",), ("a.py",), ("a.py",)]


def test_an_editor_that_views_does_not_edit() -> None:
    (call,) = only(
        feed(copilot_agent, [start("str_replace_editor", command="view", path="a")]), ToolCall
    )

    assert (call.kind, call.command) == ("read", "")


def test_a_sub_agents_work_is_marked() -> None:
    inner = start("edit", path="a.py")
    inner["agentId"] = "explore-1"
    older = event("tool.execution_start", toolCallId="x", toolName="edit", parentToolCallId="t")

    assert [call.sidechain for call in feed(copilot_agent, [inner, older, start("edit")])] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("answer", "queued", "asked"),
    [
        ("leftoff: context at 90.00%. The prompt was not sent, but it is kept.", ["now docs"], []),
        ("The hook of somebody else knows it.", [], ["now docs"]),
    ],
)
def test_a_prompt_that_leftoff_answered_in_place_of_the_model_is_kept(
    answer: str, queued: list[str], asked: list[str]
) -> None:
    run = {"hookInvocationId": "1", "hookType": "userPromptSubmitted"}
    output = {"handled": True, "responseContent": answer}
    events = feed(
        copilot_agent,
        [
            {"type": "hook.start", "data": {**run, "input": {"prompt": "now docs"}}},
            {"type": "hook.end", "data": {**run, "output": output}},
            {"type": "user.message", "data": {"content": "now docs"}},
            {"type": "assistant.message", "data": {"content": answer}},
            {"type": "user.message", "data": {"content": "go on"}},
            {"type": "assistant.message", "data": {"content": "It is done."}},
        ],
    )

    assert [each.text for each in only(events, PromptQueued)] == queued
    assert [each.text for each in only(events, UserText)] == [*asked, "go on"]
    said = [each.text for each in only(events, AssistantText)]
    assert said == [*([answer] if asked else []), "It is done."]


def test_a_blocked_prompt_is_kept_and_a_passed_one_is_not() -> None:
    def hook(number: str, output: Any) -> list[dict[str, Any]]:
        given = {"hookInvocationId": number, "hookType": "userPromptSubmitted"}
        return [
            event("hook.start", **given, input={"prompt": f"prompt {number}"}),
            event("hook.end", **given, success=True, output=output),
        ]

    events = feed(
        copilot_agent, [*hook("1", {"additionalContext": "x"}), *hook("2", {"decision": "block"})]
    )

    assert [queued.text for queued in only(events, PromptQueued)] == ["prompt 2"]


def test_words_put_in_the_users_mouth_are_not_the_users() -> None:
    events = feed(
        copilot_agent,
        [
            event("user.message", content="<skill-context>do</skill-context>", source="skill-pdf"),
            event("user.message", content="fix it", source="user"),
            event("user.message", content="and test"),
        ],
    )

    assert [asked.text for asked in only(events, UserText)] == ["fix it", "and test"]


def test_nothing_is_in_flight_after_an_abort() -> None:
    events = feed(copilot_agent, [start("bash", command="sleep 9"), event("abort", reason="user")])

    assert [found.rejected for found in only(events, ToolResult)] == [""]


def test_a_plan_is_seen_where_it_is_written_and_shown() -> None:
    path = "/home/dev/.copilot/session-state/1/plan.md"
    events = feed(
        copilot_agent,
        [
            start("create", path=path, file_text="# Ship"),
            start("exit_plan_mode", summary="Ship it"),
        ],
    )

    assert [(plan.path, plan.text) for plan in only(events, PlanSeen)] == [
        (path, "# Ship"),
        ("", "Ship it"),
    ]


def test_sessions_are_found_by_folder(tmp_path: Path) -> None:
    for name, cwd in (("a", "/repo"), ("b", "/repository")):
        folder = tmp_path / ".copilot" / "session-state" / name
        folder.mkdir(parents=True)
        line = event("session.start", sessionId=name, context={"cwd": cwd})
        (folder / "events.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")

    found = list(copilot_agent.find_sessions(tmp_path / ".copilot", Path("/repo")))

    assert [session.session_id for session in found] == ["a"]


def test_the_name_of_a_file_says_whether_a_session_runs(tmp_path: Path) -> None:
    assert copilot_agent.is_running(tmp_path, "one") is None
    folder = tmp_path / "session-state" / "one"
    folder.mkdir(parents=True)
    (folder / "inuse.odd.lock").touch()
    assert copilot_agent.is_running(tmp_path, "one") is None
    # No process has the largest number.
    (folder / "inuse.4194304.lock").touch()
    assert copilot_agent.is_running(tmp_path, "one") is False
    (folder / f"inuse.{os.getpid()}.lock").touch()
    assert copilot_agent.is_running(tmp_path, "one") is True
