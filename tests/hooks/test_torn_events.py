"""Settle waits while an event is being written, and uses the rest of one that was cut off."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.waiting import until
from hooks.letterboxes import BOXES, DISTINCT, Letterbox, install_python
from leftoff import context
from leftoff.hooks import lease, settle, spool, torn_events, trouble
from leftoff.store import Store
from talk import Talk

pytestmark = pytest.mark.slow("kills hooks and waits for the settle behind them")


@pytest.fixture
def state() -> Path:
    return context.state_folder()


def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def left_by_a_dead_hook(state: Path, event: str, data: bytes, session: str = "") -> Path:
    spool_folder = state / "spool"
    spool_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = f"claude.{event}.{dead_pid()}.0" + (f".{session}" if session else "")
    path = spool_folder / name
    path.write_bytes(data)
    return path


def known_to_claude(talk: Talk) -> None:
    """Put the transcript where Claude Code keeps it."""
    folder = context.read_environment().find_agent_folder("claude") / "projects" / "-repo"
    folder.mkdir(parents=True)
    shutil.move(talk.transcript, folder / talk.transcript.name)
    talk.transcript = folder / talk.transcript.name


@pytest.mark.parametrize("kept", ["the head", "nothing", "a byte"])
def test_an_event_whose_hook_was_killed_is_finished_without_another_coming(
    talk: Talk, store: Store, state: Path, kept: str
) -> None:
    talk.ask("Add a login form")
    talk.edit("app.py")
    known_to_claude(talk)
    data = json.dumps(talk.payload("SessionEnd", reason="other", more="x" * 9000)).encode()
    size = {"the head": 4096, "nothing": 0, "a byte": 1}[kept]
    left_by_a_dead_hook(state, "SessionEnd", data[:size], talk.session_id)

    words = [sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)]
    settled = subprocess.run(words, check=False)

    assert settled.returncode == 0
    assert spool.list_letters(state) == []
    assert [entry.session_id for entry in store.index().newest(9)] == [talk.session_id]
    assert trouble.list_recent(state) == []


def test_one_that_does_not_name_its_session_is_set_aside_and_reported(state: Path) -> None:
    path = left_by_a_dead_hook(state, "Stop", b'{"hook')

    assert settle.run(state)

    assert [each.name for each in (state / "poison").iterdir()] == [path.name]
    assert "set aside" in trouble.list_recent(state)[0].where


def test_one_of_the_future_is_not_waited_for(state: Path) -> None:
    path = left_by_a_dead_hook(state, "Stop", b'{"hook')
    os.utime(path, (4e9, 4e9))

    assert settle.run(state)

    assert spool.list_letters(state) == []


@given(st.binary(max_size=200), st.integers(0, 300), st.sampled_from(["", "s-1", "../x", "*"]))
def test_whatever_is_left_of_an_event_does_no_harm(data: bytes, size: int, session: str) -> None:
    whole = json.dumps({"session_id": "s-1", "cwd": "/tmp", "x": data.decode("latin-1")}).encode()
    path = context.state_folder() / "torn"
    path.parent.mkdir(parents=True, exist_ok=True)
    for kept in (whole[:size], data):
        path.write_bytes(kept)
        letter = spool.Letter(path=path, agent="claude", event="Stop", at=1.0, session=session)

        event = torn_events.repair_event(letter, context.read_environment())

        assert event is None or event.cwd


@pytest.mark.parametrize("shell", DISTINCT)
def test_after_a_full_disk_a_session_is_still_saved(
    talk: Talk, store: Store, state: Path, shell: str, tmp_path: Path
) -> None:
    box = Letterbox(BOXES[shell], tmp_path)
    box.state, box.folder = state, talk.folder
    box.env["XDG_STATE_HOME"] = str(state.parent)
    box.env["CLAUDE_CODE_SESSION_ID"] = talk.session_id
    box.install("true")
    talk.ask("Add a login form")
    talk.edit("app.py")
    known_to_claude(talk)

    box.fire("SessionEnd", talk.payload("SessionEnd", reason="other"), full_disk=True)
    assert [path.stat().st_size for path in box.spooled()] == [0]
    assert settle.run(state)

    assert [entry.session_id for entry in store.index().newest(9)] == [talk.session_id]
    assert [each.what for each in trouble.list_recent(state)] == [
        "Events were lost because they could not be written to the spool folder."
    ]


def test_after_events_were_lost_the_next_start_saves_sessions_that_nobody_noted(
    talk: Talk, store: Store, state: Path
) -> None:
    talk.work()
    folder = (
        context.read_environment().find_agent_folder("claude")
        / "projects"
        / re.sub(r"\W|_", "-", str(talk.folder))
    )
    folder.mkdir(parents=True)
    shutil.move(talk.transcript, folder / talk.transcript.name)
    os.utime(folder / talk.transcript.name, (folder.stat().st_mtime - 3600,) * 2)
    state.mkdir(parents=True, exist_ok=True)
    other = Talk(talk.folder, "session-2")

    other.start()
    assert store.index().newest(9) == []

    (state / "lost").touch()
    assert "Add a login form" in Talk(talk.folder, "session-3").start()
    assert [entry.session_id for entry in store.index().newest(9)] == [talk.session_id]


@pytest.mark.parametrize("shell", DISTINCT)
def test_an_event_whose_hook_dies_while_it_writes_is_settled_without_another_coming(
    talk: Talk, store: Store, state: Path, shell: str
) -> None:
    install_python()
    talk.ask("Add a login form")
    talk.edit("app.py")
    known_to_claude(talk)
    data = json.dumps(talk.payload("SessionEnd", reason="other", more="x" * 9000)).encode()
    hook = subprocess.Popen(
        [*BOXES[shell], "claude", "SessionEnd"],
        stdin=subprocess.PIPE,
        env={**os.environ, "CLAUDE_CODE_SESSION_ID": talk.session_id},
        cwd=talk.folder,
        start_new_session=True,
    )
    assert hook.stdin is not None
    hook.stdin.write(data[:5000])
    hook.stdin.flush()
    until(lambda: any(path.stat().st_size for path in spooled(state)), "the first half")
    # Settle was started in the hook's own group, and leaves it before it makes its mark.
    until(lambda: lease.list_marks(str(state)), "settle to begin")

    os.killpg(hook.pid, signal.SIGKILL)
    hook.communicate()
    until(lambda: not spooled(state), "the event to be settled")

    assert [entry.session_id for entry in store.index().newest(9)] == [talk.session_id]
    assert trouble.list_recent(state) == []


def spooled(state: Path) -> list[Path]:
    return [letter.path for letter in spool.list_letters(state)]
