"""After a compaction the session still knows what it was doing."""

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import SUMMARY, bash, say
from e2e.user import LAST_WORDS, NEXT, TASK, TOOLS, User


def test_compaction_saves_a_checkpoint_first(bench: Bench, user: User) -> None:
    session = user.works(TASK, say("Thinking")).session_id

    bench.run("/compact", "--resume", session)

    triggers = {checkpoint["trigger"] for checkpoint in user.saved()}
    assert triggers & {"precompact", "session-end"}
    assert all(one["session_id"] == session for one in user.saved())


def test_after_an_automatic_compaction_the_next_request_carries_the_next_action(
    bench: Bench, model: Model, user: User
) -> None:
    short_turns = [bash(f"echo {number}") for number in range(5)]
    words = "Now I will wire the retry into client.py."
    model.will(*short_turns, bash("echo hot", words, tokens=95_000), say("end"))

    bench.run(TASK, *TOOLS, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")

    seen = model.seen_text()
    assert SUMMARY in seen
    assert TASK in seen
    assert words in seen
    assert user.saved()


def test_in_the_interactive_program_the_request_after_compact_carries_the_next_action(
    bench: Bench, model: Model, user: User
) -> None:
    model.will(say("Looking at it."), say(LAST_WORDS))
    tui = bench.tui()
    tui.send(TASK)
    tui.wait_for_turns(1)
    tui.send("And the tests?")
    tui.wait_for_turns(2)
    user.settled()

    tui.send("/compact")
    tui.wait("Compacted")
    tui.send("go on")

    seen = model.wait_for("go on").text
    assert SUMMARY in seen
    assert NEXT in seen
    assert user.saved("precompact")
