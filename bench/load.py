"""Measure many sessions at once: their events settled from a backlog, and fired all together."""

import itertools
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Self

import msgspec

from bench import stage, transcript, venv
from bench.harness import Figure, Program, Sample, run
from bench.stage import Stage
from leftoff.torture.load import count_settles

SESSIONS = 64
EVENTS = 50
_PROJECTS = 4
_SIZE = 70_000
_ROUNDS = 10
_PYTHONS = 15
_MOST_STARTS = 400
_MOST_PROCESSES = 2
# Waiting events happened earlier, and settle must not treat them as happening now.
_AGO_SECONDS = 600.0


class Burst(msgspec.Struct, frozen=True, kw_only=True):
    """The durations of many hooks at once, and the most settle processes at any moment."""

    took: list[float]
    most: int


class _Count:
    """Counts the settle processes repeatedly, until the context ends."""

    def __init__(self, state: Path) -> None:
        self.most = 0
        self._state = state
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.002):
            self.most = max(self.most, count_settles(self._state))


class Crowd:
    """A user with many sessions in several projects."""

    def __init__(self, here: Stage) -> None:
        self.here = here
        folders = [stage.new_project(here.home / f"project-{n}") for n in range(_PROJECTS)]
        self._folders = list(itertools.islice(itertools.cycle(folders), SESSIONS))
        for number in range(SESSIONS):
            path = self._transcript(number)
            path.parent.mkdir(exist_ok=True)
            shutil.copy(transcript.at_least(_SIZE), path)

    @property
    def settle(self) -> Program:
        """The settle program of this user."""
        words = ("-I", "-m", "leftoff.hooks.settle", str(self.here.state))
        return self.here.program(str(venv.python()), *words, given=Path(os.devnull))

    def keep_all(self) -> int:
        """Write the events of all sessions to the spool in order, and return their number."""
        spool = self.here.state / "spool"
        spool.mkdir(mode=0o700, exist_ok=True)
        began = time.time() - _AGO_SECONDS
        rounds = zip(*(self._events(number) for number in range(SESSIONS)), strict=True)
        for count, (event, data) in enumerate(itertools.chain.from_iterable(rounds)):
            letter = spool / f"claude.{event}.{os.getpid()}.{count}"
            letter.write_bytes(data)
            os.utime(letter, (began + count * 0.05,) * 2)
        return SESSIONS * EVENTS

    def settle_all(self) -> Sample:
        """Settle a backlog of all sessions."""
        self.forget()
        self.keep_all()
        sample = run(self.settle)
        left = [path.name for path in (self.here.state / "spool").iterdir()]
        assert not left, f"{len(left)} events were not settled: {left[:3]}"
        return sample

    def fire_all(self) -> "Burst":
        """Fire the first events of all sessions, one round after the other."""
        self.forget()
        with _Count(self.here.state) as count:
            took = [*itertools.chain.from_iterable(map(self._fire_round, range(_ROUNDS)))]
            stage.wait_until_settled(self.here.state)
        return Burst(took=took, most=count.most)

    def _fire_round(self, number: int) -> list[float]:
        """Fire one event of each session at once, and return how long each hook took in seconds."""
        began, running = {}, []
        for session in range(SESSIONS):
            event, data = next(itertools.islice(self._events(session), number, None))
            given = self.here.home / f"session-{session}.json"
            given.write_bytes(data)
            words = (str(self.here.hook), "claude", event)
            program = self.here.program(*words, given=given, session=f"session-{session}")
            with given.open("rb") as payload:
                process = subprocess.Popen(
                    words,
                    stdin=payload,
                    stdout=subprocess.DEVNULL,
                    cwd=self._folders[session],
                    env=dict(program.environment),
                )
            began[process.pid] = time.perf_counter()
            running.append(process)
        took = []
        for process in running:
            assert process.wait() == 0, "A hook failed."
            took.append(time.perf_counter() - began[process.pid])
        return took

    def forget(self) -> None:
        """Make every session new."""
        for folder in {*self._folders}:
            shutil.rmtree(folder / ".git" / "leftoff", ignore_errors=True)
        for name in ("live", "usage", "ready"):
            shutil.rmtree(self.here.state / name, ignore_errors=True)

    def _transcript(self, number: int) -> Path:
        return self.here.home / "transcripts" / f"session-{number}.jsonl"

    def _events(self, number: int) -> Iterator[tuple[str, bytes]]:
        """Yield the events of a session: turns with a prompt, three calls and an end."""
        turn: tuple[tuple[str, dict[str, object]], ...] = (
            ("UserPromptSubmit", {"prompt": "Handle the order without a price"}),
            *(("PreToolUse", _call(command)) for command in ("git status", "ls src", "cat app.py")),
            ("Stop", {"stop_hook_active": False, "last_assistant_message": "The price is read."}),
        )
        for event, fields in itertools.islice(itertools.cycle(turn), EVENTS):
            yield event, msgspec.json.encode({**self._shared(number), **fields})

    def _shared(self, number: int) -> dict[str, object]:
        return {
            "session_id": f"session-{number}",
            "transcript_path": str(self._transcript(number)),
            "cwd": str(self._folders[number]),
            "permission_mode": "acceptEdits",
        }


def figures(here: Stage) -> list[Figure]:
    """Measure a backlog of many sessions, and their hooks all at once."""
    crowd = Crowd(here)
    python = here.program(str(venv.python()), "-c", "pass", given=Path(os.devnull))
    before = [run(python).cpu for _ in range(_PYTHONS)]
    settled = crowd.settle_all()
    start = median([*before, *(run(python).cpu for _ in range(_PYTHONS))])
    burst = crowd.fire_all()
    count = SESSIONS * EVENTS
    return [
        Figure(
            what=f"CPU of settling {count:,} events of {SESSIONS} sessions / python -c pass",
            value=settled.cpu / start,
            limit=_MOST_STARTS,
            note=f"{settled.cpu:.1f} s of CPU, {count / settled.wall:,.0f} events a second",
        ),
        Figure(
            what=f"settle processes while {SESSIONS} hooks run at once",
            value=burst.most,
            unit="",
            limit=_MOST_PROCESSES,
            note=f"{len(burst.took)} hooks, median {median(burst.took) * 1000:.0f} ms",
        ),
    ]


def _call(command: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}
