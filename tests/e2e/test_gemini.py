"""With the real Gemini CLI, work goes on from session to session as with Claude Code."""

import json

from e2e.faces import list_work
from e2e.gemini import GeminiBench
from e2e.turns import bash, say, write
from e2e.user import LAST_WORDS, TASK, User, edits
from e2e.waiting import until

# What leftoff knows about the model that the tests name.
WINDOW = 1_048_576


def test_a_context_that_fills_up_is_compressed_and_then_blocked(
    gemini: GeminiBench, gemini_user: User
) -> None:
    gemini.model.will(
        edits(gemini),
        say(LAST_WORDS, tokens=WINDOW * 72 // 100),
        say("Renamed.", tokens=1000),
        say("Documented.", tokens=WINDOW * 90 // 100),
    )
    tui = gemini.tui()
    tui.send(TASK)
    gemini_user.reply_is_ready("context at 72.00%")
    assert gemini_user.saved("context")

    tui.send("and rename the module")
    assert "leftoff: context at 72.00%" in gemini.model.wait_for("and rename the module").news
    tui.wait("Context compressed from 72%")
    gemini_user.reply_is_ready("this session was compacted")
    gemini_user.ok("config", "set", "prompts", "block")
    gemini_user.ok("config", "set", "capture_at", "85")

    tui.send("and document it")
    text = gemini.model.wait_for("and document it").news
    assert TASK in text
    gemini_user.reply_is_ready("context at 90.00%")
    until(gemini_user.asks_before_prompts, "the next prompt to be asked about")

    tui.send("and release it")
    tui.wait("leftoff prompts replay")
    assert "and release it" not in gemini.model.requests()[-1].news
    gemini_user.settled()
    (kept,) = json.loads(gemini_user.ok("prompts", "list", "--json"))
    assert kept["text"] == "and release it"

    # Gemini CLI often ends without running its hooks if its terminal is closed. The work is saved.
    tui.close_pane()
    (saved,) = gemini_user.saved()
    assert TASK in (saved["intent"], saved.get("summary"))


def test_what_was_there_comes_back_byte_for_byte(gemini: GeminiBench, gemini_user: User) -> None:
    gemini_user.ok("uninstall", "--yes")
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    theirs = {**json.loads(gemini.settings.read_bytes()), "hooks": {"AfterAgent": [hook]}}
    before = json.dumps(theirs, indent=3).encode() + b"\r\n"
    gemini.settings.write_bytes(before)

    gemini_user.installs()
    assert "ok      gemini: 6 hooks" in gemini_user.ok("doctor")
    gemini_user.ok("config", "set", "safety", "on")
    gemini.model.will(edits(gemini), bash("git reset --hard"), say("Then not."))
    gemini.run(TASK)
    assert "discards uncommitted changes" in gemini.model.requests()[-1].news
    assert gemini_user.saved("session-end")
    gemini_user.ok("uninstall", "--yes")

    assert gemini.settings.read_bytes() == before


def test_the_typed_command_joins_the_thread_and_its_work_is_saved(
    gemini: GeminiBench, gemini_user: User
) -> None:
    gemini.model.will(edits(gemini), say(LAST_WORDS))
    gemini.run(TASK)
    gemini_user.settled()
    words = "Next I will run the tests."
    gemini.model.will(write(gemini.repo.folder / "test_retry.py", "1\n"), say(words))
    tui = gemini.tui()

    tui.send("/leftoff:continue")
    tui.wait(words)
    tui.send("/quit")
    tui.wait_for_end()

    assert [(row.task, row.next) for row in list_work(gemini_user)] == [(TASK, "Run the tests.")]


def test_work_that_is_handed_over_is_in_the_first_request_of_the_interactive_program(
    gemini: GeminiBench, gemini_user: User
) -> None:
    gemini.put_on_path()
    gemini_user.ok("save", "retry", "--summary", TASK, "--next", "Write tests/test_retry.py")
    gemini.model.will(say(LAST_WORDS))
    tui = gemini.terminal()

    tui.run("leftoff", "resume", "retry", "--in", "gemini")
    tui.wait(LAST_WORDS)

    asked = gemini.model.requests()[0].news
    assert "leftoff: the user handed this work over to this session." in asked
    assert "Write tests/test_retry.py" in asked
    # The user sees an ordinary session.
    assert "handed this work over" not in tui.screen()
