"""The real Claude Code behaves as leftoff expects."""

import pytest

from e2e.claude import Bench
from e2e.model import Model
from e2e.recorder import Recorder
from e2e.turns import SUMMARY, bash, say

LIMIT = 10_000


def test_a_turn_fires_its_events_in_order_with_the_fields_we_read(
    bench: Bench, model: Model, recorder: Recorder
) -> None:
    model.will(bash("echo hi"), say("done"))

    result = bench.run("hello", "--allowedTools", "Bash")

    assert recorder.events() == [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd",
    ]  # fmt: skip
    start, prompt, before, _, stop, end = recorder.payloads()
    assert start["source"] == "startup"
    assert start["session_id"] == result.session_id
    assert start["cwd"] == str(bench.repo.folder)
    assert start["transcript_path"] == str(bench.transcript_path(result.session_id))
    assert {"user", "assistant"} <= {entry["type"] for entry in bench.transcript(result.session_id)}
    assert prompt["prompt"] == "hello"
    assert before["tool_input"]["command"] == "echo hi"
    assert stop["last_assistant_message"] == "done"
    assert stop["stop_hook_active"] is False
    assert end["reason"] == "other"


def test_what_session_start_adds_reaches_the_model_and_a_message_to_the_user_does_not(
    bench: Bench, model: Model, recorder: Recorder
) -> None:
    session = bench.run("hello").session_id
    added = {"hookEventName": "SessionStart", "additionalContext": "CONTEXT-MARK"}
    recorder.reply("SessionStart", hookSpecificOutput=added, systemMessage="MESSAGE-MARK")

    bench.run("again", "--resume", session)

    assert recorder.payloads("SessionStart")[-1]["source"] == "resume"
    assert "CONTEXT-MARK" in model.seen_text()
    assert "MESSAGE-MARK" not in model.seen_text()


@pytest.mark.parametrize(("size", "is_whole"), [(LIMIT, True), (LIMIT + 1, False)])
def test_a_reply_over_ten_thousand_characters_is_cut(
    bench: Bench, model: Model, recorder: Recorder, size: int, *, is_whole: bool
) -> None:
    recorder.add("SessionStart", "é" * (size - 4) + "TAIL")

    bench.run("hello")

    assert ("éTAIL" in model.seen_text()) is is_whole


def test_a_blocked_prompt_makes_no_request_and_is_shown_with_the_reason(
    bench: Bench, model: Model, recorder: Recorder
) -> None:
    recorder.reply("UserPromptSubmit", decision="block", reason="THE-REASON")

    result = bench.run("the blocked words")

    assert model.requests() == []
    assert result.code == 0
    assert "THE-REASON" in result.final["result"]
    assert "the blocked words" in result.final["result"]


def test_compaction_asks_before_and_starts_the_session_anew_after(
    bench: Bench, model: Model, recorder: Recorder
) -> None:
    session = bench.run("hello").session_id
    recorder.add("SessionStart", "AFTER-COMPACT")

    bench.run("/compact about tests", "--resume", session)
    recorder.say_nothing("SessionStart")
    bench.run("go on", "--resume", session)

    before = recorder.payloads("PreCompact")[0]
    assert (before["trigger"], before["custom_instructions"]) == ("manual", "about tests")
    sources = [payload["source"] for payload in recorder.payloads("SessionStart")]
    assert sources == ["startup", "resume", "compact", "resume"]
    assert "compact_boundary" in {entry.get("subtype") for entry in bench.transcript(session)}
    assert SUMMARY in model.seen_text()
    assert "AFTER-COMPACT" in model.seen_text()


def test_clear_ends_the_session_and_starts_another(bench: Bench, recorder: Recorder) -> None:
    session = bench.run("hello").session_id

    bench.run("/clear", "--resume", session)

    (ended,) = [one for one in recorder.payloads("SessionEnd") if one["reason"] == "clear"]
    (begun,) = [one for one in recorder.payloads("SessionStart") if one["source"] == "clear"]
    assert ended["session_id"] == session
    assert begun["session_id"] != session


def test_the_interactive_program_shows_what_session_start_says_answers_and_ends_with_exit(
    bench: Bench, model: Model, recorder: Recorder
) -> None:
    recorder.reply("SessionStart", systemMessage="MESSAGE-MARK")
    model.will(say("TUI-ANSWER"))
    tui = bench.tui()
    tui.wait("MESSAGE-MARK")

    tui.send("hello tui")
    tui.wait("TUI-ANSWER")
    tui.send("/exit")
    tui.wait_for_end()

    assert recorder.wait_for("SessionEnd")["reason"] == "prompt_input_exit"
