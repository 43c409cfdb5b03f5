"""A session is captured in place, at once or in steps, whole or damaged."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff.checkpoint import Checkpoint, decode, encode
from leftoff.errors import LeftoffError, SessionUnreadable, UsageError
from leftoff.session.capture import SessionMemory, capture, read_session
from leftoff.threads.briefing import render
from recordings import RECORDED

RECORDINGS = sorted((RECORDED / "claude").glob("*.jsonl"))
NAMES = [path.stem for path in RECORDINGS]
IN_ONE_FOLDER = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def entry(kind: str, content: object, **fields: object) -> dict[str, Any]:
    line = {"parentUuid": None, "type": kind, "cwd": "/u/r", "gitBranch": "main", **fields}
    return {**line, "sessionId": "s1", "message": {"role": kind, "content": content}}


def use(number: int, name: str, **given: object) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"c{number}", "name": name, "input": given}
    done = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "ok"}
    return [entry("assistant", [call]), entry("user", [done])]


def write(path: Path, entries: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in entries), encoding="utf-8")
    return path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write(
        tmp_path / "s1.jsonl",
        [
            entry("user", "build the login page, see src/login.py"),
            *use(1, "Edit", file_path="/u/r/src/login.py", old_string="a", new_string="b"),
            entry("assistant", [{"type": "text", "text": "Next I'll add the test."}]),
        ],
    )


def test_a_command_chained_to_another_one_is_listed_too(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s1.jsonl",
        [
            entry("user", "build the login page"),
            *use(1, "Bash", command="git fetch origin && git status --short"),
        ],
    )

    assert "- git fetch, git status" in render(capture(path).checkpoint, None, budget=1500)


def test_a_command_repeated_in_a_row_is_one_step(tmp_path: Path) -> None:
    commands = ["make test", "workmux status", "workmux status", "git diff", "workmux status"]
    runs = [line for n, each in enumerate(commands) for line in use(n, "Bash", command=each)]
    path = write(tmp_path / "s1.jsonl", [entry("user", "watch the worker"), *runs])

    steps = [step.what for step in capture(path).checkpoint.trail]

    assert steps == ["make test", "workmux status", "git diff", "workmux status"]


def test_a_search_repeated_in_a_row_is_one_step(tmp_path: Path) -> None:
    looks = [line for n in range(3) for line in use(n, "Grep", pattern="x")]
    path = write(tmp_path / "s1.jsonl", [entry("user", "find x"), *looks])

    assert [step.what for step in capture(path).checkpoint.trail] == ["x"]


def test_a_look_at_what_is_not_there_is_no_approach_that_failed(tmp_path: Path) -> None:
    def fail(number: int, command: str, output: str) -> list[dict[str, Any]]:
        call, done = use(number, "Bash", command=command)
        done["message"]["content"][0] |= {"is_error": True, "content": f"Exit code 1\n{output}"}
        return [call, done]

    path = write(
        tmp_path / "s1.jsonl",
        [
            entry("user", "build it"),
            *fail(1, "ls dist", "ls: dist: No such file or directory"),
            *fail(2, "make dist", "make: no rule for dist"),
            *fail(3, "make all", "make: error 1"),
        ],
    )
    checkpoint = capture(path).checkpoint

    assert checkpoint.last_failure
    assert checkpoint.last_failure.command == "make all"
    assert [failed.what for failed in checkpoint.failed] == ["make dist"]


def test_a_save_over_mcp_is_not_the_call_that_was_cut_short(tmp_path: Path) -> None:
    save = {"type": "tool_use", "id": "c2", "name": "mcp__leftoff__save", "input": {"name": "x"}}
    path = write(
        tmp_path / "s1.jsonl",
        [
            entry("user", "build the login page"),
            *use(1, "Edit", file_path="/u/r/src/login.py", old_string="a", new_string="b"),
            entry("assistant", [save]),
        ],
    )

    checkpoint = capture(path).checkpoint

    assert checkpoint.in_flight is None
    assert [step.tool for step in checkpoint.trail] == ["Edit"]


def test_a_checkpoint_is_made_of_the_facts(session: Path) -> None:
    checkpoint = capture(session).checkpoint

    assert checkpoint.agent == "claude"
    assert checkpoint.session_id == "s1"
    assert checkpoint.branch == "main"
    assert checkpoint.intent == "build the login page, see src/login.py"
    assert checkpoint.files_modified == ["src/login.py"]
    assert checkpoint.next_action is not None
    assert checkpoint.next_action.origin == "inferred"
    assert checkpoint.next_action.text == "Add the test."
    assert checkpoint.transcript is not None
    assert checkpoint.transcript.offset == session.stat().st_size


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_the_checkpoint_of_a_recording_survives_its_own_format(path: Path) -> None:
    checkpoint = capture(path).checkpoint

    assert decode(encode(checkpoint)) == checkpoint
    assert isinstance(checkpoint, Checkpoint)


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
@IN_ONE_FOLDER
@given(shares=st.lists(st.floats(0, 1), max_size=4))
def test_reading_in_steps_learns_the_same_as_reading_at_once(
    path: Path, tmp_path: Path, shares: list[float]
) -> None:
    data = path.read_bytes()
    growing = tmp_path / "session.jsonl"
    memory: SessionMemory | None = None
    for share in [*sorted(shares), 1.0]:
        growing.write_bytes(data[: int(len(data) * share)])
        stored = msgspec.json.encode(memory)
        memory = msgspec.json.decode(stored, type=SessionMemory | None)
        memory = read_session(growing, agent="claude", memory=memory)

    assert memory == read_session(growing, agent="claude")


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
@IN_ONE_FOLDER
@given(share=st.floats(0, 1))
def test_a_session_cut_anywhere_is_captured(path: Path, tmp_path: Path, share: float) -> None:
    data = path.read_bytes()
    cut = tmp_path / "session.jsonl"
    cut.write_bytes(data[: int(len(data) * share)])

    assert capture(cut, agent="claude").checkpoint.agent == "claude"


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
@IN_ONE_FOLDER
@given(share=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_session_with_a_wrong_byte_is_captured(
    path: Path, tmp_path: Path, share: float, byte: int
) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] = byte
    damaged = tmp_path / "session.jsonl"
    damaged.write_bytes(data)

    assert capture(damaged, agent="claude").checkpoint.agent == "claude"


@IN_ONE_FOLDER
@given(data=st.binary(max_size=2000))
def test_any_file_is_captured_or_refused_in_words(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "anything"
    path.write_bytes(data)

    with suppress(LeftoffError):
        capture(path)


def test_a_rewritten_session_is_read_again_from_the_start(session: Path) -> None:
    memory = read_session(session)
    write(session, [entry("user", "something else altogether")])

    again = read_session(session, memory=memory)

    assert again.state.task == "something else altogether"
    assert not again.state.files


def test_a_session_without_new_lines_is_remembered_as_it_was(session: Path) -> None:
    memory = read_session(session)

    assert read_session(session, memory=memory) == memory


@pytest.mark.slow("reads a long session")
def test_the_memory_is_bounded_whatever_the_length_of_the_session(tmp_path: Path) -> None:
    entries = [entry("user", "a long task with many steps")]
    for number in range(4000):
        entries += use(number, "Edit", file_path=f"/u/r/src/file{number}.py")
        entries += use(10_000 + number, "Bash", command=f"make target{number} " + "x" * 500)
        entries.append(entry("assistant", [{"type": "text", "text": f"step {number} " * 300}]))
    path = write(tmp_path / "long.jsonl", entries)

    memory = read_session(path)

    assert len(msgspec.json.encode(memory)) < 250_000
    assert "/u/r/src/file3999.py" in memory.state.files


def test_edits_of_sub_agents_with_their_own_transcripts_are_found(session: Path) -> None:
    child = session.parent / "s1" / "subagents" / "agent-a1.jsonl"
    side = [{**each, "isSidechain": True} for each in use(9, "Write", file_path="/u/r/src/sub.py")]
    write(child, side[:1])
    memory = read_session(session)
    assert capture(session, memory=memory).facts.files_modified == ["src/login.py"]

    write(child, side)
    captured = capture(session, memory=memory)

    assert captured.facts.files_modified == ["src/login.py", "src/sub.py"]


def test_paths_of_a_session_in_a_subfolder_are_named_from_the_top_of_the_repository(
    tmp_path: Path,
) -> None:
    below = tmp_path / "repo" / "web" / "pages"
    below.mkdir(parents=True)
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    (below / "login.html").touch()
    entries = [
        entry("user", "build the login page", cwd=str(below)),
        *use(1, "Write", file_path=str(below / "login.html"), content="<form>"),
        *use(2, "Bash", command="npm test"),
    ]

    checkpoint = capture(
        write(tmp_path / "s.jsonl", [{**each, "cwd": str(below)} for each in entries])
    ).checkpoint

    assert checkpoint.worktree == str(tmp_path / "repo")
    assert checkpoint.files_modified == checkpoint.focus_files == ["web/pages/login.html"]
    assert [step.what for step in checkpoint.trail] == [
        "web/pages/login.html",
        "cd web/pages && npm test",
    ]


def test_files_that_are_gone_are_not_needed_next(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "here.py").touch()
    entries = [entry("user", "look at src/here.py and src/gone.py", cwd=str(root))]

    checkpoint = capture(write(tmp_path / "s.jsonl", entries)).checkpoint

    assert checkpoint.focus_files == ["src/here.py"]


def test_a_refused_call_with_a_reason_is_a_decision_once_the_user_has_gone_on(
    tmp_path: Path,
) -> None:
    call, done = use(1, "Bash", command="npm install left-pad")
    refusal = "The user doesn't want to proceed with this tool use. the user said:\nno new packages"
    done["message"]["content"][0] |= {"content": refusal, "is_error": True}

    refused = capture(write(tmp_path / "s.jsonl", [call, done])).checkpoint
    later = [call, done, entry("user", "now the docs, please")]
    decisions = capture(write(tmp_path / "s.jsonl", later)).checkpoint.decisions

    assert (refused.intent, refused.decisions) == ("no new packages", [])
    assert [decision.why for decision in decisions] == ["no new packages"]


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_secrets_do_not_reach_the_checkpoint_or_the_memory(tmp_path: Path) -> None:
    secret = SECRET
    entries = [entry("user", f"push with {secret} to the remote please")]
    entries += use(1, "Bash", command=f"git push https://u:{secret}@host.invalid/r.git")
    entries += use(2, "Bash", command=f"export GITHUB_TOKEN={secret}")[:1]

    captured = capture(write(tmp_path / "s.jsonl", entries))

    assert secret not in encode(captured.checkpoint).decode()
    assert secret not in msgspec.json.encode(captured.memory).decode()


def test_secrets_of_calls_and_prompts_under_way_do_not_reach_the_memory(tmp_path: Path) -> None:
    command = {"command": f"curl host.invalid/{SECRET}"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": SECRET}]}
    call = {"name": "shell", "call_id": "1", "arguments": json.dumps(command)}
    codex = [
        {"type": "session_meta", "payload": {"id": "1", "cwd": "/u/r"}},
        {"type": "response_item", "payload": {"type": "function_call", **call}},
        {"type": "response_item", "payload": said},
    ]
    hook = {"hookInvocationId": "1", "hookType": "userPromptSubmitted", "input": {"prompt": SECRET}}
    start = {"toolCallId": "1", "toolName": "bash", "arguments": command}
    copilot = [
        {"type": "session.start", "data": {"sessionId": "1"}},
        {"type": "hook.start", "data": hook},
        {"type": "tool.execution_start", "data": start},
    ]

    for number, entries in enumerate((codex, copilot)):
        memory = read_session(write(tmp_path / f"{number}.jsonl", entries))

        assert memory.state.open
        assert SECRET not in msgspec.json.encode(memory).decode()


def test_a_file_of_no_agent_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello", encoding="utf-8")

    with pytest.raises(SessionUnreadable) as refused:
        capture(path)
    assert "--agent" in refused.value.hint


def test_a_missing_file_is_shown_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(SessionUnreadable, match="No such file"):
        capture(tmp_path / "nowhere.jsonl")


def test_an_unknown_agent_is_refused(session: Path) -> None:
    with pytest.raises(UsageError, match="Unknown agent: nobody"):
        capture(session, agent="nobody")


def test_a_patch_in_a_command_is_shown_as_an_edit(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n+y = 3\n*** End Patch"
    command = {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF\n", "workdir": "/r"}
    call = {"type": "function_call", "name": "exec_command", "call_id": "1"}
    ended = {"type": "function_call_output", "call_id": "1", "output": "Success. Updated a.py"}
    items = [{**call, "arguments": json.dumps(command)}, ended]
    lines = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/r"}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")

    checkpoint = capture(path, agent="codex").checkpoint

    assert [(step.what, step.outcome) for step in checkpoint.trail] == [("a.py (+2 -1)", "edited")]
    assert "- edited a.py (+2 -1)\n" in render(checkpoint, None, budget=500)
