"""With each real agent, work goes on from session to session as with Claude Code."""

import json
import signal

import pytest

from e2e.bench import AgentBench, wait_for_file
from e2e.stories import LIMITS, SLOW, WAYS, Ways, use_another_agent
from e2e.turns import Turn, bash, say, write
from e2e.user import LAST_WORDS, NEXT, TASK, TOOLS, User, edits
from e2e.waiting import LONG_PAUSE, until

SIGNALS = {
    "Add a retry": signal.SIGINT,
    "Document the flags": signal.SIGTERM,
    "Rename the module": signal.SIGHUP,
}


@pytest.fixture(params=[*WAYS])
def bench(request: pytest.FixtureRequest) -> AgentBench:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, AgentBench)
    return found


@pytest.fixture
def ways(bench: AgentBench) -> Ways:
    return WAYS[bench.agent]


@pytest.fixture
def user(bench: AgentBench, request: pytest.FixtureRequest) -> User:
    found = request.getfixturevalue(f"{bench.agent}_user")
    assert isinstance(found, User)
    return found


COMPACTS = [agent for agent, ways in WAYS.items() if ways.compaction]


def test_the_next_session_is_offered_the_work_and_goes_on_with_it(
    bench: AgentBench, user: User, ways: Ways
) -> None:
    bench.model.will(edits(bench), say(LAST_WORDS))
    bench.run(TASK)
    (saved,) = user.saved("session-end")
    first = bench.find_new_session(set())
    assert (saved["agent"], saved["session_id"]) == (bench.agent, first)
    user.ok("config", "set", "safety", "on")
    save = f"{ways.leftoff.format(root=bench.root)} save --next 'Write the test'"
    below = bench.repo.folder / "below"
    below.mkdir()
    before = len(bench.model.requests())
    bench.model.will(*ways.takes_up, bash("git reset --hard"), bash(save), say("Saved."))
    # A real model thinks for longer than leftoff needs to process an event.
    bench.model.watch = lambda _: user.settled()

    bench.run(ways.go_on, cwd=below if ways.works_below else None)

    asked, *later = bench.model.requests()[before:]
    offer = asked.news
    for words in ("leftoff: work was left off here.", TASK, NEXT):
        assert words in offer
    assert asked.text.count(ways.skill) == 1
    assert any("discards uncommitted changes" in each.news for each in later)
    # The go-ahead joined the thread, and a save in the shell is a revision of it.
    (thread,) = user.saved()
    second = bench.find_new_session({first})
    assert (thread["agent"], thread["session_id"]) == (bench.agent, second)
    assert thread["next_action"]["text"] == "Write the test"
    assert (thread["intent"], thread.get("requests", [])) == (TASK, [])
    log = json.loads(user.ok("log", thread["name"], "--json"))
    assert {each["session_id"] for each in log["revisions"]} == {first, second}
    assert "resumed" in [event["action"] for event in log["events"]]


def count_new_results(bench: AgentBench, before: set[str]) -> int:
    """Count the results of tools in the sessions that have begun since."""
    return sum(bench.count_results(session) for session in {*bench.sessions()} - before)


def test_killed_in_a_call_the_next_session_is_told_all_that_was_known(
    bench: AgentBench, user: User, ways: Ways
) -> None:
    bench.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    bench.model.will(
        edits(bench),
        ways.plan,
        bash("sh no_such_check.sh", tokens=ways.window // 2),
        # Whether the transcript has the use of this turn before the kill is a matter of luck.
        bash("sh slow_check.sh", tokens=ways.window // 2),
    )
    run = bench.start(TASK)
    running = wait_for_file(bench.repo.folder / "running")
    until(lambda: count_new_results(bench, set()) >= 3, "the results in the transcript")

    run.kill()
    running.unlink()
    bench.run("hello")

    news = bench.model.requests()[-1].news
    for words in (TASK, "retry.py", "sh no_such_check.sh", "sh slow_check.sh", "branch main"):
        assert words in news
    (recovered,) = user.saved("recovered")
    assert recovered["intent"] == TASK
    assert recovered["in_flight"]["what"] == "sh slow_check.sh"
    assert "retry.py" in recovered["files_modified"]
    assert recovered["last_failure"]["command"] == "sh no_such_check.sh"
    assert recovered["branch"] == "main"
    assert recovered["context"]["percent"] == pytest.approx(50, abs=1)
    # What Copilot CLI adds to the output is not part of it.
    assert "shellId" not in json.dumps(recovered)


def test_a_run_that_a_signal_ends_is_saved(bench: AgentBench, user: User, ways: Ways) -> None:
    for task, number in SIGNALS.items():
        path = bench.repo.folder / f"{number.name}.py"
        bench.model.will(write(path, "DONE = 0\n"), say("slow", stall=True))
        before = {*bench.sessions()}
        run = bench.start(task)
        until(lambda: not bench.model.turns_left, "the last turn")
        # Copilot CLI writes its transcript behind its requests, so it may come after the last one.
        until(lambda before=before: count_new_results(bench, before), "the result")  # type: ignore[misc]
        run.send(number)
        user.settled()
    if not ways.says_end:
        # Then the next session notices.
        bench.run("hello")

    ended = {each["intent"]: each for each in user.saved()}
    assert {*ended} == {*SIGNALS}
    for task, number in SIGNALS.items():
        assert ended[task]["trigger"] in (
            ["session-end"] if ways.says_end else ["session-end", "recovered"]
        )
        assert ended[task]["files_modified"] == [f"{number.name}.py"]


@pytest.mark.parametrize("is_busy", [False, True])
def test_an_interactive_program_that_is_hung_up_leaves_its_work(
    bench: AgentBench, user: User, ways: Ways, *, is_busy: bool
) -> None:
    bench.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    running = bench.repo.folder / "running"
    bench.model.will(edits(bench), bash("sh slow_check.sh") if is_busy else say(LAST_WORDS))
    tui = bench.tui()
    tui.send(TASK)
    if is_busy:
        wait_for_file(running)
        until(lambda: count_new_results(bench, set()), "the result of the edit")
    else:
        tui.wait(LAST_WORDS)
    user.settled()

    # The program alone: the terminal and what runs in the program are not told.
    tui.signal(signal.SIGHUP)
    running.unlink(missing_ok=True)
    bench.run("hello")

    news = bench.model.requests()[-1].news
    assert TASK in news
    assert ("sh slow_check.sh" if is_busy else NEXT) in news
    (saved,) = user.saved()
    assert saved["trigger"] == ("session-end" if ways.says_end else "recovered")
    assert saved["files_modified"] == ["retry.py"]


@pytest.mark.parametrize("bench", COMPACTS, indirect=True)
def test_a_conversation_that_is_compacted_gets_its_state_back(
    bench: AgentBench, user: User, ways: Ways
) -> None:
    compaction = ways.compaction
    assert compaction is not None
    more = bash("echo more >> retry.py")
    bench.model.will(edits(bench), say(LAST_WORDS), more, say("It goes on."), say("Good night."))
    tui = bench.tui()
    tui.send(TASK)
    tui.wait(LAST_WORDS)
    user.settled()
    tui.send(compaction.command)
    tui.wait(compaction.shows)
    if compaction.prepares:
        user.reply_is_ready(compaction.prepares)
    until(lambda: user.saved("precompact"), "the save", pause=LONG_PAUSE)

    tui.send("go on")
    tui.wait("It goes on.")
    request = bench.model.wait_for("go on")
    for words in (TASK, NEXT, compaction.summary):
        assert words in request.text
    if compaction.prepares:
        assert NEXT in request.news

    tui.send("goodnight")
    tui.wait("Good night.")
    until(lambda: user.saved("close"), "the save", pause=LONG_PAUSE)
    tui.send("/quit")
    tui.wait_for_end()
    # Gemini CLI says three times that it ends.
    (saved,) = user.saved()
    assert TASK in (saved["intent"], saved.get("summary"))


# Gemini CLI compresses long before, and opencode does not show why it blocks: each has a test.
@pytest.mark.parametrize("bench", ["codex", "copilot"], indirect=True)
def test_a_context_that_fills_up_is_reported_and_then_blocked(
    bench: AgentBench, user: User, ways: Ways
) -> None:
    user.ok("config", "set", "prompts", "block")
    user.ok("config", "set", "capture_at", "85")
    bench.model.will(
        edits(bench),
        # Copilot CLI compacts beside the conversation from 80 % on.
        say(LAST_WORDS, tokens=ways.window * 72 // 100),
        say("Renamed.", tokens=ways.window * 90 // 100),
    )
    tui = bench.tui()
    tui.send(TASK)
    user.reply_is_ready("context at 72.00%")
    assert user.saved("context")

    tui.send("and rename the module")
    tui.wait("Renamed.")
    assert "leftoff: context at 72.00%" in bench.model.wait_for("and rename the module").news
    user.reply_is_ready("context at 90.00%")
    until(user.asks_before_prompts, "the next prompt to be asked about")
    before = len(bench.model.requests())

    tui.send("and release it")
    tui.wait("leftoff prompts replay")
    assert len(bench.model.requests()) == before
    user.settled()
    (kept,) = json.loads(user.ok("prompts", "list", "--json"))
    assert kept["text"] == "and release it"

    # Codex has a test of all its ends.
    if bench.agent == "copilot":
        tui.close_pane()
        until(lambda: not user.live_sessions(), "the end of the session")
        (saved,) = user.saved()
        assert TASK in (saved["intent"], saved.get("summary"))
        # It has the answer that leftoff gave in place of the model.
        assert "leftoff" not in saved["next_action"]["text"]
        assert json.loads(user.ok("prompts", "list", "--json")) == [kept]


@pytest.mark.parametrize("bench", LIMITS, indirect=True)
def test_a_usage_limit_is_named_together_with_another_agent(bench: AgentBench, user: User) -> None:
    limit, other = LIMITS[bench.agent], use_another_agent(bench)
    refused = Turn(status=429, problem=limit.problem, headers=limit.headers, lasts=True)
    bench.model.will(edits(bench), refused)
    bench.run(TASK, *(TOOLS if bench.agent == "claude" else ()))
    (saved,) = user.saved()
    bench.model.will()

    bench.run("hello")

    news = bench.model.requests()[-1].news
    assert f"It stopped because {limit.words}" in news
    assert f"`leftoff resume {saved['name']} --in {other}` continues it in another agent" in news
