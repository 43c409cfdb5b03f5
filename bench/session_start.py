"""Measure session starts in a large store, with a backlog of events, and at first contact."""

import contextlib
import itertools
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from bench import corpus, stage, transcript, venv
from bench.harness import Case, Figure, Sample, compare, interleave, run
from bench.stage import Stage

CHECKPOINTS, THREADS, EVENTS = 10_000, 300, 2_000
ROUNDS = 41
_SETTLES = 3
_PYTHON = "python -c pass"
_SESSIONS = 20
_OLD_SESSIONS = 5
_SIZE = 70_000
_AGO_SECONDS = 600.0
_DAY_SECONDS = 86_400.0


def figures(folder: Path) -> list[Figure]:
    """Measure everything in one run; `folder` is empty."""
    project = corpus.made(CHECKPOINTS, threads=THREADS)
    here = stage.install(Stage(home=corpus.home_of(project), project=project.root))
    new = stage.install(Stage(home=folder, project=stage.new_project(folder / "shop")))
    talk = stage.install(Stage(home=folder / "talk", project=stage.new_project(folder / "chat")))
    backlog, contact = _Backlog(here), _FirstContact(new)
    talked = _FirstContact(talk, with_small_talk=True)
    python = here.program(str(venv.python()), "-c", "pass", given=Path(os.devnull))
    cases: dict[str, Case] = {
        _PYTHON: lambda: run(python),
        "start": _Start(here).run,
        "waiting": backlog.start,
        "contact": contact.start,
        "talk": talked.start,
        "again": talked.start_again,
        "status": contact.command("status"),
        "resume": contact.command("resume"),
    }
    samples = interleave(cases, ROUNDS)
    rows = (
        (f"SessionStart, {CHECKPOINTS:,} checkpoints in {THREADS} threads", "start", 8.0),
        (f"  with {EVENTS:,} events waiting", "waiting", 10.0),
        (f"SessionStart at first contact, {_OLD_SESSIONS} old sessions", "contact", 8.0),
        ("  with small talk among them", "talk", 8.0),
        ("  with small talk among them, again", "again", 8.0),
        ("leftoff status at first contact", "status", None),
        ("leftoff resume at first contact", "resume", None),
    )
    measured = [
        compare(f"{what} / {_PYTHON}", samples, (name, _PYTHON), limit)
        for what, name, limit in rows
    ]
    return [*measured, _settling(backlog, median(each.cpu for each in samples[_PYTHON]))]


def _settling(backlog: "_Backlog", start: float) -> Figure:
    """Compare the CPU time of settling the backlog with a bare start of Python."""
    cpu = median(backlog.settle().cpu for _ in range(_SETTLES))
    return Figure(
        what=f"CPU of settling {EVENTS:,} events / {_PYTHON}",
        value=cpu / start,
        limit=400.0,
        note=f"{cpu:.1f} s of CPU against {start * 1000:.1f} ms",
    )


class _Start:
    """The start of a new session."""

    def __init__(self, here: Stage) -> None:
        self.here = here
        self._given = here.home / "start.json"
        self._program = here.program(
            str(here.hook), "claude", "SessionStart", given=self._given, session="starting"
        )
        self._numbers = itertools.count()

    def run(self) -> Sample:
        """Start a session, as if all earlier ones had ended."""
        shutil.rmtree(self.here.state / "live", ignore_errors=True)
        payload = {
            "session_id": f"starting-{os.getpid()}-{next(self._numbers)}",
            "transcript_path": str(self.here.home / "none.jsonl"),
            "cwd": str(self.here.project),
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
        self._given.write_bytes(msgspec.json.encode(payload))
        return run(self._program)


class _Backlog:
    """Many events in the spool, of sessions that still run in the same project."""

    def __init__(self, here: Stage) -> None:
        self.here = here
        self._start = _Start(here)
        self._copies = here.home / "sessions"
        self._copies.mkdir(exist_ok=True)
        for number in range(_SESSIONS):
            shutil.copy(transcript.at_least(_SIZE), self._transcript(number))

    def start(self) -> Sample:
        """Start a session; the settle that it starts behind itself is ended."""
        self._keep_all()
        sample = self._start.run()
        assert len(self._waiting()) > EVENTS // 2, "The start waited for the backlog."
        self._stop_settle()
        shutil.rmtree(self.here.state / "spool")
        return sample

    def settle(self) -> Sample:
        """Settle the whole backlog."""
        for path in (self.here.project / ".git" / "leftoff" / "sessions").glob("claude-waiting-*"):
            path.unlink()
        self._keep_all()
        words = ("-I", "-m", "leftoff.hooks.settle", str(self.here.state))
        sample = run(self.here.program(str(venv.python()), *words, given=Path(os.devnull)))
        assert not self._waiting(), "Some events were not settled."
        return sample

    def _waiting(self) -> list[str]:
        return os.listdir(self.here.state / "spool")  # noqa: PTH208 - only names are needed

    def _stop_settle(self) -> None:
        while found := stage.processes(self.here.state):
            for process in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            time.sleep(0.005)
        for mark in (*self.here.state.glob("settling.*"), self.here.state / "trying"):
            mark.unlink(missing_ok=True)

    def _keep_all(self) -> None:
        spool = self.here.state / "spool"
        spool.mkdir(mode=0o700, exist_ok=True)
        began = time.time() - _AGO_SECONDS
        for count, (event, session, data) in enumerate(self._events()):
            letter = spool / f"claude.{event}.{os.getpid()}.{count}.{session}"
            letter.write_bytes(data)
            os.utime(letter, (began + count * 0.05,) * 2)

    def _events(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield turns with a prompt, three calls and an end, of all sessions in turn."""
        call: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": "cat app.py"}}
        turn: list[tuple[str, dict[str, object]]] = [
            ("UserPromptSubmit", {"prompt": "Handle the order without a price"}),
            *[("PreToolUse", call)] * 3,
            ("Stop", {"last_assistant_message": "The price is read."}),
        ]
        for count in range(EVENTS):
            number, (event, fields) = count % _SESSIONS, turn[count // _SESSIONS % len(turn)]
            shared = {
                "session_id": f"waiting-{number}",
                "transcript_path": str(self._transcript(number)),
                "cwd": str(self.here.project),
            }
            yield event, f"waiting-{number}", msgspec.json.encode({**shared, **fields})

    def _transcript(self, number: int) -> Path:
        return self._copies / f"waiting-{number}.jsonl"


class _FirstContact:
    """A project with old sessions that nobody saved, before leftoff has seen it."""

    def __init__(self, here: Stage, *, with_small_talk: bool = False) -> None:
        self.here = here
        self._start = _Start(here)
        key = "".join(each if each.isalnum() else "-" for each in str(here.project))
        folder = here.home / ".claude" / "projects" / key
        folder.mkdir(parents=True)
        for number in range(_OLD_SESSIONS):
            path = folder / f"old-{number}.jsonl"
            shutil.copy(transcript.at_least(_SIZE, seed=number + 1), path)
            touched = time.time() - _DAY_SECONDS * (number + 1)
            os.utime(path, (touched, touched))
        if with_small_talk:
            asked = {"role": "user", "content": "What does a CSV header look like?"}
            answer = [{"type": "text", "text": "It names the columns."}]
            said = {"role": "assistant", "content": answer, "stop_reason": "end_turn"}
            lines = [
                {"type": message["role"], "cwd": str(here.project), "message": message}
                for message in (asked, said)
            ]
            path = folder / "old-0.jsonl"
            path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in lines))
            os.utime(path, (time.time() - _DAY_SECONDS, time.time() - _DAY_SECONDS))

    def start_again(self) -> Sample:
        """Start another session; nothing was saved since the first."""
        return self._start.run()

    def start(self) -> Sample:
        """Start the first session."""
        self._forget()
        return self._start.run()

    def command(self, name: str) -> Case:
        """Return a case: the first command in the project."""
        program = self.here.program(str(venv.leftoff()), name, given=Path(os.devnull))

        def call() -> Sample:
            self._forget()
            return run(program)

        return call

    def _forget(self) -> None:
        shutil.rmtree(self.here.project / ".git" / "leftoff", ignore_errors=True)
        shutil.rmtree(self.here.state / "contacted", ignore_errors=True)
