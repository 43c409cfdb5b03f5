"""Safety rules deny tool calls, through the real hook. They are off by default."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitrepo import Repo
from hooks.letterboxes import DISTINCT, install_python, replied
from leftoff import config, context
from leftoff.hooks import context_policy, settle
from leftoff.knowledge import features
from leftoff.knowledge.features import ItemDraft
from leftoff.store import Store
from talk import Talk

Switch = Callable[..., None]


@pytest.fixture
def switch(store: Store) -> Switch:
    """Return what changes settings of the project."""

    def set_to(**values: str) -> None:
        for key, value in values.items():
            config.set_for(store.project, key, value)

    return set_to


@pytest.fixture
def safe(talk: Talk, switch: Switch) -> Talk:
    """Return a conversation that has just begun, with safety on."""
    switch(safety="on")
    talk.start()
    return talk


def ask_path(talk: Talk) -> Path:
    place = context_policy.find_ask_file(
        context.state_folder(), "claude", talk.session_id, str(talk.folder)
    )
    assert place is not None
    return place


def called(talk: Talk, given: str, *, box: str = "sh", tool: str = "Bash") -> Any:
    """Return what the real hook answers before a tool is run; None if it says nothing."""
    key = "command" if tool == "Bash" else "file_path"
    payload = talk.payload("PreToolUse", tool_name=tool, tool_input={key: given})
    return sent(talk, json.dumps(payload).encode(), box=box)


def sent(talk: Talk, data: bytes, *, box: str = "sh") -> Any:
    install_python()
    reply = replied(talk, "PreToolUse", data, box=box)
    return reply["hookSpecificOutput"] if reply else None


def fire(talk: Talk, event: str, **fields: str) -> None:
    """Settle an event, after those that the hook has left behind."""
    talk.post(event, **fields)
    assert settle.run(context.state_folder(), wait_seconds=120)


def reason(reply: Any) -> str:
    assert reply["permissionDecision"] == "deny"
    text: str = reply["permissionDecisionReason"]
    return text


@pytest.mark.accept(159)
def test_without_the_setting_nothing_lies_ready_and_nothing_is_said(talk: Talk) -> None:
    talk.start()
    talk.fire("UserPromptSubmit", prompt="Tidy up")

    assert not ask_path(talk).exists()
    assert called(talk, "git push --force") is None


@pytest.mark.accept(159)
@pytest.mark.parametrize("box", DISTINCT)
def test_from_the_first_call_on_what_throws_work_away_is_denied(safe: Talk, box: str) -> None:
    reply = reason(called(safe, "git add -A && git push --force", box=box))

    assert reply.startswith("leftoff: A force push can throw away commits of others.")
    assert "--force-with-lease" in reply
    assert called(safe, "git push", box=box) is None


@pytest.mark.accept(159)
@pytest.mark.parametrize(
    "command",
    [
        "git reset --hard",
        "git clean -fd",
        "git branch -D old",
        "rm -rf .git/leftoff",
        "rm -rf .git",
    ],
)
def test_each_rule_is_held(safe: Talk, command: str) -> None:
    reason(called(safe, command))


@pytest.mark.accept(159)
def test_main_is_left_alone_while_a_feature_is_under_way(
    safe: Talk, store: Store, repo: Repo
) -> None:
    repo.git("switch", "-q", "-c", "export")
    assert called(safe, "git checkout main") is None

    features.add(store, ItemDraft(name="Export orders"))
    features.start(store, "1", session_id=safe.session_id)
    assert "feature-001 is under way" in reason(called(safe, "git checkout main"))
    assert "feature-001 is under way" in reason(called(safe, "git push origin HEAD:main"))
    assert called(safe, "git push") is None

    features.pass_(store, session_id=safe.session_id)
    assert called(safe, "git checkout main") is None


@pytest.mark.accept(159)
def test_a_push_from_main_counts_as_one_to_main(safe: Talk, store: Store) -> None:
    features.add(store, ItemDraft(name="Export orders"))
    features.start(store, "1", session_id=safe.session_id)

    reason(called(safe, "git push"))


@pytest.mark.accept(159)
def test_native_files_of_the_profile_in_use_are_kept(
    safe: Talk, switch: Switch, repo: Repo
) -> None:
    repo.write(".claude-harness/loops/state.json", "{}")
    assert called(safe, "rm -rf .claude-harness") is None

    switch(profile="harness")
    assert ".claude-harness" in reason(called(safe, "rm -rf .claude-harness"))
    assert called(safe, "rm -rf build") is None


@pytest.mark.accept(159)
def test_leftoffs_own_files_are_not_edited_where_the_hook_sees_edits(safe: Talk) -> None:
    hook = str(context.state_folder() / "hook")

    assert "leftoff's own" in reason(called(safe, hook, tool="Edit"))
    assert called(safe, hook, tool="Read") is None
    assert called(safe, str(safe.folder / "app.py"), tool="Write") is None


def test_the_rules_are_held_after_a_compaction_and_in_another_folder(safe: Talk) -> None:
    safe.start("compact")
    reason(called(safe, "git reset --hard"))

    (safe.folder / "src").mkdir()
    safe.folder = safe.folder / "src"
    fire(safe, "Stop")
    reason(called(safe, "git reset --hard"))


def test_nothing_is_left_when_the_session_ends_or_the_setting_goes(
    safe: Talk, switch: Switch
) -> None:
    assert ask_path(safe).exists()
    switch(safety="off")
    assert called(safe, "git push -f") is None
    assert not ask_path(safe).exists()

    switch(safety="on")
    fire(safe, "UserPromptSubmit", prompt="Go on")
    assert ask_path(safe).exists()
    fire(safe, "SessionEnd", reason="exit")
    assert not ask_path(safe).exists()


def test_the_guard_by_context_use_goes_on_beside_it(safe: Talk, switch: Switch) -> None:
    switch(guard="warn")
    assert called(safe, "ls") is None

    safe.ask("Add a login form")
    safe.say("Working on it.", percent=90)
    fire(safe, "Stop")
    assert "context at 90.00%" in called(safe, "ls")["additionalContext"]
    # A word that passes the guard does not pass the rules.
    reason(called(safe, "rm -rf .git/leftoff"))


@pytest.mark.accept(159)
@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"tool_input": 1}'])
def test_what_cannot_be_read_is_allowed(safe: Talk, data: bytes) -> None:
    assert sent(safe, data) is None


@pytest.mark.accept(159)
def test_work_that_cannot_be_read_leaves_the_other_rules(safe: Talk, store: Store) -> None:
    loops = store.project.store / "loops"
    loops.mkdir()
    (store.project.store / "features.json").write_text("{", encoding="utf-8")
    (loops / "session-session-1.json").write_text("{", encoding="utf-8")

    assert called(safe, "git checkout main") is None
    reason(called(safe, "git push -f"))
