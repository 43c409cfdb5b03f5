"""One piece of work goes through five real agents in turn, and nothing of it is lost."""

import contextlib
import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.bench import AgentBench, wait_for_file
from e2e.claude import Bench
from e2e.codex import CodexBench
from e2e.copilot import CopilotBench
from e2e.gemini import GeminiBench
from e2e.opencode import WINDOW, OpencodeBench
from e2e.stories import LIMITS, SLOW, WAYS
from e2e.turns import Turn, bash, say, write
from e2e.user import TASK, TOOLS, User
from e2e.waiting import until

FAILED = "sh no_such_check.sh"
NAME = "add-retry-http-client"
# Why a revision was saved, in the words of `leftoff log`.
ENDED = "saved when the session ended"
RECOVERED = "recovered from an unsaved session"
COMPACTED = "saved before a compaction"
ALLOWED = {"permissions": {"allow": ["Write", "Edit"]}}


class Relay:
    """One user with five agents, one home and one repository."""

    def __init__(self, root: Path, find: Callable[[str], Path]) -> None:
        tmux = find("tmux")
        self.claude = Bench(root, program=find("claude"), tmux=tmux)
        self.codex = CodexBench(root, program=find("codex"), tmux=tmux)
        self.gemini = GeminiBench(root, program=find("gemini"), tmux=tmux)
        self.opencode = OpencodeBench(root, program=find("opencode"), tmux=tmux)
        self.copilot = CopilotBench(root, program=find("copilot"), tmux=tmux)
        self.folder = self.claude.repo.folder
        self.files: list[str] = []

    @property
    def all(self) -> tuple[AgentBench, ...]:
        return (self.claude, self.codex, self.gemini, self.opencode, self.copilot)

    def install(self) -> None:
        """Let Claude Code write files without asking, and wire and trust all agents."""
        settings = self.claude.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(ALLOWED), encoding="utf-8")
        for bench in self.all:
            bench.put_on_path()
        User(self.claude).ok("init", "--yes")
        self.codex.trust_hooks()

    def will(self, bench: AgentBench, path: str, words: str) -> None:
        """Script a turn that writes a file and says what comes next."""
        self.files.append(path)
        bench.model.will(write(self.folder / path, "# Work\n"), say(words))

    def hand_over(self, bench: AgentBench, *, code: int = 0) -> str:
        """Hand the thread over to an agent; return what its model was shown first."""
        before = len(bench.model.requests())
        done = User(bench).leftoff("resume", NAME, "--in", bench.agent, "--headless")
        assert done.code == code, done.err
        User(bench).settled()
        return bench.model.requests()[before].news


@pytest.fixture
def relay(folder: Path, find_program: Callable[[str], Path]) -> Iterator[Relay]:
    relay = Relay(folder, find_program)
    with contextlib.ExitStack() as stack:
        for bench in relay.all:
            stack.enter_context(bench.model)
        relay.install()
        yield relay
        for bench in relay.all:
            bench.close()
        user = User(relay.claude)
        user.settled()
        assert user.own_trouble() == []


STATED = "Document the timeouts in retry.md"


def test_one_thread_survives_every_end(relay: Relay) -> None:
    """One agent is hung up, one killed, one states what is next, one compacts, one is refused."""
    relay.claude.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    user = User(relay.claude)
    _hang_up_claude(relay)
    user.settled()

    # Codex is killed in a call.
    relay.codex.model.will(
        write(relay.folder / "client.py", "import retry\n"),
        bash("sh slow_check.sh", "client.py uses it. Now the slow check."),
    )
    run = relay.codex.begin("leftoff", "resume", NAME, "--in", "codex", "--headless")
    running = wait_for_file(relay.folder / "running")
    _check(relay.codex.model.requests()[0].news, "Use it in client.py", relay.files)
    until(lambda: relay.codex.count_results(relay.codex.sessions()[-1]), "the result")
    run.kill()
    running.unlink()
    relay.files.append("client.py")

    known = [*relay.files]
    relay.will(
        relay.gemini, "timeouts.py", "timeouts.py is there. Next I will write test_retry.py."
    )
    _check(relay.hand_over(relay.gemini), "sh slow_check.sh", known)

    # opencode states what comes next, and compacts its conversation on the way.
    known = [*relay.files]
    relay.files.append("test_retry.py")
    relay.opencode.model.will(
        write(relay.folder / "test_retry.py", "def test_retry(): ...\n"),
        bash(f"leftoff save {NAME} --next '{STATED}'", tokens=WINDOW - 1000),
        say("Half of it is tested."),
    )
    _check(relay.hand_over(relay.opencode), "Write test_retry.py", known)
    assert relay.opencode.model.requests("compact")

    # Copilot CLI is refused in the middle of its work.
    known = [*relay.files]
    relay.files.append("retry.md")
    limit = LIMITS["copilot"]
    refused = Turn(status=429, problem=limit.problem, headers=limit.headers, lasts=True)
    relay.copilot.model.will(write(relay.folder / "retry.md", "# Retry\n"), refused)
    _check(relay.hand_over(relay.copilot, code=1), STATED, known)

    known = [*relay.files]
    relay.will(relay.claude, "CHANGES.md", "CHANGES.md names it. Next I will tag the release.")
    _check(relay.hand_over(relay.claude), STATED, known)
    _check_ends(user, relay.files)


def _hang_up_claude(relay: Relay) -> None:
    """Begin the work in the interactive program, and let only the program get SIGHUP."""
    relay.files.append("retry.py")
    relay.claude.model.will(
        write(relay.folder / "retry.py", "RETRIES = 3\n"),
        bash(FAILED),
        say("The retry is in retry.py. Next I will use it in client.py."),
    )
    tui = relay.claude.tui(*TOOLS)
    tui.send(TASK)
    tui.wait_for_turns(1)
    tui.signal(signal.SIGHUP)


def _check_ends(user: User, files: list[str]) -> None:
    """Check that one thread is open, and that the log says how each session ended."""
    (thread,) = user.saved()
    assert (thread["name"], thread["intent"]) == (NAME, TASK)
    assert {*thread["files_modified"]} == {*files}
    log = json.loads(user.ok("log", NAME, "--json"))
    agents = [each["agent"] for each in reversed(log["revisions"])]
    assert [*dict.fromkeys(agents)] == ["claude", "codex", "gemini", "opencode", "copilot"]
    text = user.ok("log", NAME)
    # Without what the sessions do between: that depends on when their events are settled.
    ends = re.findall(rf"(handed over to \w+|{RECOVERED}, in codex|{ENDED}, in claude)", text)
    assert ends == [
        f"{ENDED}, in claude",
        "handed over to claude",
        "handed over to copilot",
        "handed over to opencode",
        "handed over to gemini",
        f"{RECOVERED}, in codex",
        "handed over to codex",
        f"{ENDED}, in claude",
    ], text


def _check(news: str, next_action: str, files: list[str]) -> None:
    """Check what a model is shown about the work when its session starts."""
    assert f"Task: {TASK}\n" in news
    assert re.search(rf"Next action[^\n]*{re.escape(next_action)}", news), news
    for known in (f"Last failure: `{FAILED}`", *files):
        assert known in news
    # No briefing is part of another one.
    for once in ("Task: ", "Background data", "Next action"):
        assert news.count(once) == 1, news


def test_one_thread_goes_through_five_agents(relay: Relay) -> None:
    relay.claude.repo.commit("A slow check", {"slow_check.sh": SLOW, ".gitignore": "running\n"})
    user = User(relay.claude)
    relay.files.append("retry.py")
    relay.claude.model.will(
        write(relay.folder / "retry.py", "RETRIES = 3\n"),
        bash(FAILED),
        say("The retry is in retry.py. Next I will use it in client.py."),
    )
    relay.claude.run(TASK, *TOOLS)
    user.settled()

    # Codex is offered the work, and is killed in a call.
    relay.codex.model.will(
        write(relay.folder / "client.py", "import retry\n"),
        bash("sh slow_check.sh", "client.py uses it. Now the slow check."),
    )
    before = {*relay.codex.sessions()}
    run = relay.codex.start("continue")
    running = wait_for_file(relay.folder / "running")
    _check(relay.codex.model.requests()[0].news, "client.py", relay.files)
    until(lambda: {*relay.codex.sessions()} - before, "the rollout")
    (session,) = {*relay.codex.sessions()} - before
    until(lambda: relay.codex.count_results(session), "the result in the rollout")
    run.kill()
    running.unlink()
    relay.files.append("client.py")

    # Gemini CLI gets it at once, although nobody has looked at the crash yet.
    known = [*relay.files]
    relay.will(
        relay.gemini, "timeouts.py", "timeouts.py is there. Next I will write test_retry.py."
    )
    _check(relay.hand_over(relay.gemini), "sh slow_check.sh", known)

    # opencode is offered it, and compacts its conversation on the way.
    _check_opencode(relay)

    # Copilot CLI and then Claude Code again get it by hand-over.
    known = [*relay.files]
    relay.will(relay.copilot, "retry.md", "It is in retry.md. Next I will list it in CHANGES.md.")
    _check(relay.hand_over(relay.copilot), "retry.md", known)
    known = [*relay.files]
    relay.will(relay.claude, "CHANGES.md", "CHANGES.md names it. Next I will tag the release.")
    _check(relay.hand_over(relay.claude), "CHANGES.md", known)

    # Some agents read two folders with a copy of the skill.
    for bench in relay.all[1:]:
        assert bench.model.requests()[0].text.count(WAYS[bench.agent].skill) == 1
    _check_log(user, relay.files)


def _check_opencode(relay: Relay) -> None:
    known = [*relay.files]
    relay.files.append("test_retry.py")
    relay.opencode.model.will(
        write(relay.folder / "test_retry.py", "def test_retry(): ...\n"),
        say("Half of it is tested.", tokens=WINDOW - 1000),
        say("test_retry.py is complete. Next I will document it in retry.md."),
    )
    relay.opencode.run("continue")
    User(relay.opencode).settled()
    _check(relay.opencode.model.requests()[0].news, "test_retry.py", known)
    assert relay.opencode.model.requests("compact")


def _check_log(user: User, files: list[str]) -> None:
    """Check that the log shows the whole story, and that one thread is open."""
    (thread,) = user.saved()
    assert (thread["name"], thread["intent"]) == (NAME, TASK)
    assert {*thread["files_modified"]} == {*files}
    log = json.loads(user.ok("log", NAME, "--json"))
    agents = [each["agent"] for each in reversed(log["revisions"])]
    assert [*dict.fromkeys(agents)] == ["claude", "codex", "gemini", "opencode", "copilot"]
    assert agents[-1] == "claude"
    text = user.ok("log", NAME)
    told = re.findall(r"resumed \(([^)]+)\)|((?:saved|recovered) [^,\n]+, in \w+)", text)
    story = [joined or saved for joined, saved in told]
    expected = [
        f"{ENDED}, in claude",
        "in codex",
        f"{RECOVERED}, in codex",
        "handed over to gemini",
        f"{ENDED}, in gemini",
        "in opencode",
        # Settled after the session has ended, it holds everything, and the end saves nothing.
        f"{COMPACTED}, in opencode",
        "handed over to copilot",
        f"{ENDED}, in copilot",
        "handed over to claude",
        f"{ENDED}, in claude",
    ]
    assert [each for each in reversed(story) if each in expected] == expected, text
    # A hand-over is one row.
    assert sum(each.startswith(("in ", "handed over")) for each in story) == 5, text
