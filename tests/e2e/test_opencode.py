"""With the real opencode, work goes on from session to session as with Claude Code."""

import json
from typing import Any

from e2e.opencode import WINDOW, OpencodeBench
from e2e.turns import SUMMARY, Turn, bash, call, say, write
from e2e.user import LAST_WORDS, TASK, User, edits
from e2e.waiting import until


def test_a_blocked_prompt_is_kept(opencode: OpencodeBench, opencode_user: User) -> None:
    opencode_user.ok("config", "set", "prompts", "block")
    opencode_user.ok("config", "set", "capture_at", "80")
    opencode_user.ok("save", "exporter", "--task", "Export orders", "--next", "Write the header")
    opencode.model.will(edits(opencode), say(LAST_WORDS, tokens=170_000), say("Renamed."))
    tui = opencode.tui()
    tui.send(TASK)
    tui.wait('leftoff: "exporter" was left off')
    until(opencode_user.asks_before_prompts, "the next prompt to be asked about")
    before = len(opencode.model.requests())

    tui.send("and rename the module")
    # After opencode's own error.
    tui.wait("The prompt was not sent")

    def list_kept() -> list[dict[str, Any]]:
        kept: list[dict[str, Any]] = json.loads(opencode_user.ok("prompts", "list", "--json"))
        return kept

    until(list_kept, "the prompt in the queue")
    assert len(opencode.model.requests()) == before
    (kept,) = json.loads(opencode_user.ok("prompts", "list", "--json"))
    assert kept["text"] == "and rename the module"

    # A closed terminal ends the session.
    assert len(opencode_user.live_sessions()) == 1
    tui.close_pane()
    until(lambda: not opencode_user.live_sessions(), "the end of the session")
    saved, _ = opencode_user.saved()
    assert saved["intent"] == TASK


def test_a_goodbye_is_saved_at_once(opencode: OpencodeBench, opencode_user: User) -> None:
    opencode.model.will(edits(opencode), say(LAST_WORDS), say("Good night."))
    tui = opencode.tui()
    tui.send(TASK)
    tui.wait_for_turns(1)
    tui.send("goodnight")
    tui.wait_for_turns(2)

    (saved,) = opencode_user.saved("close")
    assert TASK in (saved["intent"], saved.get("summary"))

    before = len(opencode_user.live_sessions())
    tui.send("/exit")
    tui.wait_for_end()
    opencode_user.settled()
    assert (before, len(opencode_user.live_sessions())) == (1, 0)


def test_after_a_compaction_the_next_prompt_brings_the_state_back(
    opencode: OpencodeBench, opencode_user: User
) -> None:
    full = say(LAST_WORDS, tokens=WINDOW - 1000)
    opencode.model.will(edits(opencode), full, say("It goes on."), say("Done."))
    opencode.run(TASK)
    opencode_user.settled()
    assert opencode.model.requests("compact")
    assert opencode_user.saved()

    opencode.run("now the tests", "--session", opencode.find_new_session(()))

    seen = opencode.model.wait_for("now the tests")
    assert SUMMARY in seen.text
    assert "leftoff: this session was compacted." in seen.news
    assert TASK in seen.news


def test_a_limit_for_which_opencode_waits_is_named(
    opencode: OpencodeBench, opencode_user: User
) -> None:
    problem = {"error": {"message": "Rate limit exceeded.", "type": "rate_limit_error"}}
    refused = Turn(status=429, problem=problem, headers={"retry-after": "7200"}, lasts=True)
    opencode.model.will(edits(opencode), refused)
    tui = opencode.tui()
    tui.send(TASK)
    tui.wait("Rate limit exceeded. [retrying in")
    # The hook runs then, and the user does not wait for two hours.
    until(opencode_user.limits, "the limit in the session's record")
    tui.close_pane()
    opencode.model.will(say("Hello."))

    opencode.run("hello")

    news = opencode.model.requests()[-1].news
    assert "It stopped because opencode reached a rate limit, which resets at" in news


def test_slash_commands_reach_the_model_and_uninstall_leaves_no_trace(
    opencode: OpencodeBench, opencode_user: User
) -> None:
    plugins = opencode.config / "plugins"
    assert [path.name for path in plugins.iterdir()] == ["leftoff.js"]
    assert "opencode" in opencode_user.ok("doctor")
    opencode_user.ok("save", "exporter", "--task", TASK, "--next", "Write the header")
    opencode.model.will(edits(opencode), say("I see."))
    opencode.run("exporter", "--command", "leftoff-continue")
    asked = opencode.model.wait_for("/leftoff:continue exporter\n").news
    assert "leftoff resume NAME" in asked
    # The command joined the thread, and is not its task.
    (saved,) = opencode_user.saved("session-end")
    assert (saved["name"], saved["summary"], saved.get("requests", [])) == ("exporter", TASK, [])

    opencode_user.ok("uninstall", "--yes")

    assert not plugins.exists()
    assert not (opencode.config / "command").exists()


def test_the_briefing_of_a_killed_session_says_what_happened(
    opencode: OpencodeBench, opencode_user: User
) -> None:
    web = opencode.repo.folder / "packages" / "web"
    web.mkdir(parents=True)
    check = web / "check.sh"
    check.write_text("echo 'src/form.ts:3:1: error: no total'; exit 2\n", encoding="utf-8")
    todos = [
        {"id": "1", "content": "Add the field", "status": "in_progress", "priority": "high"},
        {"id": "2", "content": "Write the tests", "status": "pending", "priority": "low"},
    ]
    helper = {
        "description": "Find the forms",
        "prompt": "List all forms.",
        "subagent_type": "general",
    }
    opencode.model.will(
        call("todowrite", "I'll plan first.", given={"todos": todos}),
        call("task", given=helper),
        say("There is one form, in src/form.ts.", when="List all forms."),
        write(web / "src" / "form.ts", "export {}\n"),
        bash(f"cd {web} && sh check.sh", "The check shows what is missing."),
        say("I'll add the total to the form now.", stall=True),
    )
    session = opencode.start(f"{TASK}. Never touch packages/legacy.")
    opencode.model.wait_for("no total")
    until(lambda: opencode.count_results(opencode.sessions()[0]) >= 4, "the results")
    session.kill()
    opencode_user.settled()

    opencode_user.ok("recover")
    text = opencode_user.ok("resume", "--accept")

    assert f"Task: {TASK}. Never touch packages/legacy." in text
    assert "fail (exit 2): src/form.ts:3:1: error: no total" in text
    assert "- [>] Add the field\n- [ ] Write the tests" in text
    assert "- packages/web/src/form.ts (edited" in text
    assert "Find the forms: There is one form, in src/form.ts." in text
