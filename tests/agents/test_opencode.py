import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.opencode import opencode_agent
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
from leftoff.errors import SessionUnreadable
from recordings import RECORDED, only, read_file

REFUSED = "The user rejected permission to use this specific tool call"
SESSION = "ses_e1f540aecffepaHwr6bYdaRWxI"


def recorded() -> dict[str, list[dict[str, Any]]]:
    path = RECORDED / "opencode" / "dump.json"
    tables: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return tables


def insert(database: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" * len(row))
    columns = ", ".join(row)
    database.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(row.values()))  # noqa: S608


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make a home folder with the recorded database."""
    folder = tmp_path / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "opencode.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript((RECORDED / "opencode" / "schema.sql").read_text(encoding="utf-8"))
        for table, rows in recorded().items():
            for row in rows:
                insert(database, table, row)
        database.commit()
    return tmp_path


@pytest.fixture
def path(home: Path) -> Path:
    return home / ".local" / "share" / "opencode" / "opencode.db"


def exported() -> dict[str, Any]:
    """Write the recorded session the way `opencode export` does."""
    tables = recorded()
    (session,) = tables["session"]
    messages = []
    for row in tables["message"]:
        parts = [part for part in tables["part"] if part["message_id"] == row["id"]]
        own = {"id": row["id"], "sessionID": SESSION, **json.loads(row["data"])}
        messages.append(
            {"info": own, "parts": [{"id": p["id"], **json.loads(p["data"])} for p in parts]}
        )
    info = {"id": SESSION, "version": session["version"], "directory": session["directory"]}
    return {"info": info, "messages": messages}


Save = Callable[[dict[str, Any]], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(document: dict[str, Any]) -> Path:
        file = tmp_path / "export.json"
        file.write_text(json.dumps(document, indent=2), encoding="utf-8")
        return file

    return write


def message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"role": role, "sessionID": "ses_1", **info}, "parts": list(parts)}


def words(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def tool(name: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": name, "state": {"status": status, **state}}


def session(*messages: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": "ses_1", **info}, "messages": list(messages)}


def test_the_recorded_database_shows_its_story(path: Path) -> None:
    events = read_file(opencode_agent, path)

    assert only(events, SessionInfo) == [SessionInfo(session_id=SESSION, agent_version="1.18.33")]
    assert only(events, Place) == [Place(cwd="/home/dev/repo")]
    assert [asked.text for asked in only(events, UserText)] == ["please write notes and list"]
    assert [call.tool for call in only(events, ToolCall)] == ["todowrite", "write", "bash"]
    assert [result.ok for result in only(events, ToolResult)] == [True, True, False]
    assert only(events, ToolResult)[1].paths == ("/home/dev/repo/notes.txt",)
    assert [todo.status for todo in only(events, TodoList)[-1].items] == ["in_progress", "pending"]
    assert only(events, Usage)[-1].tokens == 1290
    assert only(events, AssistantText)[-1].text.endswith("Next action: fix the path.")


def test_an_export_and_the_database_show_the_same(path: Path, save: Save) -> None:
    file = save(exported())

    assert opencode_agent.recognises(file.read_bytes(), file) == "document"
    # The table of todos is not exported.
    assert read_file(opencode_agent, file) == read_file(opencode_agent, path)[:-1]


def test_reading_leaves_nothing_beside_the_database(path: Path) -> None:
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}

    read_file(opencode_agent, path)
    list(opencode_agent.find_sessions(path.parent, Path("/home/dev/repo")))

    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_what_a_running_opencode_has_not_yet_checkpointed_is_read(path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        data = json.dumps({"role": "user"})
        insert(
            writer,
            "message",
            {
                "id": "msg_z",
                "session_id": SESSION,
                "time_created": 1,
                "time_updated": 1,
                "data": data,
            },
        )
        data = json.dumps({"type": "text", "text": "one more thing"})
        part = {"id": "prt_z", "message_id": "msg_z", "session_id": SESSION}
        insert(writer, "part", {**part, "time_created": 1, "time_updated": 1, "data": data})
        writer.commit()
        writer.execute("BEGIN IMMEDIATE")

        events = read_file(opencode_agent, path)

    assert only(events, UserText)[-1].text == "one more thing"


def test_a_sub_agents_work_follows_its_call_and_is_marked(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        (row,) = recorded()["session"]
        insert(database, "session", {**row, "id": "ses_child", "parent_id": SESSION})
        times = {"time_created": 1, "time_updated": 9e12}
        call = tool("task", input={"description": "look"}, metadata={"sessionId": "ses_child"})
        edit = tool("edit", input={"filePath": "/home/dev/repo/a.py"})
        for owner, part in ((SESSION, call), ("ses_child", edit)):
            own = {"id": f"msg_z{owner}", "session_id": owner, **times}
            insert(database, "message", {**own, "data": json.dumps({"role": "assistant"})})
            piece = {"id": f"prt_z{owner}", "message_id": own["id"], "session_id": owner, **times}
            insert(database, "part", {**piece, "data": json.dumps(part)})
        database.commit()

    calls = only(read_file(opencode_agent, path), ToolCall)

    assert [(call.tool, call.sidechain) for call in calls[-2:]] == [("task", False), ("edit", True)]


def test_a_session_is_chosen_by_its_id(path: Path) -> None:
    assert only(opencode_agent.read_document(path, "ses_none"), UserText) == []
    assert only(opencode_agent.read_document(path, SESSION), UserText)


def test_sessions_are_found_by_folder(home: Path) -> None:
    (found,) = opencode_agent.find_sessions(home / ".local/share/opencode", Path("/home/dev"))

    assert (found.session_id, found.touched_at) == (SESSION, 1794770743.112)
    assert (
        list(opencode_agent.find_sessions(home / ".local/share/opencode", Path("/home/other")))
        == []
    )


def test_a_database_of_another_shape_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE part (x)")
        database.commit()

    with pytest.raises(SessionUnreadable) as refused:
        opencode_agent.read_document(path, "")

    assert "opencode export" in refused.value.hint
    assert list(opencode_agent.find_sessions(tmp_path, Path("/"))) == []


def test_another_database_is_not_opencodes(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (x)")
        database.commit()

    assert opencode_agent.recognises(path.read_bytes(), path) is None


@pytest.mark.parametrize(
    ("error", "rejected"),
    [
        (f"{REFUSED}.", ""),
        (f"{REFUSED} with the following feedback: use pnpm", "use pnpm"),
        ("Tool execution aborted", ""),
        ("The user dismissed this question", ""),
        ("File not found", None),
    ],
)
def test_a_refused_call_carries_the_users_reason(
    save: Save, error: str, rejected: str | None
) -> None:
    failed = tool("bash", "error", input={"command": "npm i"}, error=error)

    (result,) = only(
        read_file(opencode_agent, save(session(message("assistant", failed)))), ToolResult
    )

    assert (result.ok, result.output, result.rejected) == (False, error, rejected)


@pytest.mark.parametrize(("milliseconds", "is_blocked"), [(10, True), (2500, False)])
def test_a_rejection_without_time_for_an_answer_was_opencodes_own(
    save: Save, milliseconds: int, *, is_blocked: bool
) -> None:
    time = {"start": 1795131991564, "end": 1795131991564 + milliseconds}
    failed = tool("bash", "error", input={"command": "npm i"}, error=f"{REFUSED}.", time=time)

    (result,) = only(
        read_file(opencode_agent, save(session(message("assistant", failed)))), ToolResult
    )

    assert (result.is_blocked, result.rejected) == (is_blocked, None if is_blocked else "")


def test_a_command_that_the_user_stopped_is_not_a_failure(save: Save) -> None:
    # As 1.18.33 stores it after Esc.
    output = "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    stopped = tool(
        "bash",
        "completed",
        input={"command": "sleep 118"},
        output=output,
        metadata={"output": output, "exit": None},
    )

    (result,) = only(
        read_file(opencode_agent, save(session(message("assistant", stopped)))), ToolResult
    )

    assert (result.ok, result.rejected) == (False, "")


def test_a_prompt_of_a_run_is_read_without_its_quotes(save: Save) -> None:
    asked = {"type": "text", "text": '"please write notes"'}

    (said,) = only(read_file(opencode_agent, save(session(message("user", asked)))), UserText)

    assert said.text == "please write notes"


@pytest.mark.parametrize(
    ("ending", "queued"),
    [
        ({"time": {"created": 2}}, ["and the docs", "then stop"]),
        ({"time": {"created": 2, "completed": 3}}, []),
        ({"time": {"created": 2}, "error": {"name": "MessageAbortedError"}}, []),
    ],
)
def test_a_prompt_typed_during_an_answer_waits_until_that_ends(
    save: Save, ending: dict[str, Any], queued: list[str]
) -> None:
    asked = [message("user", words(each)) for each in ("add a retry", "and the docs", "then stop")]
    answer = message("assistant", words("I'll"), **ending)
    found = read_file(opencode_agent, save(session(asked[0], answer, *asked[1:])))

    assert [each.text for each in only(found, PromptQueued)] == queued
    assert len(only(found, UserText)) == 3 - len(queued)


def test_a_running_call_has_no_result(save: Save) -> None:
    running = tool("bash", "running", input={"command": "make"})

    events = read_file(opencode_agent, save(session(message("assistant", running))))

    assert only(events, ToolCall)[0].command == "make"
    assert not only(events, ToolResult)


def test_what_stands_for_no_output_is_none(save: Save) -> None:
    silent = tool("bash", input={"command": "grep x a"}, output="(no output)", metadata={"exit": 1})

    (result,) = only(
        read_file(opencode_agent, save(session(message("assistant", silent)))), ToolResult
    )

    assert (result.ok, result.output) == (False, "")


def test_a_command_that_was_killed_did_not_go_well(save: Save) -> None:
    runs = [
        tool("bash", input={"command": "make"}, metadata={"exit": exit_code})
        for exit_code in (0, 1, None)
    ]

    results = only(
        read_file(opencode_agent, save(session(message("assistant", *runs)))), ToolResult
    )

    assert [result.ok for result in results] == [True, False, False]


def test_only_tools_that_edit_name_files_as_changed(save: Save) -> None:
    look = tool("peek", input={"path": "a.py"}, metadata={"filepath": "/r/a.py"})

    (result,) = only(
        read_file(opencode_agent, save(session(message("assistant", look)))), ToolResult
    )

    assert result.paths == ()


def test_a_plan_written_to_its_folder_is_seen(save: Save) -> None:
    path = "/r/.opencode/plans/1770000000-quiet-fox.md"
    write = tool("write", input={"filePath": path, "content": "# Login"})

    events = read_file(opencode_agent, save(session(message("assistant", write))))

    assert [(plan.path, plan.text) for plan in only(events, PlanSeen)] == [(path, "# Login")]


def test_a_command_is_named_instead_of_its_template(save: Save) -> None:
    part = {"type": "subtask", "command": "review", "prompt": "You are a reviewer. " * 200}

    events = read_file(opencode_agent, save(session(message("user", part))))

    assert [asked.text for asked in only(events, UserText)] == ["/review"]


def test_a_command_given_to_a_sub_agent_is_a_request(save: Save) -> None:
    part = {"type": "subtask", "prompt": "Review the branch", "agent": "general"}

    events = read_file(opencode_agent, save(session(message("user", part))))

    assert [asked.text for asked in only(events, UserText)] == ["Review the branch"]


@pytest.mark.parametrize(
    "text",
    [
        '{"info": {"id": "ses_1", "title": "x"}, "messages": []}',
        '{"info": {"summary": {"diffs": []}, "id": "REDACTED", "projectID": "REDACTED", "x": [',
        '{"messages": [{"info": {"role": "user"}, "parts": []}]}',
    ],
)
def test_an_export_is_known_without_its_ids_and_before_its_messages(text: str) -> None:
    assert opencode_agent.recognises(text.encode(), Path("session.json")) == "document"


def test_other_documents_with_messages_are_not_exports() -> None:
    text = b'{"v": 1, "messages": [{"role": "user", "content": "ses_1"}]}'

    assert opencode_agent.recognises(text, Path("thread.json")) is None


def test_a_patch_names_the_files_it_changed(save: Save) -> None:
    files = [{"filePath": "/r/a.py", "type": "move", "movePath": "/r/b.py"}]
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** End Patch"
    done = tool("apply_patch", input={"patchText": patch}, metadata={"files": files})

    events = read_file(opencode_agent, save(session(message("assistant", done))))

    assert only(events, ToolCall)[0].paths == ("a.py", "b.py")
    assert only(events, ToolResult)[0].paths == ("/r/a.py", "/r/b.py")


def test_added_text_is_not_the_users_and_a_summary_is_a_compaction(save: Save) -> None:
    document = session(
        message("user", words("fix it"), words("Called the Read tool", synthetic=True)),
        message("user", {"type": "compaction", "auto": True}),
        message("assistant", words("We fixed it."), summary=True, mode="compaction"),
        message("user", words("Continue if you have next steps", synthetic=True)),
    )

    events = read_file(opencode_agent, save(document))

    assert [asked.text for asked in only(events, UserText)] == ["fix it"]
    assert [found.summary for found in only(events, Compaction)] == ["We fixed it."]
    assert not only(events, AssistantText)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<system-reminder>plan mode</system-reminder>\nfix it", ["fix it"]),
        ("<system-reminder>a task ended</system-reminder>", []),
        ("[SYSTEM REMINDER - TODO CONTINUATION]\nGo on.", []),
        ("[fix] it", ["[fix] it"]),
    ],
)
def test_what_plugins_say_is_not_the_users(save: Save, text: str, typed: list[str]) -> None:
    events = read_file(opencode_agent, save(session(message("user", words(text)))))

    assert [asked.text for asked in only(events, UserText)] == typed


def test_what_the_user_has_undone_is_left_out(save: Save) -> None:
    document = session(
        message("user", words("keep"), id="msg_1"),
        message("user", words("undone"), id="msg_2"),
        revert={"messageID": "msg_2"},
    )

    assert [asked.text for asked in only(read_file(opencode_agent, save(document)), UserText)] == [
        "keep"
    ]


def test_tokens_are_summed_where_no_total_is_given(save: Save) -> None:
    tokens = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}

    events = read_file(
        opencode_agent, save(session(message("assistant", tokens=tokens, modelID="m")))
    )

    assert [(usage.tokens, usage.model) for usage in only(events, Usage)] == [(15, "m")]


def test_a_torn_export_gives_the_messages_before_the_tear(tmp_path: Path) -> None:
    whole = json.dumps(exported(), indent=1)
    file = tmp_path / "export.json"
    file.write_text(whole[: whole.index('"exit": 3')], encoding="utf-8")

    events = read_file(opencode_agent, file)

    assert only(events, SessionInfo)[0].session_id == SESSION
    assert [call.tool for call in only(events, ToolCall)] == ["todowrite", "write"]
