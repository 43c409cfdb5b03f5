"""With the real Codex, work goes on from session to session as with Claude Code."""

import signal
from collections.abc import Callable

from e2e.codex import WINDOW, CodexBench
from e2e.tui import Tui
from e2e.turns import SUMMARY, bash, say, write
from e2e.user import LAST_WORDS, NEXT, TASK, User, edits
from e2e.waiting import until

# Codex counts the window that is left for the conversation: 95 % of the configured one.
USABLE = WINDOW * 95 // 100
# Codex compacts automatically at 90 % of the configured one, before the ladder's highest steps.
NEARLY_FULL = USABLE * 90 // 100


def test_a_session_that_still_runs_is_not_taken_for_crashed(
    codex: CodexBench, codex_user: User
) -> None:
    codex.model.will(edits(codex), say("slow", stall=True))
    run = codex.start(TASK)
    until(lambda: not codex.model.turns_left, "the last turn")

    codex.run("hello")

    assert codex_user.saved("recovered") == []
    codex.model.release()
    assert run.wait().code == 0


def _quit(tui: Tui) -> None:
    tui.send("/quit")
    tui.wait_for_end()


ENDS: dict[str, Callable[[Tui], None]] = {
    "Add a retry": _quit,
    "Document the flags": lambda tui: tui.signal(signal.SIGTERM),
    "Rename the module": lambda tui: tui.signal(signal.SIGHUP),
    "Sort the imports": Tui.close_pane,
    "Test the parser": Tui.kill,
}


def test_every_end_of_the_interactive_program_leaves_the_work_for_the_next(
    codex: CodexBench, codex_user: User
) -> None:
    for task, end in ENDS.items():
        path = codex.repo.folder / f"{task[:3]}.py"
        codex.model.will(write(path, "DONE = 0\n"), say(LAST_WORDS))
        tui = codex.tui()
        tui.send(task)
        tui.wait_for_turns(1)
        end(tui)
        codex_user.settled()

    codex.run("hello")

    news = codex.model.requests()[-1].news
    assert [*ENDS][-1] in news
    assert NEXT in news
    assert {each["intent"] for each in codex_user.saved()} == {*ENDS}


def test_after_an_automatic_compaction_the_same_turn_goes_on_with_its_state(
    codex: CodexBench, codex_user: User
) -> None:
    words = "Now I will wire the retry into client.py."
    hot = bash("echo hot", words, tokens=USABLE - 1000)
    codex.model.will(edits(codex), hot, say("end"))

    codex.run(TASK)

    seen = codex.model.seen_text()
    assert SUMMARY in seen
    assert "leftoff: this session was compacted." in seen
    assert words in seen
    assert codex_user.saved()


def test_an_automatic_compaction_can_be_blocked(codex: CodexBench, codex_user: User) -> None:
    codex_user.ok("config", "set", "compaction", "block")
    codex.model.will(edits(codex), bash("echo hot", tokens=USABLE - 1000), say("end"))

    codex.run(TASK)

    assert codex.model.requests("compact") == []
    assert codex_user.saved()
