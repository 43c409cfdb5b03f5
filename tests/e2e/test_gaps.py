"""Rare events of Claude Code, fired by the real program: failures, idleness, status line.

If a test must show that one hook does its part, the other hooks are turned off.
"""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import bash, say
from e2e.user import LAST_WORDS, TASK, TOOLS, User, edits
from e2e.waiting import until

HOOKS = frozenset(
    "session-start prompt stop failure pre-compact session-end pre-tool post-tool idle".split()
)
# Of a window of a million tokens, and above where the state is saved automatically.
FULL = 720_000


def _only(*names: str) -> str:
    return ",".join(sorted(HOOKS - {*names}))


# --- a turn that fails ---


def test_a_turn_that_ends_in_an_api_error_saves_what_was_done_before_it(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(say(LAST_WORDS, tokens=FULL))
    tui = bench.tui(LEFTOFF_DISABLED_HOOKS=_only("failure"))
    tui.send(TASK)
    tui.wait_for_turns(1)
    assert user.saved() == []

    model.will(*(say(status=400) for _ in range(10)))
    tui.send("And the tests?")
    tui.wait("API Error: 400")

    until(lambda: user.saved("context"), "a checkpoint")
    (checkpoint,) = user.saved("context")
    assert checkpoint["context"]["tokens"] == FULL
    assert "And the tests?" in (checkpoint["intent"], *checkpoint.get("pending_prompts", ()))
    assert "add tests/test_retry.py" in checkpoint["left_off"]


def test_after_an_api_error_and_a_kill_the_next_session_is_told_the_request(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(*(say(status=400) for _ in range(10)))
    tui = bench.tui()
    tui.send(TASK)
    tui.wait("API Error: 400")

    tui.kill()
    user.settled()
    bench.run("hello")

    assert TASK in model.requests()[-1].news
    assert user.saved("recovered")


# --- an agent that waits ---


def _idle_soon(bench: Bench) -> None:
    """Let Claude Code report after half a second, and not after a minute, that it waits."""
    path = bench.home / ".claude.json"
    stored = json.loads(path.read_bytes())
    path.write_text(json.dumps({**stored, "messageIdleNotifThresholdMs": 500}), encoding="utf-8")


def _record(bench: Bench) -> Path | None:
    folder = bench.repo.folder / ".git" / "leftoff" / "sessions"
    return next(folder.glob("claude-*.json"), None)


def _age(record: Path, minutes: int) -> None:
    """Let so much time have passed since the session was last at work."""
    stored = json.loads(record.read_bytes())
    seen = datetime.fromisoformat(stored["seen_at"]) - timedelta(minutes=minutes)
    record.write_text(json.dumps({**stored, "seen_at": seen.isoformat()}), encoding="utf-8")


@pytest.mark.accept(42)
def test_a_session_that_has_been_idle_for_ten_minutes_is_saved(
    bench: Bench, model: Model, user: User
) -> None:
    _idle_soon(bench)
    model.will(edits(bench), say("Looking at it."), say(LAST_WORDS))
    tui = bench.tui(*TOOLS, LEFTOFF_DISABLED_HOOKS=_only("idle"))
    tui.send(TASK)
    record = until(lambda: _record(bench), "what an idle session is known by")
    assert record is not None
    user.settled()
    assert user.saved() == []

    _age(record, 11)
    tui.send("And the tests?")

    until(lambda: user.saved("idle"), "a checkpoint")
    (checkpoint,) = user.saved("idle")
    assert checkpoint["intent"] == "And the tests?"


# --- the status line ---


def _status_line(bench: Bench) -> None:
    path = bench.home / ".claude" / "settings.json"
    stored = json.loads(path.read_bytes())
    line = {"statusLine": {"type": "command", "command": "leftoff statusline"}}
    path.write_text(json.dumps({**stored, **line}), encoding="utf-8")


def test_the_status_line_shows_the_use_of_the_context_and_the_last_save(
    bench: Bench, model: Model, user: User
) -> None:
    _status_line(bench)
    save = "leftoff save retry-client --summary 'Retry the client' --next 'Write the tests'"
    model.will(
        say(LAST_WORDS, tokens=600_000), bash(save, tokens=610_000), say("Saved.", tokens=620_000)
    )
    tui = bench.tui("--allowedTools", "Bash")

    tui.send(TASK)
    tui.wait("▓▓▓░░ 60 % · not saved")
    tui.send("Save it")
    tui.wait("retry-client ▓▓▓░░ 62 % · saved just now")

    user.settled()
    assert [one["name"] for one in user.saved("manual")] == ["retry-client"]


def test_the_live_use_of_the_status_line_is_what_hooks_go_by(
    bench: Bench, model: Model, user: User
) -> None:
    _status_line(bench)
    model.will(say(LAST_WORDS, tokens=FULL), say("Renamed."))
    tui = bench.tui()
    tui.send(TASK)
    tui.wait("72 %")
    user.reply_is_ready()

    (use,) = (bench.state / "usage").glob("*.use")
    assert json.loads(use.read_bytes())["tokens"] == FULL
    assert json.loads(use.read_bytes())["window"] == 1_000_000
    tui.send("and rename the module")

    assert "leftoff: context at 72.00%" in model.wait_for("and rename the module").news
