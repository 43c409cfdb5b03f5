"""Settle loses no event, runs once at a time, and no bad event stops the others."""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.waiting import until
from hooks.letterboxes import SCRIPT, install_python
from leftoff import context
from leftoff.hooks import lease, session_event, settle, spool, trouble
from leftoff.session import prompt_queue
from leftoff.store import Store
from talk import Talk


def is_settled() -> bool:
    state = context.state_folder()
    return not spool.list_letters(state) and not lease.list_marks(str(state))


def drop_letter(talk: Talk, event: str, **fields: object) -> subprocess.Popen[bytes]:
    """Fire a hook as the agent does: a process with the payload on its standard input."""
    given = talk.folder.parent / f"{talk.session_id}.{event}.json"
    given.write_text(json.dumps(talk.payload(event, **fields)), encoding="utf-8")
    with given.open("rb") as payload:
        return subprocess.Popen(
            ["/bin/sh", str(SCRIPT), "claude", event],
            stdin=payload,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=talk.folder,
            env={**os.environ, "CLAUDE_CODE_SESSION_ID": talk.session_id},
        )


def test_a_bad_event_is_set_aside_after_three_tries_and_reported(talk: Talk, store: Store) -> None:
    state = context.state_folder()
    bad = spool.keep(state, "claude", "Stop", b'{"session_id": ').path
    os.utime(bad, (1, 1))
    talk.ask("Add a login form")
    talk.edit("app.py")

    for _ in range(3):
        talk.fire("SessionEnd", reason="other")

    assert spool.list_letters(state) == []
    assert len(list((state / "poison").iterdir())) == 1
    assert "set aside" in trouble.list_recent(state)[0].where
    assert len(store.index().newest(9)) == 1


def test_what_a_killed_hook_left_is_swept_once_it_is_old(talk: Talk) -> None:
    state = context.state_folder()
    talk.post("Stop")
    old, new = state / "spool" / "4711", state / "spool" / "4712"
    for path in (old, new):
        path.write_bytes(b'{"session_id": ')
    os.utime(old, (1, 1))

    settle.run(state)

    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    "data", [b"", b"null", b"[]", b'{"cwd": 5}', b'{"session_id": "s"}', b"\xff\xfe", b"{" * 5000]
)
def test_no_payload_stops_settle(data: bytes) -> None:
    state = context.state_folder()
    for agent, event in (("claude", "Stop"), ("nobody", "Stop"), ("claude", "NoSuchEvent")):
        os.utime(spool.keep(state, agent, event, data).path, (1, 1))

    for _ in range(3):
        assert settle.run(state)

    assert spool.list_letters(state) == []


def test_half_an_emoji_in_a_prompt_is_not_trouble(talk: Talk, store: Store) -> None:
    state = context.state_folder()
    talk.ask("Add a login form")
    talk.edit("app.py")
    talk.say("Half done.", percent=96)
    talk.fire("UserPromptSubmit", prompt="Take the icon \ud83d for the login button")

    assert [each.text for each in prompt_queue.list_pending(store)] == [
        "Take the icon ? for the login button"
    ]
    assert trouble.list_recent(state) == []


def test_an_event_that_is_still_being_written_is_waited_for(talk: Talk, store: Store) -> None:
    state = context.state_folder()
    talk.ask("Add a login form")
    talk.edit("app.py")
    data = json.dumps(talk.payload("SessionEnd", reason="other")).encode()
    path = spool.keep(state, "claude", "SessionEnd", data[:20]).path
    process = subprocess.Popen([sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)])
    until(lambda: lease.list_marks(str(state)), "a settle at work")

    with path.open("ab") as file:
        file.write(data[20:])
    process.wait()

    assert spool.list_letters(state) == []
    assert len(store.index().newest(9)) == 1


def test_only_one_settle_runs_at_a_time(talk: Talk) -> None:
    state = context.state_folder()
    talk.post("Stop")
    with settle._hold_lock(str(state), lambda: False) as is_ours:  # noqa: SLF001
        assert is_ours
        assert settle.run(state) is False

    assert settle.run(state) is True
    assert spool.list_letters(state) == []


def test_an_event_that_comes_while_a_settle_ends_is_settled_by_the_one_it_starts(
    talk: Talk, store: Store
) -> None:
    state = context.state_folder()
    talk.ask("Add a login form")
    talk.edit("app.py")
    command = [sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)]
    state.mkdir(parents=True)
    with settle._hold_lock(str(state), lambda: False) as is_ours:  # noqa: SLF001
        assert is_ours
        # We have looked for the last time: there is no mark, but the lock is still ours.
        talk.post("SessionEnd", reason="other")
        process = subprocess.Popen(command)
        until(lambda: _has_open(process, state / "settle.lock"), "the lock")
    assert process.wait(120) == 0

    assert spool.list_letters(state) == []
    assert len(store.index().newest(9)) == 1


def test_an_event_that_comes_while_a_settle_is_at_work_is_left_to_it(talk: Talk) -> None:
    state = context.state_folder()
    talk.post("Stop")
    with settle._hold_lock(str(state), lambda: False):  # noqa: SLF001
        lease.SettleMark(str(state)).hold(0)
        settle.leave_or_run(str(state))

    assert len(spool.list_letters(state)) == 1


def test_a_state_folder_without_locks_keeps_no_event_waiting(
    talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = context.state_folder()
    talk.ask("Add a login form")
    talk.edit("app.py")
    talk.post("SessionEnd", reason="other")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    other = lease.SettleMark(str(state))
    other.hold(0)
    assert not settle.run(state)
    other.remove()
    assert settle.run(state)

    assert spool.list_letters(state) == []
    assert len(store.index().newest(9)) == 1


def _has_open(process: subprocess.Popen[bytes], path: Path) -> bool:
    """Say whether a process has got as far as asking for the lock, or has given up."""
    if process.poll() is not None:
        return True
    with contextlib.suppress(OSError):
        return any(link.readlink() == path for link in Path(f"/proc/{process.pid}/fd").iterdir())
    return False


def test_turns_that_ended_long_ago_are_settled_without_waiting_for_the_agent(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.start()
    for number in range(8):
        talk.ask(f"Do {number}")
        talk.edit("app.py")
        talk.say(f"Done with {number}.")
        talk.post("Stop", last_assistant_message=f"Done with {number}.")
    for path in (context.state_folder() / "spool").iterdir():
        os.utime(path, (path.stat().st_mtime - 60,) * 2)
    looks: list[str] = []
    holds = session_event.has_words

    def look(transcript: Path, words: str, *, after: int) -> bool:
        looks.append(words)
        return holds(transcript, words, after=after)

    monkeypatch.setattr(session_event, "has_words", look)

    assert settle.run(context.state_folder())
    # One look, and one more when there is nothing: whoever waits looks many times.
    assert 0 < len(looks) <= 2 * 8


def test_what_a_killed_settle_left_is_settled_by_the_next(talk: Talk, store: Store) -> None:
    state = context.state_folder()
    talk.ask("Add a login form")
    talk.edit("app.py")
    talk.post("SessionEnd", reason="other")
    (state / "settling.999999.-.0").touch()
    install_python()

    drop_letter(talk, "Notification", notification_type="other").communicate()
    until(is_settled, "all to be settled")

    assert len(store.index().newest(9)) == 1


@pytest.mark.slow("starts 200 processes")
def test_two_hundred_events_at_once_are_all_settled_and_no_process_stays(
    talk: Talk, store: Store
) -> None:
    install_python()
    talks = [Talk(talk.folder, f"session-{n}") for n in range(200)]
    for each in talks:
        each.ask(f"Do the work of {each.session_id}")
        each.edit("app.py")

    running = [drop_letter(each, "SessionEnd", reason="other") for each in talks]
    outputs = {process.communicate() for process in running}
    until(lambda: is_settled() and not settles_left(), "all to be settled", seconds=120)

    assert outputs == {(b"", b"")}
    assert {process.returncode for process in running} == {0}
    assert len(store.index().newest(300)) == 200
    assert trouble.list_recent(context.state_folder()) == []


def settles_left() -> list[str]:
    """Return the processes that settle for this test's user."""
    mark = str(context.state_folder()).encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            found += (
                [path.parent.name] if b"leftoff.hooks.settle" in words and mark in words else []
            )
    return found


def test_a_settle_killed_in_the_middle_loses_nothing(talk: Talk, store: Store) -> None:
    install_python()
    talks = [Talk(talk.folder, f"session-{n}") for n in range(30)]
    for each in talks:
        each.ask(f"Do the work of {each.session_id}")
        each.edit("app.py")
        each.post("SessionEnd", reason="other")
    state = context.state_folder()

    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)])
        before = len(spool.list_letters(state))
        until(
            lambda before=before: len(spool.list_letters(state)) < before or is_settled(),  # type: ignore[misc]
            "some of it to be settled",
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
    # A git that the killed one had just forked may hold its lock for a moment.
    assert settle.run(state, wait_seconds=120)

    assert spool.list_letters(state) == []
    assert {entry.session_id for entry in store.index().newest(100)} == {
        each.session_id for each in talks
    }


def test_a_settle_killed_in_the_middle_of_a_session_settles_all_of_it_again(
    talk: Talk, store: Store
) -> None:
    state = context.state_folder()
    talks = [Talk(talk.folder, f"session-{n}") for n in range(3)]
    for each in talks:
        each.ask(f"Do the work of {each.session_id}")
        each.edit("app.py")
        for _ in range(20):
            each.post("Stop")
        each.post("SessionEnd", reason="other")
    waiting = len(spool.list_letters(state))

    for left in (waiting - 1, waiting // 2, 1):
        process = subprocess.Popen([sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)])
        until(lambda left=left: len(spool.list_letters(state)) <= left, "some to be settled")  # type: ignore[misc]
        workers = [pid for mark in lease.list_marks(str(state)) for pid in lease.pids_of(mark)[1:]]
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        process.wait()
    assert settle.run(state, wait_seconds=120)

    assert spool.list_letters(state) == []
    saved = [str(entry.session_id) for entry in store.index().newest(100)]
    assert sorted(saved) == sorted(each.session_id for each in talks)


@pytest.mark.skipif(shutil.which("dash") is None, reason="no dash on this machine")
def test_the_letterbox_is_quick_to_end_although_settle_goes_on(talk: Talk, store: Store) -> None:
    install_python()
    talk.ask("Add a login form")
    talk.edit("app.py")

    process = drop_letter(talk, "SessionEnd", reason="other")
    out, err = process.communicate(timeout=120)
    until(is_settled, "all to be settled")

    assert (process.returncode, out, err) == (0, b"", b"")
    assert len(store.index().newest(9)) == 1
