"""The guard warns about or denies tool calls as the context fills up. It is off by default."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from gitrepo import Repo
from hooks.letterboxes import install_python, replied
from leftoff import config, context
from leftoff.hooks import context_policy, settle
from leftoff.store import Store
from stores import draft
from talk import Talk


@pytest.fixture
def switch(store: Store) -> Any:
    """Return what sets the guard for the project."""

    def set_to(value: str) -> None:
        for key, each in (("guard", value), ("advise_at", "65"), ("urge_at", "75")):
            config.set_for(store.project, key, each)

    return set_to


def fill(talk: Talk, percent: float) -> None:
    talk.ask("Add a login form")
    talk.say("Working on it.", percent=percent)
    talk.post("Stop")
    assert settle.run(context.state_folder(), wait_seconds=120)


def ask_path(talk: Talk) -> Path:
    place = context_policy.find_ask_file(
        context.state_folder(), "claude", talk.session_id, str(talk.folder)
    )
    assert place is not None
    return place


def called(talk: Talk, tool: str = "Bash", **given: str) -> Any:
    """Return what the real hook answers before a tool is run."""
    install_python()
    payload = talk.payload("PreToolUse", tool_name=tool, tool_input=given or {"command": "ls"})
    reply = replied(talk, "PreToolUse", payload)
    return reply["hookSpecificOutput"] if reply else None


@pytest.mark.accept(76)
def test_without_the_setting_nothing_is_said(talk: Talk) -> None:
    fill(talk, 99)

    assert not ask_path(talk).exists()
    assert called(talk) is None


@pytest.mark.accept(76)
def test_from_the_first_threshold_on_a_call_is_warned_of_and_allowed(
    talk: Talk, switch: Any
) -> None:
    switch("block")
    fill(talk, 64.9)
    assert called(talk) is None

    fill(talk, 65)
    reply = called(talk)

    assert "context at 65.00%" in reply["additionalContext"]
    assert "permissionDecision" not in reply


@pytest.mark.accept(76)
def test_from_the_second_on_it_is_blocked_until_somebody_saves(
    talk: Talk, store: Store, switch: Any
) -> None:
    switch("block")
    fill(talk, 75)

    reply = called(talk)
    assert reply["permissionDecision"] == "deny"
    assert "leftoff save" in reply["permissionDecisionReason"]

    store.save(draft("login-form"))
    assert called(talk) is None


@pytest.mark.accept(76)
def test_a_guard_that_only_warns_blocks_nothing(talk: Talk, switch: Any) -> None:
    switch("warn")
    fill(talk, 99)

    assert "permissionDecision" not in called(talk)


@pytest.mark.accept(76)
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "leftoff save login --summary x"}),
        ("Bash", {"command": "mkdir -p .claude/checkpoints"}),
        ("Write", {"file_path": "/repo/.claude/checkpoints/20261115T000000Z.json"}),
        ("Read", {"file_path": "/repo/.claude/state-index.json"}),
        ("Skill", {"skill": "leftoff"}),
        ("Task", {"prompt": "save the state"}),
    ],
)
def test_what_saves_or_reads_the_state_always_passes(
    talk: Talk, switch: Any, tool: str, given: dict[str, str]
) -> None:
    switch("block")
    fill(talk, 90)

    assert called(talk, tool, **given) is None
    assert called(talk, "Write", file_path="/repo/app.py")["permissionDecision"] == "deny"


@pytest.mark.accept(76)
@pytest.mark.parametrize(
    ("percent", "minutes", "is_told"),
    [(70, 9, True), (70, 11, False), (80, 29, True), (80, 31, False)],
)
def test_what_lies_ready_is_believed_for_a_while_only(
    talk: Talk, switch: Any, percent: float, minutes: float, *, is_told: bool
) -> None:
    switch("block")
    fill(talk, percent)
    then = time.time() - 60 * minutes
    os.utime(ask_path(talk), (then, then))
    payload = talk.payload("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    reply = context_policy.answer(
        "claude", "PreToolUse", ask_path(talk), json.dumps(payload).encode()
    )

    assert bool(reply) is is_told


def test_a_context_that_is_no_longer_full_is_not_guarded(
    talk: Talk, switch: Any, repo: Repo
) -> None:
    del repo
    switch("block")
    fill(talk, 90)
    talk.start("compact")
    assert not ask_path(talk).exists()

    fill(talk, 90)
    talk.fire("SessionEnd", reason="exit")
    assert not ask_path(talk).exists()
