"""When the context is nearly full, nothing that the user types is lost."""

import json

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import SUMMARY, say
from e2e.user import LAST_WORDS, TASK, User, edits
from e2e.waiting import LONG_PAUSE, until

# Of a window of a million tokens, and below where the program compacts automatically.
FULL = 955_000


def test_block_mode_keeps_the_prompt_from_the_model_and_on_disk_and_lets_compact_pass(
    bench: Bench, model: Model, user: User
) -> None:
    user.ok("config", "set", "prompts", "block")
    model.will(say("Looking at it."), say(LAST_WORDS, tokens=FULL))
    tui = bench.tui()
    tui.send(TASK)
    tui.wait_for_turns(1)
    tui.send("And the tests?")
    user.reply_is_ready()

    tui.send("and rename the module")
    tui.wait("leftoff prompts replay")

    assert len(model.requests()) == 2
    # The task itself may have been settled late, and kept until its answer is settled too.
    user.settled()
    (kept,) = json.loads(user.ok("prompts", "list", "--json"))
    assert kept["text"] == "and rename the module"

    # Claude Code puts the words back into the box.
    until(lambda: tui.typed() == kept["text"], "the words in the box", pause=LONG_PAUSE)
    tui.keys("C-u")
    tui.send("/compact")
    tui.wait("Compacted")

    assert model.requests("compact")
    user.settled()
    tui.send("go on")
    assert SUMMARY in model.wait_for("go on").text


def test_without_block_mode_the_prompt_is_answered_and_the_state_is_saved(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(say(LAST_WORDS, tokens=FULL), say("Renamed."))
    tui = bench.tui()
    tui.send(TASK)
    user.reply_is_ready()

    tui.send("and rename the module")
    tui.wait_for_turns(2)

    assert "leftoff: context at 95.50%" in model.wait_for("and rename the module").news
    assert user.saved("context")


def test_block_mode_keeps_the_first_prompt_of_a_resumed_session_too(
    bench: Bench, model: Model, user: User
) -> None:
    user.ok("config", "set", "prompts", "block")
    session = user.works(TASK, edits(bench), say(LAST_WORDS, tokens=FULL)).session_id
    before = len(model.requests())

    bench.run("and rename the module", "--resume", session)

    assert len(model.requests()) == before
    user.settled()
    (kept,) = json.loads(user.ok("prompts", "list", "--json"))
    assert kept["text"] == "and rename the module"
