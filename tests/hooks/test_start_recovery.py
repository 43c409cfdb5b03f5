"""A session that died is offered, wherever its last words are and whatever else is going on."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.waiting import until
from hooks.letterboxes import install_python, replied
from hooks.test_recover_crashed import TASK, at_work, dead
from leftoff import context
from leftoff.hooks import lease, replies, settle, spool, start, start_recovery
from leftoff.session import records
from leftoff.session.records import Life
from leftoff.store import Store
from talk import Talk

# Another process that holds something until its standard input is closed.
_HOLD_SETTLE = """
import sys
from leftoff.hooks import settle
with settle._hold_lock(sys.argv[1], lambda: False) as is_ours:
    assert is_ours
    with settle._hold_mark(sys.argv[1]):
        print("held", flush=True)
        sys.stdin.read()
"""
_HOLD_SESSION = """
import sys
from leftoff.hooks import lease
assert lease.SessionLocks(sys.argv[1]).take("claude", sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


class Holder:
    """A process that holds a lock until it is let go."""

    def __init__(self, code: str, *words: str) -> None:
        context.state_folder().mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(context.state_folder()), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def let_go(self) -> None:
        self.process.communicate()


@pytest.fixture
def next_talk(talk: Talk) -> Talk:
    return Talk(talk.folder, "session-2")


@pytest.fixture
def busy_settle() -> Iterator[Holder]:
    """Let a settle be at work that does not get on."""
    holder = Holder(_HOLD_SETTLE)
    yield holder
    holder.let_go()


def queue(talk: Talk, prompt: str) -> None:
    """Write what Claude Code writes when a prompt is typed while the agent works."""
    with talk.transcript.open("a", encoding="utf-8") as file:
        entry = {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": "2026-11-15T12:00:01.000Z",
            "sessionId": talk.session_id,
            "content": prompt,
        }
        file.write(json.dumps(entry) + "\n")


def killed(talk: Talk, store: Store) -> None:
    """Let a real process run the session, and kill it."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    life = Life(
        agent="claude",
        session_id=talk.session_id,
        store=str(store.project.store),
        cwd=str(talk.folder),
        pid=process.pid,
        transcript_path=str(talk.transcript),
    )
    records.keep_life(context.state_folder(), life)
    process.kill()
    process.communicate()


def wait_for_recovery(talk: Talk) -> None:
    until(lambda: not at_work(talk), "the recovery to end")


def test_a_dead_session_whose_events_wait_is_offered(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.post("UserPromptSubmit", prompt=TASK)
    killed(talk, store)

    text = next_talk.start()

    assert "leftoff: a session died here" in text
    assert TASK in text
    assert store.load(store.index().heads(["open"], 9)[0]).pending_prompts == [TASK]
    assert spool.list_letters(context.state_folder()) == []


def test_a_dead_session_whose_end_waits_is_saved_as_ended(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.work()
    talk.post("SessionEnd", reason="prompt_input_exit")
    killed(talk, store)

    assert "leftoff: work was left off here" in next_talk.start()
    assert [entry.trigger for entry in store.index().newest(9)] == ["session-end"]


@pytest.mark.usefixtures("busy_settle")
def test_a_settle_at_work_does_not_keep_a_dead_session_from_being_offered(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.post("UserPromptSubmit", prompt=TASK)
    talk.ask(TASK)
    queue(talk, "then update the changelog")
    killed(talk, store)

    text = next_talk.start()

    assert TASK in text
    assert "then update the changelog" in text
    assert spool.list_letters(context.state_folder()) == []


@pytest.mark.usefixtures("busy_settle")
def test_after_clear_a_settle_at_work_does_not_hide_the_old_session(
    talk: Talk, next_talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_recovery, "SETTLE_SECONDS", 0.0)
    talk.start()
    talk.work()
    talk.post("SessionEnd", reason="clear")

    assert "Add a login form to app.py" in next_talk.start("clear")
    assert [entry.trigger for entry in store.index().newest(9)] == ["session-end"]


def test_bytes_that_no_event_announced_are_read(talk: Talk, next_talk: Talk, store: Store) -> None:
    talk.start()
    life = records.life_of(context.state_folder(), "claude", talk.session_id)
    assert life is not None
    talk.ask(TASK)
    talk.edit("app.py")
    queue(talk, "then update the changelog")
    killed(talk, store)

    assert "then update the changelog" in next_talk.start()
    (entry,) = store.index().heads(["open"], 9)
    assert store.load(entry).files_modified == ["app.py"]
    assert life.transcript_path == str(talk.transcript)


def test_events_of_other_sessions_are_left_to_settle(
    talk: Talk, next_talk: Talk, store: Store, busy_settle: Holder
) -> None:
    other = Talk(talk.folder, "other")
    other.post("UserPromptSubmit", prompt="Something else")
    talk.post("UserPromptSubmit", prompt=TASK)
    killed(talk, store)

    assert TASK in next_talk.start()

    (left,) = spool.list_letters(context.state_folder())
    found = spool.read(left)
    assert found is not None
    assert found.session_id == "other"
    busy_settle.let_go()


@pytest.fixture
def locked(talk: Talk) -> Iterator[Holder]:
    """Let another process have the session, as a settle at one of its events has."""
    holder = Holder(_HOLD_SESSION, talk.session_id)
    yield holder
    holder.let_go()


def test_what_a_start_cannot_say_in_time_comes_with_the_next_prompt(
    talk: Talk,
    next_talk: Talk,
    store: Store,
    locked: Holder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(start_recovery, "WALL_SECONDS", 0.0)
    talk.post("UserPromptSubmit", prompt=TASK)
    killed(talk, store)
    data = json.dumps(next_talk.payload("SessionStart", source="startup")).encode()
    reply = json.loads(start.answer("claude", data, context.state_folder()))

    assert "still reading 1 session that ended here" in reply["systemMessage"]
    assert "follows with your next prompt" in reply["hookSpecificOutput"]["additionalContext"]
    locked.let_go()
    wait_for_recovery(talk)
    install_python(str(shutil.which("true")))

    late = replied(next_talk, "UserPromptSubmit", next_talk.payload("UserPromptSubmit", prompt="x"))
    assert TASK in late["hookSpecificOutput"]["additionalContext"]
    assert 'Say "continue" to go on.' in late["systemMessage"]
    # It is said once.
    assert settle.run(context.state_folder())
    assert next_talk.waiting_reply() == ""
    assert not replies.owed_path(context.state_folder(), "claude", "session-2").exists()


def test_continue_means_the_work_that_was_offered_late(
    talk: Talk, next_talk: Talk, store: Store, locked: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_recovery, "WALL_SECONDS", 0.0)
    talk.post("UserPromptSubmit", prompt=TASK)
    killed(talk, store)
    next_talk.start()
    locked.let_go()
    wait_for_recovery(talk)

    next_talk.fire("UserPromptSubmit", prompt="continue")

    (entry,) = store.index().heads(["resumed"], 9)
    assert TASK in (entry.task or "")


def test_a_late_offer_that_comes_after_a_prompt_comes_with_the_one_after_it(
    talk: Talk, next_talk: Talk, store: Store, locked: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_recovery, "WALL_SECONDS", 0.0)
    talk.post("UserPromptSubmit", prompt=TASK)
    killed(talk, store)
    next_talk.start()
    next_talk.post("UserPromptSubmit", prompt="What is 2 + 2?")
    lost = next_talk.waiting_reply()
    locked.let_go()
    wait_for_recovery(talk)

    assert settle.run(context.state_folder())

    assert lost == ""
    assert TASK in next_talk.waiting_reply()


def test_a_backlog_of_a_dead_session_is_not_waited_for(
    talk: Talk, next_talk: Talk, store: Store, locked: Holder
) -> None:
    state = context.state_folder()
    for number in range(201):
        letter = spool.keep(
            state,
            "claude",
            "UserPromptSubmit",
            json.dumps(talk.payload("UserPromptSubmit", prompt=f"{TASK} {number}")).encode(),
        ).path
        letter.rename(letter.with_name(f"{letter.name}.{talk.session_id}"))
    killed(talk, store)

    # The recovery cannot even begin, so a start that waited would wait for eight seconds.
    assert "still reading 1 session" in next_talk.start()

    locked.let_go()
    wait_for_recovery(talk)
    assert f"{TASK} 200" in next_talk.waiting_reply()


def test_if_the_recovery_is_killed_the_next_session_is_offered_the_work(
    talk: Talk, next_talk: Talk, store: Store, locked: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.post("UserPromptSubmit", prompt=TASK)
    killed(talk, store)
    with monkeypatch.context() as patch:
        patch.setattr(start_recovery, "WALL_SECONDS", 0.0)
        assert "still reading" in next_talk.start()
    for pid in at_work(talk):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    locked.let_go()

    assert TASK in Talk(talk.folder, "session-3").start()


def test_a_recovery_in_time_owes_nothing(talk: Talk, next_talk: Talk, store: Store) -> None:
    talk.post("UserPromptSubmit", prompt=TASK)
    dead(talk, store)

    assert TASK in next_talk.start()

    assert list((context.state_folder() / "owed").iterdir()) == []
    next_talk.fire("UserPromptSubmit", prompt="What is 2 + 2?")
    assert next_talk.waiting_reply() == ""


def test_an_event_that_comes_after_the_recovery_does_not_bring_the_session_back_to_life(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.work()
    talk.fire("UserPromptSubmit", prompt="Now add a logout link")
    dead(talk, store)
    assert "Now add a logout link" in next_talk.start()

    # A hook that outlived the agent has written its event late.
    path = spool.keep(
        context.state_folder(),
        "claude",
        "UserPromptSubmit",
        json.dumps(talk.payload("UserPromptSubmit", prompt="and a settings page")).encode(),
    ).path
    os.utime(path, (1_794_000_000, 1_794_000_000))
    assert settle.run(context.state_folder())

    assert "and a settings page" in Talk(talk.folder, "session-3").start()


def test_settle_leaves_a_session_to_the_process_that_has_it(talk: Talk, store: Store) -> None:
    state = context.state_folder()
    other = Talk(talk.folder, "other")
    talk.post("UserPromptSubmit", prompt=TASK)
    other.work()
    other.post("SessionEnd", reason="other")
    holder = Holder(_HOLD_SESSION, talk.session_id)
    running = subprocess.Popen([sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state)])

    until(lambda: len(spool.list_letters(state)) == 1, "the other session to be settled")
    assert records.load(store, "claude", talk.session_id).seen_at is None
    holder.let_go()
    assert running.wait(120) == 0

    assert spool.list_letters(state) == []
    assert records.load(store, "claude", talk.session_id).turn.asked == TASK


def test_a_lock_on_a_session_ends_with_its_process(tmp_path: Path) -> None:
    holder = Holder(_HOLD_SESSION, "one")
    locks = lease.SessionLocks(context.state_folder())

    assert not locks.take("claude", "one")
    assert locks.take("claude", "two")
    holder.process.kill()
    holder.process.communicate()
    assert locks.take("claude", "one")
    locks.close()
    # Where there can be no lock, nothing waits for one.
    (tmp_path / "locks").write_text("in the way", encoding="utf-8")
    assert lease.SessionLocks(tmp_path).take("claude", "one")
