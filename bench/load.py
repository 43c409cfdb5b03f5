"""Load: many sessions at once, their events settled from a backlog and fired all together."""

import itertools
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench import stage, transcript, venv
from bench.harness import Program, Sample, run
from bench.stage import Stage

SESSIONS = 64
EVENTS = 50
_PROJECTS = 4
_SIZE = 70_000
# Events that wait came before now; settle must not take them for ones of this moment.
_AGO_SECONDS = 600.0


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
        """The settle of this user."""
        words = ("-I", "-m", "leftoff.hooks.settle", str(self.here.state))
        return self.here.program(str(venv.python()), *words, given=Path(os.devnull))

    def keep_all(self) -> int:
        """Put the events of all sessions into the spool, in the order they came; count them."""
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

    def forget(self) -> None:
        """Let every session be new."""
        for folder in {*self._folders}:
            shutil.rmtree(folder / ".git" / "leftoff", ignore_errors=True)
        for name in ("live", "usage", "ready"):
            shutil.rmtree(self.here.state / name, ignore_errors=True)

    def _transcript(self, number: int) -> Path:
        return self.here.home / "transcripts" / f"session-{number}.jsonl"

    def _events(self, number: int) -> Iterator[tuple[str, bytes]]:
        """Yield what a session fires: turns of a prompt, three calls and an end."""
        turn: tuple[tuple[str, dict[str, object]], ...] = (
            ("UserPromptSubmit", {"prompt": "Handle the order without a price"}),
            *(("PreToolUse", _call(command)) for command in ("git status", "ls src", "cat app.py")),
            ("Stop", {"stop_hook_active": False, "last_assistant_message": "The price is read."}),
        )
        for event, told in itertools.islice(itertools.cycle(turn), EVENTS):
            yield event, msgspec.json.encode({**self._shared(number), **told})

    def _shared(self, number: int) -> dict[str, object]:
        return {
            "session_id": f"session-{number}",
            "transcript_path": str(self._transcript(number)),
            "cwd": str(self._folders[number]),
            "permission_mode": "acceptEdits",
        }


def _call(command: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}
