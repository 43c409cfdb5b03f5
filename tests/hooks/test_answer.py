"""With a nearly full context, blocked prompts are not lost, and the ways out are not blocked."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hooks.letterboxes import install_python, replied
from leftoff import context
from leftoff.agents.claude import claude_dialect
from leftoff.hooks import replies, settle, spool, trouble
from leftoff.hooks.answer import answer
from leftoff.session import prompt_queue
from leftoff.store import Store
from talk import Talk

TASK = "Add a login form to app.py"
PROMPT = "also rename the button"


@pytest.fixture
def full(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    """Make a session at 96 % whose user wants prompts blocked."""
    monkeypatch.setenv("LEFTOFF_PROMPTS", "block")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    talk.ask(TASK)
    talk.say("Done.", percent=96)
    talk.fire("Stop")
    install_python()
    yield talk
    state = context.state_folder()
    if os.access(state, os.W_OK):
        assert settle.run(state, wait_seconds=120)


def ask_path(talk: Talk) -> Path:
    place = replies.path_of(
        context.state_folder(), str(talk.folder), "claude", "UserPromptSubmit", talk.session_id
    )
    return place.with_name(place.name + replies.ASK)


def typed(talk: Talk, prompt: str) -> dict[str, Any] | None:
    """Type a prompt: run the real letterbox and return what it prints."""
    payload = talk.payload("UserPromptSubmit", prompt=prompt)
    reply: dict[str, Any] | None = replied(talk, "UserPromptSubmit", payload)
    return reply


def texts(store: Store) -> list[str]:
    return [prompt.text for prompt in prompt_queue.list_pending(store)]


@pytest.mark.accept(109)
def test_block_mode_blocks_and_the_prompt_is_in_the_queue(full: Talk, store: Store) -> None:
    reply = typed(full, PROMPT)

    assert reply is not None
    assert reply["decision"] == "block"
    assert reply["reason"].startswith(
        "leftoff: context at 96.00%. The prompt was not sent, but it is kept"
    )
    assert texts(store) == [PROMPT]


@pytest.mark.accept(109)
def test_the_prompt_is_durable_before_the_decision_is_known(
    full: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    data = json.dumps(full.payload("UserPromptSubmit", prompt=PROMPT)).encode()

    assert answer("claude", "UserPromptSubmit", ask_path(full), data)

    names = [Path(each).name for each in synced]
    assert any(name.startswith("claude.UserPromptSubmit.") for name in names)
    assert "prompts.jsonl" in names
    assert texts(store) == [PROMPT]


@pytest.mark.accept(109)
def test_settling_the_same_event_keeps_it_no_second_time(full: Talk, store: Store) -> None:
    typed(full, PROMPT)
    typed(full, PROMPT)

    assert settle.run(context.state_folder(), wait_seconds=120)

    assert texts(store) == [PROMPT]


@pytest.mark.accept(109)
def test_keep_mode_only_keeps(full: Talk, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEFTOFF_PROMPTS", "keep")
    full.fire("Notification", notification_type="idle_prompt")

    reply = typed(full, PROMPT)

    assert reply is None or "decision" not in reply
    assert settle.run(context.state_folder(), wait_seconds=120)
    assert texts(store) == [PROMPT]


@pytest.mark.accept(109)
def test_a_prompt_that_cannot_be_written_passes(full: Talk, store: Store) -> None:
    # A file where the spool should be: nothing can be kept, even by root.
    spool_folder = context.state_folder() / "spool"
    for path in spool_folder.iterdir():
        path.unlink()
    spool_folder.rmdir()
    spool_folder.write_text("in the way", encoding="utf-8")

    assert typed(full, PROMPT) is None
    assert texts(store) == []
    assert trouble.list_recent(context.state_folder())[-1].where == "answer"
    spool_folder.unlink()


@pytest.mark.accept(109)
def test_a_prompt_that_the_queue_cannot_take_passes(full: Talk, store: Store) -> None:
    for folder in (store.project.store, store.project.fallback):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "prompts.jsonl").mkdir()

    assert typed(full, PROMPT) is None
    assert trouble.list_recent(context.state_folder())
    for folder in (store.project.store, store.project.fallback):
        (folder / "prompts.jsonl").rmdir()


@pytest.mark.accept(111)
@pytest.mark.parametrize(
    "prompt",
    ["/checkpoint", "\n /checkpoint --restore", "/compact", "/clear", "/help", "/leftoff:resume x"],
)
def test_the_ways_out_pass_untouched(full: Talk, store: Store, prompt: str) -> None:
    assert typed(full, prompt) is None
    assert settle.run(context.state_folder(), wait_seconds=120)
    assert texts(store) == []


@pytest.mark.accept(111)
@pytest.mark.parametrize("prompt", ["/checkpoint --purge", "/checkpointfoo"])
def test_what_only_looks_like_a_way_out_is_blocked(full: Talk, store: Store, prompt: str) -> None:
    assert (typed(full, prompt) or {})["decision"] == "block"
    assert texts(store) == [prompt]


def test_after_a_compaction_the_next_prompt_passes_at_once(full: Talk, store: Store) -> None:
    full.line(
        type="system",
        subtype="compact_boundary",
        content="Conversation compacted",
        compactMetadata={"trigger": "manual", "preTokens": 960_000, "postTokens": 12_000},
    )
    assert ask_path(full).exists()

    assert typed(full, PROMPT) is None
    assert not ask_path(full).exists()
    assert texts(store) == []


def test_an_agent_without_a_start_after_a_compaction_gets_the_next_prompt_and_its_state(
    full: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_dialect, "STARTS_AFTER_COMPACTION", False)
    data = json.dumps(full.payload("UserPromptSubmit", prompt="Delete the old button")).encode()
    assert "block" in answer("claude", "UserPromptSubmit", ask_path(full), data)

    full.fire("PreCompact", trigger="manual")

    # The transcript does not say yet how full the context is now.
    reply = typed(full, PROMPT)
    assert reply is not None
    assert "decision" not in reply
    said = reply["hookSpecificOutput"]["additionalContext"]
    assert TASK in said
    assert "leftoff: 1 prompt was never answered." in said
    assert "- Delete the old button" in said
    assert "96.00%" not in said


def test_the_first_prompt_of_a_resumed_session_is_blocked_too(full: Talk, store: Store) -> None:
    full.fire("SessionEnd", reason="prompt_input_exit")
    assert not ask_path(full).exists()

    full.start("resume")

    reply = typed(full, PROMPT)
    assert reply is not None
    assert reply["decision"] == "block"
    assert texts(store) == [PROMPT]


def test_a_resumed_session_with_room_gets_its_prompt_and_what_its_start_prepared(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_PROMPTS", "block")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    # As for Gemini CLI, which adds nothing at a start.
    monkeypatch.setattr(claude_dialect, "ADDS_AT_START", False)
    install_python()
    (talk.folder / "app.py").write_text("1\n", encoding="utf-8")
    talk.work()
    talk.fire("SessionEnd", reason="prompt_input_exit")
    (talk.folder / "app.py").write_text("22\n", encoding="utf-8")

    talk.start("resume")

    reply = typed(talk, PROMPT)
    assert reply is not None
    assert "since this session was last here" in reply["hookSpecificOutput"]["additionalContext"]
    assert not ask_path(talk).exists()
    assert settle.run(context.state_folder(), wait_seconds=120)


def test_a_prompt_that_was_blocked_and_then_answered_leaves_the_queue(
    full: Talk, store: Store
) -> None:
    typed(full, PROMPT)
    full.line(
        type="system",
        subtype="compact_boundary",
        compactMetadata={"trigger": "manual", "preTokens": 960_000, "postTokens": 12_000},
    )
    full.ask(PROMPT)
    full.say("Renamed.")
    full.post("Stop")
    assert settle.run(context.state_folder(), wait_seconds=120)

    assert texts(store) == []
    assert [prompt.fate for prompt in prompt_queue.history(store)] == ["answered"]


def test_a_project_that_is_off_is_left_alone(full: Talk, store: Store) -> None:
    (store.project.store / "off").touch()
    data = json.dumps(full.payload("UserPromptSubmit", prompt=PROMPT)).encode()

    assert answer("claude", "UserPromptSubmit", ask_path(full), data) == ""
    assert texts(store) == []


@pytest.mark.parametrize("data", [b"", b"[]", b'{"prompt": "x"}', b"\xff"])
def test_what_is_not_an_event_is_not_blocked(full: Talk, data: bytes) -> None:
    assert replied(full, "UserPromptSubmit", data) is None
    for letter in spool.list_letters(context.state_folder()):
        spool.remove_letter(letter)


def test_the_same_event_from_settings_and_plugin_counts_once(full: Talk, store: Store) -> None:
    before = len(store.index().newest(100))
    for _ in range(2):
        full.post("UserPromptSubmit", prompt=PROMPT)
    for _ in range(2):
        full.post("PreCompact", trigger="manual")

    assert settle.run(context.state_folder(), wait_seconds=120)

    assert texts(store) == [PROMPT]
    assert len(store.index().newest(100)) <= before + 1
