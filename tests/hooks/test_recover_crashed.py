"""What the next session gets from one that died."""

import contextlib
import os
import signal
from pathlib import Path

import msgspec
import pytest

from leftoff import context
from leftoff.hooks import session_event, start, start_recovery, trouble
from leftoff.session import records
from leftoff.session.records import Life
from leftoff.store import Store
from talk import Talk

TASK = "Add a login form to app.py"


def dead(talk: Talk, store: Store) -> None:
    """Say that the session's process is gone."""
    life = Life(
        agent="claude",
        session_id=talk.session_id,
        store=str(store.project.store),
        cwd=str(talk.folder),
        pid=2**30,
    )
    records.keep_life(context.state_folder(), life)


@pytest.fixture
def next_talk(talk: Talk) -> Talk:
    return Talk(talk.folder, "session-2")


def test_a_prompt_that_never_reached_the_transcript_is_reported(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.fire("UserPromptSubmit", prompt=TASK)
    dead(talk, store)

    assert TASK in next_talk.start()
    (entry,) = store.index().heads(["open"], 9)
    assert entry.trigger == "recovered"
    assert store.load(entry).pending_prompts == [TASK]
    assert store.load(entry).session_id == talk.session_id


def test_a_later_prompt_that_never_reached_the_transcript_is_reported(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.ask(TASK)
    talk.edit("app.py")
    talk.say("Done.")
    talk.fire("Stop", last_assistant_message="Done.")
    talk.fire("UserPromptSubmit", prompt="Now add a logout link")
    dead(talk, store)

    assert "Now add a logout link" in next_talk.start()
    (entry,) = store.index().heads(["open"], 9)
    checkpoint = store.load(entry)
    assert checkpoint.files_modified == ["app.py"]
    assert checkpoint.intent == "Now add a logout link"


def test_a_prompt_in_the_transcript_is_reported_once(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.fire("UserPromptSubmit", prompt=TASK)
    talk.ask(TASK)
    talk.begin("pytest -k login")
    dead(talk, store)

    next_talk.start()

    (entry,) = store.index().heads(["open"], 9)
    assert store.load(entry).pending_prompts == []
    assert "pytest -k login" in str(store.load(entry).in_flight)


@pytest.mark.parametrize("prompt", ["/compact", "goodnight", " "])
def test_commands_and_goodbyes_are_not_work(
    talk: Talk, next_talk: Talk, store: Store, prompt: str
) -> None:
    talk.fire("UserPromptSubmit", prompt=prompt)
    dead(talk, store)

    assert next_talk.start() == ""


def test_an_answered_prompt_is_forgotten(talk: Talk, next_talk: Talk, store: Store) -> None:
    talk.fire("UserPromptSubmit", prompt="Tell me [Image #1] the time")
    talk.ask("Tell me the time")
    # Without work there would be nothing to recover.
    talk.edit("clock.py")
    talk.say("Noon.")
    talk.fire("Stop", last_assistant_message="Noon.")
    dead(talk, store)

    next_talk.start()

    (entry,) = store.index().heads(["open"], 9)
    assert store.load(entry).pending_prompts == []


def test_a_command_that_never_reached_the_transcript_is_reported(
    talk: Talk, next_talk: Talk, store: Store
) -> None:
    talk.ask(TASK)
    talk.fire("UserPromptSubmit", prompt=TASK)
    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": "sh migrate.sh"})
    dead(talk, store)

    assert "sh migrate.sh" in next_talk.start()
    (entry,) = store.index().heads(["open"], 9)
    checkpoint = store.load(entry)
    assert checkpoint.in_flight is not None
    assert checkpoint.in_flight.what == "sh migrate.sh"
    assert checkpoint.intent == TASK


def test_an_answer_that_never_reached_the_transcript_is_reported(
    talk: Talk, next_talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_event, "_WAIT_SECONDS", 0.05)
    talk.ask("Something else")
    talk.fire("UserPromptSubmit", prompt=TASK)
    talk.fire("Stop", last_assistant_message="Half of it is done.")
    dead(talk, store)

    assert "Half of it is done." in next_talk.start()
    (entry,) = store.index().heads(["open"], 9)
    checkpoint = store.load(entry)
    assert checkpoint.intent == TASK
    assert checkpoint.left_off == "Half of it is done."
    assert checkpoint.pending_prompts == []


@pytest.fixture
def endless(talk: Talk, store: Store) -> Talk:
    """Return a session that died and whose transcript takes minutes of CPU to be read."""
    talk.fire("UserPromptSubmit", prompt=TASK)
    talk.ask(TASK)
    talk.edit("app.py")
    talk.fire("Stop", last_assistant_message="Half of it is done.")
    os.truncate(talk.transcript, 1 << 42)
    dead(talk, store)
    return talk


def at_work(talk: Talk) -> list[int]:
    """Return the processes that recover a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if b"leftoff.hooks.recover_crashed" in words and os.fsencode(talk.folder) in words:
                found.append(int(path.parent.name))
    return found


def kill_all(talk: Talk) -> None:
    for pid in at_work(talk):
        os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def test_a_start_does_not_wait_for_a_transcript_that_takes_too_long(
    endless: Talk, next_talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_recovery, "CPU_SECONDS", 0.2)

    reply = next_talk.start()

    # The start is over, and somebody still reads.
    assert at_work(endless)
    kill_all(endless)
    assert "leftoff: still reading 1 session that ended here." in reply
    lives = records.list_lives(context.state_folder(), store.project)
    assert [life.tries for life in lives] == [1, 0]


def test_a_session_that_nobody_could_recover_in_time_is_saved_as_it_was_known(
    endless: Talk, next_talk: Talk
) -> None:
    state = context.state_folder()
    life = records.life_of(state, "claude", endless.session_id)
    assert life is not None
    records.keep_life(state, msgspec.structs.replace(life, tries=2))

    assert TASK in next_talk.start()

    assert "takes too long to read" in trouble.list_recent(state)[-1].what
    assert records.life_of(state, "claude", endless.session_id) is None


def test_a_session_that_cannot_even_be_saved_is_given_up(endless: Talk, next_talk: Talk) -> None:
    state = context.state_folder()
    life = records.life_of(state, "claude", endless.session_id)
    assert life is not None
    records.keep_life(state, msgspec.structs.replace(life, tries=3))

    data = msgspec.json.encode(next_talk.payload("SessionStart", source="startup"))
    start.answer("claude", data, state)

    assert records.life_of(state, "claude", endless.session_id) is None
