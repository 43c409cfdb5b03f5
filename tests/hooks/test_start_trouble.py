"""A session start stays quick and harmless when something is wrong, and doctor says what."""

import contextlib
import json
import os
import resource
import sqlite3
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from e2e.waiting import until
from hooks.test_recover_crashed import at_work
from hooks.test_start import save
from leftoff import context
from leftoff.hooks import trouble
from leftoff.session import records
from leftoff.store import Store
from talk import Talk


def start_apart(talk: Talk, *, is_disk_full: bool = False) -> dict[str, Any]:
    """Start a session in a process of its own, as the letterbox does, and return the reply."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "leftoff.hooks.start", "claude"],
        input=json.dumps(talk.payload("SessionStart", source="startup")).encode(),
        cwd=talk.folder,
        capture_output=True,
        check=False,
        timeout=120,
        # Without it a write beyond the limit would kill instead of failing.
        restore_signals=not is_disk_full,
        preexec_fn=_fill_disk if is_disk_full else None,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    reply: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {}
    return reply


def _fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_broken_index_is_rebuilt(talk: Talk, store: Store) -> None:
    save(store, "login-form")
    store.index()
    store.close()
    index = store.project.store / "index.sqlite"
    index.write_bytes(b"SQLite format 3\0" + os.urandom(4000))

    assert "Run pytest -k login" in str(start_apart(talk))


@pytest.mark.slow("waits until a session start gives up")
def test_a_locked_index_does_not_keep_a_session_from_starting(talk: Talk, store: Store) -> None:
    save(store, "login-form")
    store.index()
    store.close()
    with contextlib.closing(sqlite3.connect(store.project.store / "index.sqlite")) as other:
        other.execute("BEGIN EXCLUSIVE")
        reply = start_apart(talk)

    assert reply == {
        "systemMessage": "leftoff: the session start was stopped; run `leftoff doctor` for details."
    }
    (noted,) = trouble.list_recent(context.state_folder())
    assert (noted.where, "index" in noted.what) == ("session start", True)


def test_on_a_full_disk_the_work_is_still_offered(talk: Talk, store: Store) -> None:
    save(store, "login-form")
    store.index()
    store.close()

    assert "Run pytest -k login" in str(start_apart(talk, is_disk_full=True))

    # The session could not be recorded, which needs no room to be noted.
    noted = trouble.list_recent(context.state_folder())
    assert "Events were lost" in noted[-1].what


def test_on_a_full_disk_a_dead_session_is_left_for_later(talk: Talk, store: Store) -> None:
    old = Talk(talk.folder, "old")
    old.start()
    old.work()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    _set_process(store, "old", process.pid)
    process.kill()
    process.communicate()

    start_apart(talk, is_disk_full=True)
    until(lambda: not at_work(talk), "the recovery to end")

    assert "Add a login form to app.py" in str(start_apart(Talk(talk.folder, "third")))


def _set_process(store: Store, session_id: str, pid: int) -> None:
    state = store.project.state_folder
    life = records.life_of(state, "claude", session_id)
    assert life is not None
    records.keep_life(state, msgspec.structs.replace(life, pid=pid, pid_began=0.0))


def test_a_transcript_that_cannot_be_read_does_not_cost_the_offer(talk: Talk, store: Store) -> None:
    save(store, "login-form")
    talk.transcript = talk.folder / ("x" * 300)

    assert "Run pytest -k login" in talk.start()
    (noted,) = trouble.list_recent(context.state_folder())
    assert noted.where == "reading the session's transcript"
    assert noted.what == f"File name too long: {talk.transcript}"[:500]
