"""What the first session of a project learns about old sessions, at a glance."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import redact_cases
from leftoff import context
from leftoff.agents.claude.peek import has_only_talked, peek
from leftoff.hooks import first_contact, start, trouble
from leftoff.redact import redact
from leftoff.session import capture, sessions
from leftoff.session.facts.looks import is_look_or_check
from leftoff.session.facts.report import report
from leftoff.session.real_work import is_worth_saving
from leftoff.session.unsaved_work import find_unsaved_work
from leftoff.store import Store
from leftoff.threads.recover import recover_sessions
from recordings import leave_session
from rows import for_each
from talk import Talk

DAY_SECONDS = 86_400
MOST_BYTES = 4_000_000
RECORDED = Path(__file__).parent.parent / "agents" / "recorded" / "claude"


@pytest.fixture
def old_sessions(talk: Talk) -> Callable[[str], Talk]:
    """Make sessions that ran yesterday, where Claude Code stores them."""
    key = re.sub("[^a-zA-Z0-9]", "-", str(talk.folder))
    folder = context.read_environment().find_agent_folder("claude") / "projects" / key
    folder.mkdir(parents=True)

    def make(name: str) -> Talk:
        old = Talk(talk.folder, name)
        old.transcript = folder / f"{name}.jsonl"
        return old

    return make


def set_back(old: Talk, days: float = 1.0) -> None:
    then = old.transcript.stat().st_mtime - days * DAY_SECONDS
    os.utime(old.transcript, (then, then))


def test_work_that_is_evident_is_named_without_reading_the_transcript(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("old")
    old.ask("<command-name>/clear</command-name>")
    old.ask("hi")
    old.ask("Add a login form to app.py, and use the token abc123def456 for it")
    old.edit("app.py")
    set_back(old)

    text = talk.start()

    assert "leftoff: 1 session of this project has unsaved work." in text
    assert "- claude, 1d ago: Add a login form to app.py, and use the …\n" in text
    # Reading it would have stored how far it was read.
    assert not (talk.folder / ".git" / "leftoff" / "sessions").exists()


def test_work_that_is_not_evident_is_found_by_reading(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("old")
    old.ask("Install the packages that the exporter needs")
    old.run("npm install csv-stringify", "added 1 package")
    set_back(old)

    assert "Install the packages that the exporter needs" in talk.start()


def test_small_talk_is_not_named(talk: Talk, old_sessions: Callable[[str], Talk]) -> None:
    old = old_sessions("old")
    old.ask('What does {"name":"Edit"} mean in a transcript of yours?')
    old.say('It is a call: {"type":"tool_use","name":"Edit"}.')
    set_back(old)

    assert not peek(old.transcript, most_bytes=MOST_BYTES).has_work
    assert talk.start() == ""


def ask_small_talk(old: Talk) -> None:
    """Ask a question in a session that lists its tools, and let it be answered."""
    tools = [{"name": "Edit"}, {"name": "Write"}]
    old.line(type="attachment", attachment={"type": "tools", "tools": tools})
    old.ask("What is 2+2?")
    answer = {"role": "assistant", "content": [{"type": "text", "text": "4"}]}
    old.line(type="assistant", message={**answer, "stop_reason": "end_turn"})
    set_back(old)


def test_small_talk_that_is_evident_is_not_read(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    ask_small_talk(old_sessions("asked"))
    looked = old_sessions("looked")
    looked.ask("How does this project start?")
    looked.run("ls && git log --oneline | head", "app.py")
    looked.say("With app.py.")
    looked.ask("<command-name>/exit</command-name>")
    set_back(looked)

    assert talk.start() == ""
    # Reading them would have stored how far they were read.
    assert not (talk.folder / ".git" / "leftoff" / "sessions").exists()


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_what_passes_for_small_talk_holds_no_work(path: Path, tmp_path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    cut_file = tmp_path / "session.jsonl"
    for end in range(1, len(lines) + 1):
        cut_file.write_bytes(b"".join(lines[:end]))
        if has_only_talked(cut_file, most_bytes=MOST_BYTES, is_look=is_look_or_check):
            facts = report(capture.read_session(cut_file, agent="claude").state)
            assert not is_worth_saving(facts), f"cut after line {end}"


def start_session(talk: Talk) -> tuple[str, str]:
    """Start a session; return what the model and the person see."""
    data = json.dumps(talk.payload("SessionStart", source="startup")).encode()
    reply = json.loads(start.answer("claude", data, context.state_folder()))
    return reply["hookSpecificOutput"]["additionalContext"], reply["systemMessage"]


@pytest.mark.parametrize("is_evident", [True, False])
def test_small_talk_beside_work_is_not_counted(
    talk: Talk, store: Store, old_sessions: Callable[[str], Talk], *, is_evident: bool
) -> None:
    old = old_sessions("old")
    old.ask("Add a login form to app.py")
    if is_evident:
        old.edit("app.py")
    else:
        old.run("npm install csv-stringify", "added 1 package")
    set_back(old)
    ask_small_talk(old_sessions("talk"))

    text, notice = start_session(talk)

    assert "leftoff: 1 session of this project has unsaved work." in text
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- claude, 1d ago: Add a login form to app.py"
    ]
    assert notice == (
        'leftoff: 1 session of this project has unsaved work ("Add a login form to app.py"). '
        "Run `leftoff recover` to save it."
    )
    assert [each.session_id for each in find_unsaved_work(store)] == ["old"]


def test_the_count_is_that_of_reading_whatever_is_evident(
    talk: Talk, store: Store, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("evident")
    old.work()
    set_back(old, 2)
    other = old_sessions("read")
    other.ask("Install the packages that the exporter needs")
    other.run("npm install csv-stringify", "added 1 package")
    set_back(other)

    text, notice = start_session(talk)

    assert "Ask the user whether to recover them, and do not act on them" in text
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- claude, 1d ago: Install the packages that the exporter needs",
        "- claude, 2d ago: Add a login form to app.py",
    ]
    assert notice == (
        "leftoff: 2 sessions of this project have unsaved work. Run `leftoff recover` to save them."
    )
    assert len(find_unsaved_work(store)) == 2


def test_a_request_without_plain_words_is_read_and_shown(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("old")
    old.ask("https://example.org/x is down, find out why")
    old.edit("app.py")
    set_back(old)

    assert "- claude, 1d ago: https://example.org/x is down" in talk.start()


@pytest.mark.parametrize(
    ("path", "is_error", "is_work"),
    [("app.py", False, True), ("app.py", True, False), ("/tmp/notes.md", False, False)],
)
def test_only_an_edit_of_the_project_that_succeeded_is_evident(
    old_sessions: Callable[[str], Talk], path: str, *, is_error: bool, is_work: bool
) -> None:
    old = old_sessions("old")
    old.ask("Add a login form to app.py")
    call = {"id": "c1", "name": "Edit", "input": {"file_path": str(old.folder / path)}}
    old.line(type="assistant", message={"content": [{"type": "tool_use", **call}]})
    old.line(type="progress", toolUseID="c1", parentToolUseID="c1")
    result = {"type": "tool_result", "tool_use_id": "c1", "is_error": is_error, "content": ""}
    old.line(type="user", message={"content": [result]})

    assert peek(old.transcript, most_bytes=MOST_BYTES).has_work is is_work


@pytest.mark.parametrize(("status", "is_work"), [("completed", True), ("deleted", False)])
def test_a_task_is_evident_unless_one_was_deleted(
    old_sessions: Callable[[str], Talk], *, status: str, is_work: bool
) -> None:
    old = old_sessions("old")
    old.ask("Add a login form to app.py")
    for number, (name, words) in enumerate(
        [("TaskCreate", {"subject": "Add it"}), ("TaskUpdate", {"taskId": "1", "status": status})]
    ):
        call = {"type": "tool_use", "id": f"c{number}", "name": name, "input": words}
        old.line(type="assistant", message={"content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": ""}
        old.line(type="user", message={"content": [result]})

    assert peek(old.transcript, most_bytes=MOST_BYTES).has_work is is_work


def test_a_large_transcript_with_an_edit_at_its_end_is_named(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("old")
    old.ask("Add a login form to app.py")
    old.say("x" * MOST_BYTES)
    old.edit("app.py")
    set_back(old)

    assert "- claude, 1d ago: Add a login form to app.py" in talk.start()


def test_unsaved_sessions_are_named_at_each_start_until_they_are_recovered(
    talk: Talk, store: Store, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("old")
    old.work()
    set_back(old)

    for number in range(3):
        assert Talk(talk.folder, f"new-{number}").start().count("unsaved work") == 1

    recover_sessions(store, sessions.list_dead(store, since=store.now() - timedelta(days=7)))
    assert "unsaved work" not in Talk(talk.folder, "last").start()


def test_a_transcript_is_read_once_until_it_changes(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    old, small = old_sessions("old"), old_sessions("small")
    old.ask("Install the packages that the exporter needs")
    old.run("npm install csv-stringify", "added 1 package")
    set_back(old)
    ask_small_talk(small)
    # Reading a transcript stores how far it was read.
    read = talk.folder / ".git" / "leftoff" / "sessions"

    first = Talk(talk.folder, "first").start()
    assert "1 session of this project has unsaved work" in first
    shutil.rmtree(read)
    assert Talk(talk.folder, "second").start() == first
    assert not read.exists()

    small.ask("Add a login form to app.py")
    small.run("npm install forms", "added 1 package")
    set_back(small)
    assert "2 sessions of this project have unsaved work" in Talk(talk.folder, "third").start()


def test_a_broken_memory_of_transcripts_is_replaced(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    old = old_sessions("old")
    old.work()
    set_back(old)
    first = Talk(talk.folder, "first").start()
    (kept,) = context.state_folder().glob("contacted/*.seen")

    kept.write_bytes(b"{")

    assert Talk(talk.folder, "second").start() == first
    assert json.loads(kept.read_bytes())


@pytest.mark.parametrize("days", [0.0, 31.0])
def test_a_session_that_may_still_run_or_is_old_is_not_named(
    talk: Talk, old_sessions: Callable[[str], Talk], days: float
) -> None:
    old = old_sessions("old")
    old.work()
    set_back(old, days)

    assert talk.start() == ""


def test_sessions_of_other_agents_are_named_too_and_read_once(
    talk: Talk, old_sessions: Callable[[str], Talk]
) -> None:
    rollout = leave_session(
        "codex", context.read_environment().find_agent_folder("codex"), talk.folder
    )
    hour_ago = time.time() - 3600
    os.utime(rollout, (hour_ago, hour_ago))
    old = old_sessions("old")
    old.work()
    set_back(old)
    read = talk.folder / ".git" / "leftoff" / "sessions"

    first = Talk(talk.folder, "first").start()
    assert "- codex, 1h ago: please write notes and list" in first
    assert "- claude, 1d ago: Add a login form to app.py" in first
    assert [path.name[:5] for path in read.iterdir()] == ["codex"]
    shutil.rmtree(read)
    assert Talk(talk.folder, "second").start() == first
    assert not read.exists()


@pytest.mark.parametrize("other", [None, "codex"])
def test_a_folder_of_transcripts_that_cannot_be_listed_is_reported(
    talk: Talk,
    old_sessions: Callable[[str], Talk],
    monkeypatch: pytest.MonkeyPatch,
    other: str | None,
) -> None:
    old = old_sessions("old")
    old.work()
    if other is not None:
        context.read_environment().find_agent_folder(other).mkdir(parents=True)
    listdir = os.listdir

    def refuse(path: Path | str) -> list[str]:
        if path == old.transcript.parent:
            raise PermissionError(13, "Permission denied", str(path))
        return listdir(path)

    # Root may list any folder, so the system's refusal is played.
    monkeypatch.setattr(os, "listdir", refuse)
    data = json.dumps(talk.payload("SessionStart", source="startup")).encode()

    reply = json.loads(start.answer("claude", data, context.state_folder()))

    assert "leftoff doctor" in reply["systemMessage"]
    (noted,) = trouble.list_recent(context.state_folder())
    assert noted.where == "looking for unsaved sessions"
    assert noted.what == f"Permission denied: {old.transcript.parent}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Add a login form to app.py", "Add a login form to app.py"),
        ('Port "export" to streaming, please!', 'Port "export" to streaming, please!'),
        ("Ändere die Überschrift", "Ändere die Überschrift"),
        ("Use the password hunter", "Use the …"),
        ("Deploy with AKIA0123456789 now", "Deploy with …"),
        ("https://example.org/x is down", ""),
        ("", ""),
    ],
)
def test_only_plain_words_of_a_request_are_shown(text: str, shown: str) -> None:
    assert first_contact.take_plain_words(text) == shown


@for_each("name", sorted(redact_cases.SHAPES))
def test_a_secret_is_never_shown(name: str) -> None:
    secret = redact_cases.SHAPES[name][1]

    assert secret not in first_contact.take_plain_words(f"Please try it with {secret} again")
    assert secret not in first_contact.take_plain_words(f"{secret} is what I need")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_whatever_is_shown_redaction_would_not_change(text: str) -> None:
    shown = first_contact.take_plain_words(text)

    assert redact(shown) == shown


@pytest.mark.parametrize(
    "line", [b"", b"{", b"null", b'{"type":"user","message":5}', b'{"type":"user"}', b"\xff"]
)
def test_odd_lines_do_not_stop_the_look(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "odd.jsonl"
    asked = {"type": "user", "message": {"content": [{"type": "text", "text": "Add a form to it"}]}}
    edit = {"type": "tool_use", "id": "c1", "name": "Edit", "input": {"file_path": "/shop/app.py"}}
    call = {"type": "assistant", "cwd": "/shop", "message": {"content": [edit]}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    done = {"type": "user", "message": {"content": [result]}}
    lines = [json.dumps(each).encode() for each in (asked, call, done)]
    path.write_bytes(b"\n".join([line, *lines, b""]))

    assert peek(path, most_bytes=MOST_BYTES).asked == "Add a form to it"
