"""Fire hooks of many sessions through the real letterbox at once; each event must count once."""

import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from leftoff.hooks import spool
from leftoff.torture import child_programs
from leftoff.torture.claims_ledger import Claim, text_of, tokens_in
from leftoff.torture.fake_session import LETTERBOX, Talk
from leftoff.torture.orders import Tally
from leftoff.torture.trials import Arena
from leftoff.torture.world import Bench, hook_environment, install_hooks

SESSIONS = 64
_MOST_SETTLES = 2
_PATIENCE_SECONDS = 180.0


def run(arena: Arena) -> None:
    """Fire events until the time is up."""
    if shutil.which("sh") is None:
        arena.tally.skip("the letterbox (no sh was found)")
        return
    for _ in arena.tally.rounds():
        fire_all(arena, 6 if arena.tally.task.rounds else SESSIONS)


def fire_all(arena: Arena, sessions: int) -> None:
    """Fire the events of all sessions at once, and check that each one was settled."""
    bench = arena.bench()
    install_hooks(bench.state)
    talks = [Talk(bench.project, f"session-{number}") for number in range(sessions)]
    watch = _Watch(bench.state)
    for event in ("UserPromptSubmit", "Stop", "SessionEnd"):
        running = [_fire(bench, talk, event, arena.tally) for talk in talks]
        _end_all(arena, watch, running, event)
    if not watch.until(lambda: not spool.list_letters(bench.state)):
        arena.tally.note_lost("events still wait in the spool", arena.where(bench.project))
    watch.until(lambda: not watch.settles())
    if watch.most > _MOST_SETTLES:
        what = f"{watch.most} settle processes ran at once, more than {_MOST_SETTLES}"
        arena.tally.note_broken(what, arena.where(f"{sessions} sessions"))
    arena.check(bench, f"{sessions} sessions at once")
    _check_once(arena, bench)
    arena.tally.count("acknowledged records found", bench.ledger.count())
    arena.release(bench)


def _end_all(
    arena: Arena, watch: "_Watch", running: list[child_programs.Process], event: str
) -> None:
    watch.until(lambda: all(process.poll() is not None for process in running))
    for process in running:
        process.communicate()
        if process.returncode:
            arena.tally.note_broken(f"a hook ended with {process.returncode}", arena.where(event))


def _fire(bench: Bench, talk: Talk, event: str, tally: Tally) -> child_programs.Process:
    """Fire an event as the agent does; the hook acknowledges it by ending."""
    fields: dict[str, str] = {"reason": "other"} if event == "SessionEnd" else {}
    if event == "UserPromptSubmit":
        token = bench.ledger.new_token()
        talk.write("Add a login form to app.py")
        fields["prompt"] = text_of(token)
        bench.ledger.acknowledge([Claim("prompt", token)])
    process = child_programs.start(
        ["sh", str(LETTERBOX), "claude", event],
        cwd=bench.project,
        env=hook_environment(talk.session_id),
    )
    assert process.stdin is not None  # noqa: S101 - started with pipes
    process.stdin.write(talk.payload(event, **fields))
    process.stdin.close()
    process.stdin = None
    tally.count("events")
    return process


def _check_once(arena: Arena, bench: Bench) -> None:
    """Check that no prompt was captured twice."""
    log = bench.store / "prompts.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    captured = [line for line in lines if '"captured"' in line]
    times = Counter(token for line in captured for token in tokens_in(line))
    for token, count in times.items():
        if count > 1:
            arena.tally.note_lost(f"{token} was settled {count} times", arena.where(bench.project))


class _Watch:
    """Waits, and meanwhile counts the settle processes of this user."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self.most = 0

    def until(self, is_so: Callable[[], bool]) -> bool:
        """Wait until something is true or the time is up, and return whether it is."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not is_so():
            if time.monotonic() > deadline:
                return False
            self.most = max(self.most, self.settles())
            time.sleep(0.005)
        return True

    def settles(self) -> int:
        """Count the settle processes that run at the same moment."""
        return count_settles(self._state)


def count_settles(state: Path) -> int:
    """Count a user's settle processes that run at the same moment (Linux only).

    A look takes a while, but the processes that two looks see all ran between them.
    """
    return len(_find_settles(state) & _find_settles(state))


def _find_settles(state: Path) -> set[str]:
    """Find supervisors and workers; the children of workers are about to become git."""
    found = (_find_parent(each, state) for each in Path("/proc").glob("[0-9]*"))
    parents = dict(filter(None, found))
    return {pid for pid, parent in parents.items() if parents.get(parent) not in parents}


def _find_parent(folder: Path, state: Path) -> tuple[str, str] | None:
    """Return the pid of a settle process and that of its parent."""
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")
        # `setsid`, which starts settle, has the same arguments after its own name.
        is_python = b"python" in words[0].rpartition(b"/")[2]
        if not (is_python and b"leftoff.hooks.settle" in words and str(state).encode() in words):
            return None
        fields = (folder / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except OSError:
        return None
    return folder.name, fields[1]
