"""A user of an agent who has installed leftoff, and what this user can see."""

import json
from pathlib import Path
from typing import Any

from e2e import past
from e2e.bench import AgentBench, Result
from e2e.turns import Turn, say, write
from e2e.waiting import until

TASK = "Add a retry to the HTTP client"
LAST_WORDS = "The retry is in retry.py. Next I will add tests/test_retry.py."
NEXT = "Add tests/test_retry.py."
TOOLS = ("--allowedTools", "Write,Bash")
# What a user looks at some seconds after a session, not in the same instant.
_LOOKS = {"list", "log", "resume", "sessions", "show", "snapshot", "status"}


def edits(bench: AgentBench) -> Turn:
    """Make a turn that edits a file: only such work is saved without being asked for."""
    return write(bench.repo.folder / "retry.py", "RETRIES = 3\n")


class User:
    """The user of a bench."""

    def __init__(self, bench: AgentBench) -> None:
        self.bench = bench

    def installs(self) -> None:
        """Do what a user does once."""
        self.ok("init", "--agent", self.bench.agent, "--yes")

    def follows(self, *profiles: str, cwd: Path | None = None) -> None:
        """Wire leftoff for these systems: keep the files of all, adopt the last one's habits."""
        for profile in profiles:
            self.ok("init", "--agent", "claude", "--profile", profile, "--yes", cwd=cwd)
        if len(profiles) > 1:
            self.ok("config", "set", "mirror", ",".join(profiles), "--project", cwd=cwd)

    def leftoff(self, *arguments: str, cwd: Path | None = None) -> Result:
        """Run leftoff as the user would; looks wait until all events are settled."""
        if arguments[0] in _LOOKS:
            self.settled()
        return self.bench.program("leftoff", *arguments, cwd=cwd)

    def ok(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run leftoff, which must do what it is asked, and return what it prints."""
        result = self.leftoff(*arguments, cwd=cwd)
        assert result.code == 0, f"leftoff {' '.join(arguments)}: {result.err or result.out}"
        return result.out

    def works(
        self,
        task: str = TASK,
        *turns: Turn,
        cwd: Path | None = None,
        options: tuple[str, ...] = (),
    ) -> Result:
        """Give a task to a session, which ends on its own with some of it done."""
        folder = cwd or self.bench.repo.folder
        done = turns or (write(folder / "retry.py", "RETRIES = 3\n"), say(LAST_WORDS))
        self.bench.model.will(*done)
        result = self.bench.run(task, *TOOLS, *options, cwd=cwd)
        self.settled()
        return result

    def crashes(
        self, task: str, *turns: Turn, cwd: Path | None = None, when: Path | None = None
    ) -> Result:
        """Give a task to a session, and kill it in its last turn, once the file `when` is there.

        What it did before is on disk by then: Claude Code writes its transcript with a delay.
        """
        model = self.bench.model
        model.will(*turns)
        run = self.bench.start(task, *TOOLS, cwd=cwd)
        until(lambda: not model.turns_left, "the last turn")
        session = model.requests()[-1].session_id
        called = sum(len(turn.tools) for turn in turns[:-1])
        until(lambda: self.bench.count_results(session) >= called, "the results in the transcript")
        if when is not None:
            until(when.exists, f"the file {when.name}")
        result = run.kill()
        self.settled()
        return result

    def lets_days_pass(self, days: int) -> None:
        """Come back some days later; no session may be running."""
        self.settled()
        past.set_back(self.bench, days)

    def settled(self) -> None:
        """Wait until every event is turned into state."""
        state = self.bench.state

        def is_settled() -> bool:
            return not any(state.glob("settling.*")) and not self._spool()

        until(is_settled, lambda: f"settle; still there: {self._spool()}")

    def reply_is_ready(self, words: str = "") -> None:
        """Wait until a reply to the next prompt, with these words, is where the letterbox looks."""
        replies = self.bench.state / "ready"

        def waiting() -> list[Path]:
            return [
                path
                for path in replies.rglob(f"{self.bench.agent}.UserPromptSubmit.*")
                if path.is_file() and words in path.read_text(encoding="utf-8")
            ]

        until(waiting, f"a reply that lies ready, with {words!r}")

    def asks_before_prompts(self) -> bool:
        """Say whether the letterbox asks leftoff about the next prompt, as it may be blocked."""
        name = f"{self.bench.agent}.UserPromptSubmit.*.ask"
        return any((self.bench.state / "ready").rglob(name))

    def limits(self) -> list[str]:
        """Return the usage limits that hooks have reported, by session."""
        records = (self.bench.repo.folder / ".git" / "leftoff" / "sessions").glob("*.json")
        found = [json.loads(path.read_bytes()).get("limit", "") for path in records]
        return [limit for limit in found if limit]

    def live_sessions(self) -> list[Path]:
        """Return the sessions that have not ended, as far as leftoff knows."""
        return [*(self.bench.state / "live").glob("*.json")]

    def _spool(self) -> list[str]:
        spool = self.bench.state / "spool"
        return [path.name for path in spool.iterdir()] if spool.is_dir() else []

    def saved(self, trigger: str | None = None, *, cwd: Path | None = None) -> list[dict[str, Any]]:
        """Return the checkpoints that a trigger has made, newest first; or all."""
        self.settled()
        rows = json.loads(self.ok("list", "--json", cwd=cwd))
        wanted = [row for row in rows if trigger in (None, row["trigger"])]
        return [json.loads(self.ok("show", row["id"], "--json", cwd=cwd)) for row in wanted]

    def trouble(self) -> list[str]:
        """Return what went wrong in hooks, by leftoff's own account and by the agent's."""
        return [*self.own_trouble(), *self.bench.hook_errors()]

    def own_trouble(self) -> list[str]:
        """Return what went wrong in hooks by leftoff's own account."""
        state, found = self.bench.state, []
        if (state / "trouble.jsonl").exists():
            found.append((state / "trouble.jsonl").read_text(encoding="utf-8"))
        if (state / "poison").exists():
            found += [str(path) for path in (state / "poison").iterdir()]
        return found
