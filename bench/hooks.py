"""Measure what an agent waits for at every turn, relative to a bare start of Python."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench import corpus, load, peers, session_start, stage, transcript, venv
from bench.harness import CACHE, Case, Figure, Sample, compare, interleave, run
from bench.stage import Stage
from leftoff.hooks import replies
from leftoff.wiring.wired_files import TABLES

ROUNDS = 100

_SMALL, _LARGE = 70_000, 70_000_000
_MANY = 10_000
_ORDINARY = "pytest -q tests/test_cart.py"
_PYTHON = "python -c pass"
# opencode's plugin starts the same script.
_OTHERS = ("codex", "gemini", "copilot", "cursor", "opencode")
_REPLY = '{"systemMessage":"leftoff: context at 71.00% - consider leftoff save."}\n'


def figures() -> list[Figure]:
    """Measure each hook against its limit, in one run."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="hooks-") as folder:
        return _measure(Path(folder))


def _measure(folder: Path) -> list[Figure]:
    here = stage.install(Stage(home=folder, project=stage.new_project(folder / "shop")))
    small = _Session(here, "small", _SMALL)
    large = _Session(here, "large", _LARGE)
    others = peers.find(folder / "peers", small.stop_payload)
    cases: dict[str, Case] = {
        _PYTHON: lambda: run(here.program(str(venv.python()), "-c", "pass", given=small.given)),
        "silent": small.hot(),
        "reply": small.hot(reply=True),
        "sh -c": small.hot(through_shell=True),
        **{agent: small.hot_other(agent) for agent in _OTHERS},
        **{f"{agent} reply": small.hot_other(agent, reply=True) for agent in _OTHERS},
        "command": small.command(_ORDINARY),
        "harmless": small.command("git stash list"),
        "risky": small.command("bash scripts/test.sh"),
        "large": large.hot(),
        "start": _session_start("startup"),
        "compacted": _session_start("compact"),
        "settle small": small.settle,
        "settle large": large.settle,
        **{name: peer.case for name, peer in others.items() if peer.case is not None},
    }
    samples = interleave(cases, ROUNDS, between=lambda: stage.wait_until_settled(here.state))
    os.chdir(CACHE)
    under_load = load.figures(here)
    starts = session_start.figures(folder / "starts")
    compared = (peers.figure(peer, samples, _PYTHON) for peer in others.values())
    return [*_figures(samples), *starts, *under_load, *compared]


def _list_others() -> Iterator[tuple[str, str, str, float]]:
    """Name the figures of the other agents: an event without a reply, and one with a reply."""
    for agent in _OTHERS:
        title = TABLES[agent].title
        yield (f"hot hook of {title} without a reply / python -c pass", agent, _PYTHON, 0.30)
        yield ("  with a reply for its session", f"{agent} reply", _PYTHON, 0.30)


def _figures(samples: dict[str, list[Sample]]) -> list[Figure]:
    rows = (
        ("hot hook without a reply / python -c pass", "silent", _PYTHON, 0.30),
        ("hot hook with a reply / python -c pass", "reply", _PYTHON, 0.30),
        ("hot hook before an ordinary command / python -c pass", "command", _PYTHON, 0.30),
        ("  before one that only sounds risky", "harmless", _PYTHON, None),
        ("  before a script, with a snapshot", "risky", _PYTHON, None),
        ("hot hook through sh -c / python -c pass", "sh -c", _PYTHON, 0.35),
        *_list_others(),
        ("hot hook at a 70 MB transcript / at 70 KB", "large", "silent", 1.05),
        ("SessionStart, 10,000 checkpoints / python -c pass", "start", _PYTHON, 8.0),
        ("  with the whole briefing, after a compaction", "compacted", _PYTHON, 8.0),
    )
    figures = [compare(what, samples, (mine, base), limit) for what, mine, base, limit in rows]
    settle = compare(
        "CPU of settle after a turn, 70 MB / 70 KB",
        samples,
        ("settle large", "settle small"),
        1.3,
        "cpu",
    )
    shown = compare("settle after a turn / python -c pass", samples, ("settle small", _PYTHON))
    return [*figures, settle, shown]


class _Session:
    """An agent's session with a transcript of a given size, already settled once."""

    def __init__(self, here: Stage, name: str, size: int) -> None:
        self.here, self.name = here, name
        self.transcript = here.home / f"{name}.jsonl"
        shutil.copy(transcript.at_least(size), self.transcript)
        self.size = self.transcript.stat().st_size
        self.given = here.home / f"{name}.json"
        self.given.write_bytes(self.stop_payload)
        self._numbers = itertools.count()
        self._turn = _turn()
        self._settle = here.program(
            str(venv.python()),
            "-I",
            "-m",
            "leftoff.hooks.settle",
            str(here.state),
            given=self.given,
        )
        self._drop_letter()
        run(self._settle)
        self._record = here.project / ".git" / "leftoff" / "sessions" / f"claude-{name}.json"
        self._as_read = self._record.read_bytes()

    @property
    def stop_payload(self) -> bytes:
        payload = {
            "session_id": self.name,
            "transcript_path": str(self.transcript),
            "cwd": str(self.here.project),
            "permission_mode": "acceptEdits",
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": "",
        }
        return msgspec.json.encode(payload)

    def hot(self, *, reply: bool = False, through_shell: bool = False) -> Case:
        """Return a case: the agent fires Stop."""
        session = f"{self.name}-told" if reply else self.name
        if reply:
            path = replies.place_of(self.here.state, self.here.project) / f"claude.Stop.{session}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_REPLY, encoding="utf-8")
        arguments = (str(self.here.hook), "claude", "Stop")
        if through_shell:
            arguments = ("/bin/sh", "-c", " ".join(arguments))
        program = self.here.program(*arguments, given=self.given, session=session)
        return lambda: run(program)

    def hot_other(self, agent: str, *, reply: bool = False) -> Case:
        """Return a case: another agent fires Stop or a prompt, with the variables that it sets."""
        event, session = "UserPromptSubmit" if reply else "Stop", f"{agent}-session"
        given = self.here.home / f"{agent}-{event}.json"
        payload = {"session_id": session, "transcript_path": None, "prompt": "go on"}
        folder = {"cwd": str(self.here.project), "hook_event_name": event}
        given.write_bytes(msgspec.json.encode({**payload, **folder}))
        place = replies.place_of(self.here.state, self.here.project)
        path = place / f"{agent}.{event}.{session}"
        program = self.here.program(str(self.here.hook), agent, event, given=given)
        variables = {
            "gemini": {"GEMINI_SESSION_ID": session},
            "copilot": {"COPILOT_PROJECT_DIR": str(self.here.project)},
            "cursor": {"CURSOR_VERSION": "2", "CURSOR_PROJECT_DIR": str(self.here.project)},
        }.get(agent, {})
        environment = {**program.environment, **variables}
        program = msgspec.structs.replace(program, environment=environment)

        def fire() -> Sample:
            if reply:
                # settle removes it once it is printed, so each run writes it again.
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_REPLY, encoding="utf-8")
            return run(program)

        return fire

    def command(self, words: str) -> Case:
        """Return a case: the agent is about to run a command."""
        given = self.here.home / f"{self.name}-{words.partition(' ')[0]}.json"
        called = {"command": words, "description": "Run the tests"}
        payload = msgspec.json.decode(self.stop_payload)
        payload |= {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": called}
        given.write_bytes(msgspec.json.encode(payload))
        arguments = (str(self.here.hook), "claude", "PreToolUse")
        program = self.here.program(*arguments, given=given, session=self.name)
        return lambda: run(program)

    def settle(self) -> Sample:
        """Settle a turn with a few calls, after everything before was settled."""
        os.truncate(self.transcript, self.size)
        with self.transcript.open("ab") as file:
            file.write(self._turn)
        self._record.write_bytes(self._as_read)
        self._drop_letter()
        sample = run(self._settle)
        assert not any((self.here.state / "spool").iterdir()), "The event was not settled."
        return sample

    def _drop_letter(self) -> None:
        spool = self.here.state / "spool"
        spool.mkdir(mode=0o700, exist_ok=True)
        letter = spool / f"claude.Stop.{os.getpid()}.{next(self._numbers)}"
        letter.write_bytes(self.stop_payload)


def _turn() -> bytes:
    """Return the lines of one turn."""
    lines = []
    for line in transcript.lines(seed=3):
        lines.append(line)
        if b'"subtype":"stop_hook_summary"' in line:
            return b"".join(lines)
    raise AssertionError("A turn ends.")


def _session_start(source: str) -> Case:
    """Return a case: a session starts, or continues after a compaction, in a large store."""
    project = corpus.made(_MANY)
    here = stage.install(Stage(home=corpus.home_of(project), project=project.root))
    given = here.home / f"{source}.json"
    program = here.program(str(here.hook), "claude", "SessionStart", given=given)
    numbers = itertools.count()

    def start() -> Sample:
        # An offer is made once per session, so each start looks as if earlier sessions had ended.
        shutil.rmtree(here.state / "live", ignore_errors=True)
        is_new = source == "startup"
        session = (
            f"session-{os.getpid()}-{next(numbers)}" if is_new else f"session-{(_MANY - 1) // 5}"
        )
        payload = {
            "session_id": session,
            "transcript_path": str(here.home / "none.jsonl"),
            "cwd": str(project.root),
            "hook_event_name": "SessionStart",
            "source": source,
        }
        given.write_bytes(msgspec.json.encode(payload))
        return run(program)

    return start
