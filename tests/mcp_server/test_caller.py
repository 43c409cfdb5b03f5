"""The server finds the agent, its session and its folder in the way that each agent allows."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitrepo import Repo
from leftoff.context import find_project, state_folder
from leftoff.session import records
from mcp_server.raw_client import RawClient, request

TURN = "x-codex-turn-metadata"


def find_session(client: RawClient, **meta: Any) -> tuple[str | None, str | None]:
    answer = client.ask("tools/call", name="status", arguments={}, _meta=meta)
    reply = answer["result"]["structuredContent"]
    return reply["agent"], reply["session_id"]


def ask_status(client: RawClient, roots: object) -> str:
    """Ask for the status, and tell the server the folders if it asks for them."""
    client.send(request(70, "tools/call", name="status", arguments={}))
    asked = client.receive()
    assert asked["method"] == "roots/list"
    refusal = {"error": {"code": -32601, "message": "no"}}
    found = refusal if roots is None else {"result": roots}
    client.send({"jsonrpc": "2.0", "id": asked["id"], **found})
    return str(client.receive()["result"]["structuredContent"]["project"])


# --- the session ---


@pytest.mark.parametrize(
    ("client_name", "variables", "found"),
    [
        ("claude-code", {"CLAUDE_CODE_SESSION_ID": "c1"}, ("claude", "c1")),
        ("copilot-cli", {"COPILOT_AGENT_SESSION_ID": "p1"}, ("copilot", "p1")),
        # Started in the shell of Claude Code, Copilot inherits its variables.
        (
            "copilot-cli",
            {"CLAUDE_CODE_SESSION_ID": "c1", "COPILOT_AGENT_SESSION_ID": "p1"},
            ("copilot", "p1"),
        ),
        ("codex-mcp-client", {"CLAUDE_CODE_SESSION_ID": "c1"}, ("codex", None)),
        ("opencode", {"CLAUDE_CODE_SESSION_ID": "c1"}, ("opencode", None)),
        ("gemini-cli-mcp-client", {}, ("gemini", None)),
        ("Cursor", {}, ("cursor", None)),
        ("something-else", {"CLAUDE_CODE_SESSION_ID": "c1"}, ("claude", "c1")),
        ("something-else", {}, (None, None)),
    ],
)
def test_the_variable_of_the_calling_agent_names_its_session(
    repo: Repo, client_name: str, variables: Mapping[str, str], found: tuple[str, str]
) -> None:
    with RawClient(repo.folder, env=variables) as client:
        client.introduce(client_name)

        assert find_session(client) == found


def test_codex_names_its_session_in_every_call(client: RawClient) -> None:
    client.introduce("codex-mcp-client")

    assert find_session(client, **{TURN: {"session_id": "s1"}}) == ("codex", "s1")
    assert find_session(client, **{TURN: {"session_id": "s2"}}) == ("codex", "s2")
    assert find_session(client, **{TURN: {"thread_id": "t1"}}) == ("codex", "t1")
    odd: object
    for odd in ("text", {"session_id": 5}, None, []):
        assert find_session(client, **{TURN: odd}) == ("codex", None)


def test_a_client_may_introduce_itself_in_the_call(client: RawClient) -> None:
    info = {"io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "1"}}

    assert find_session(client, **info, **{TURN: {"session_id": "s1"}}) == ("codex", "s1")


def test_after_a_clear_the_session_that_hooks_saw_counts(repo: Repo) -> None:
    # Claude Code keeps its servers when it starts a new session, with the variable of the old one.
    project = find_project(repo.folder)
    with RawClient(repo.folder, env={"CLAUDE_CODE_SESSION_ID": "old"}) as client:
        client.introduce("claude-code")
        assert find_session(client) == ("claude", "old")
        for number, (session, pid) in enumerate(
            [("older", os.getpid()), ("new", os.getpid()), ("foreign", 1)]
        ):
            life = records.Life(
                agent="claude",
                session_id=session,
                store=str(project.store),
                pid=pid,
                seen_at=1000.0 + number,
            )
            records.keep_life(state_folder(), life)

        assert find_session(client) == ("claude", "new")


def write_gemini_session(home: Path, folder: Path, session_id: str) -> Path:
    recorded = Path(__file__).parent.parent / "agents" / "recorded" / "gemini" / "session.jsonl"
    name = hashlib.sha256(str(folder).encode()).hexdigest()
    path = home / ".gemini" / "tmp" / name / "chats" / f"session-{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    first, *rest = recorded.read_text(encoding="utf-8").splitlines()
    head = json.dumps({**json.loads(first), "sessionId": session_id})
    path.write_text("\n".join([head, *rest, ""]), encoding="utf-8")
    return path


def test_where_no_agent_says_it_the_only_session_that_goes_on_counts(
    repo: Repo, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    earlier = write_gemini_session(home, repo.folder, "earlier")
    os.utime(earlier, (1000, 1000))
    with RawClient(repo.folder) as client:
        client.introduce("gemini-cli-mcp-client")
        assert find_session(client) == ("gemini", None)

        write_gemini_session(home, repo.folder, "now")
        assert find_session(client) == ("gemini", "now")

        # With two of them, nothing says which one calls.
        write_gemini_session(home, repo.folder, "other")
        assert find_session(client) == ("gemini", None)


def test_a_save_reads_the_session_and_later_saves_continue_the_thread(
    repo: Repo, tmp_path: Path
) -> None:
    with RawClient(repo.folder) as client:
        client.introduce("gemini-cli-mcp-client")
        write_gemini_session(tmp_path / "home", repo.folder, "now")
        first = client.call("save", name="csv-export", next_action="Write the header")
        again = client.call("save", next_action="Write the rows of the table")
        shown = client.call("show")
        status = client.call("status")

    assert (shown["checkpoint"]["agent"], shown["checkpoint"]["session_id"]) == ("gemini", "now")
    assert again["name"] == first["name"] == "csv-export"
    assert again["continues"] == "csv-export"
    assert status["thread"] == "csv-export"


def test_a_session_that_accepted_a_thread_saves_into_it(repo: Repo) -> None:
    with RawClient(repo.folder) as client:
        client.introduce("codex-mcp-client")
        client.call("save", name="csv-export", summary="Export orders as CSV")
        meta = {TURN: {"session_id": "s1"}}
        taken = {"name": "csv-export", "accept": True}
        client.ask("tools/call", name="resume", arguments=taken, _meta=meta)
        given = {"next_action": "Write the header in app.py"}
        answer = client.ask("tools/call", name="save", arguments=given, _meta=meta)

        assert answer["result"]["structuredContent"]["name"] == "csv-export"
        assert len(client.call("list")["threads"]) == 1


# --- the folder ---


def test_without_anything_else_the_folder_of_the_server_counts(repo: Repo) -> None:
    below = repo.folder / "src"
    below.mkdir()
    with RawClient(below) as client:
        assert client.call("status")["project"] == str(repo.folder)


def test_claude_code_names_its_project_in_a_variable(repo: Repo, tmp_path: Path) -> None:
    variables = {"CLAUDE_PROJECT_DIR": str(repo.folder)}
    with RawClient(tmp_path / "home", env=variables) as client:
        client.introduce("claude-code")
        assert client.call("status")["project"] == str(repo.folder)


def test_the_variable_of_claude_code_is_nothing_to_other_agents(repo: Repo, tmp_path: Path) -> None:
    other = Repo.begun(tmp_path / "other")
    with RawClient(other.folder, env={"CLAUDE_PROJECT_DIR": str(repo.folder)}) as client:
        client.introduce("codex-mcp-client")
        assert client.call("status")["project"] == str(other.folder)


def test_a_project_that_the_user_names_beats_everything(repo: Repo, tmp_path: Path) -> None:
    other = Repo.begun(tmp_path / "other")
    with RawClient(other.folder, env={"LEFTOFF_PROJECT": str(repo.folder)}) as client:
        client.introduce("claude-code", roots={})
        assert client.call("status")["project"] == str(repo.folder)


def test_the_roots_of_the_client_count_if_the_server_runs_elsewhere(
    repo: Repo, tmp_path: Path
) -> None:
    roots = {"roots": [{"uri": repo.folder.as_uri()}]}
    with RawClient(tmp_path / "home") as client:
        client.introduce("Cursor", roots={"listChanged": True})

        assert ask_status(client, roots) == str(repo.folder)
        # The answer is remembered until the client says that it has changed.
        assert client.call("status")["project"] == str(repo.folder)
        other = Repo.begun(tmp_path / "other")
        client.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        assert ask_status(client, {"roots": [{"uri": other.folder.as_uri()}]}) == str(other.folder)


def test_a_folder_within_a_root_is_more_exact_than_the_root(repo: Repo, tmp_path: Path) -> None:
    with RawClient(repo.folder) as client:
        client.introduce("opencode", roots={})

        assert ask_status(client, {"roots": [{"uri": tmp_path.as_uri()}]}) == str(repo.folder)


@pytest.mark.parametrize(
    "roots",
    [
        None,
        {},
        {"roots": "text"},
        {"roots": [5, {"uri": 5}, {"uri": "https://example.org/x"}, {"uri": "file:relative"}]},
        {"roots": [{"uri": "file:///does/not/exist"}]},
        {"roots": [{"uri": "file://[bad"}]},
    ],
)
def test_roots_that_name_no_folder_are_ignored(client: RawClient, repo: Repo, roots: Any) -> None:
    client.introduce("opencode", roots={})

    assert ask_status(client, roots) == str(repo.folder)


def test_a_client_that_never_names_its_roots_is_served_anyway(
    client: RawClient, repo: Repo
) -> None:
    client.introduce("opencode", roots={})
    client.send(request(70, "tools/call", name="status", arguments={}))
    assert client.receive()["method"] == "roots/list"

    answer = client.receive()

    assert answer["result"]["structuredContent"]["project"] == str(repo.folder)


def test_a_folder_that_was_deleted_is_an_error_that_says_so(tmp_path: Path) -> None:
    gone = Repo.begun(tmp_path / "gone")
    with RawClient(gone.folder) as client:
        client.introduce()
        shutil.rmtree(gone.folder)

        assert client.fail("status").startswith("leftoff: ")
        assert client.ask("ping")["result"] == {}
