"""Test the hooks with a made-up session: fire every event, then look for its checkpoint.

Everything happens in a temp folder with its own home, state and repository. The test uses the
installed programs, but reads and writes none of the user's files.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leftoff.hooks import trouble
from leftoff.processes import copy_for_child
from leftoff.wiring import claude_hooks, try_programs
from leftoff.wiring.findings import DoctorFinding, fault, ok

_TASK = "Teach the parser to read dates"
_WORDS = "The parser reads years. Next I will run pytest tests/test_dates.py."
_FIRST, _SECOND = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
_PATIENCE_SECONDS = 20.0
_SLOW_SECONDS = 1.0
# In the order of a real session: start, prompt, tools, idle, stop, compaction, end.
_ORDER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": _TASK}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "true"}}),
    ("Notification", {"notification_type": "idle_prompt", "message": "waiting"}),
    ("Stop", {"stop_hook_active": False}),
    ("StopFailure", {"error": "made up"}),
    ("PreCompact", {"trigger": "manual", "custom_instructions": ""}),
    ("SessionEnd", {"reason": "other"}),
)


def prove(commands: Mapping[str, str], python: bytes | None) -> list[DoctorFinding]:
    """Run each hook's command line, and check that the next session gets the checkpoint."""
    folder = Path(tempfile.mkdtemp(prefix="leftoff-doctor-"))
    stage = _Stage(folder, commands, python)
    try:
        return list(stage.play())
    finally:
        # If settle still runs, as after Ctrl-C, it would create the folder again.
        stage.wait()
        shutil.rmtree(folder, ignore_errors=True)


class _Stage:
    """A made-up home folder, repository and session in a temp folder."""

    def __init__(self, folder: Path, commands: Mapping[str, str], python: bytes | None) -> None:
        self._commands = commands
        self._folder = folder
        self._state = folder / "state" / "leftoff"
        self._project = folder / "project"
        self._transcript = folder / "home" / f"{_FIRST}.jsonl"
        for made in (self._state, self._project / ".git" / "objects", folder / "home"):
            made.mkdir(parents=True, mode=0o700)
        (folder / "tmp").mkdir()
        # leftoff recognises a repository by these few files, so the test works without git.
        (self._project / ".git" / "refs").mkdir()
        (self._project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        if python is not None:
            (self._state / "python").write_bytes(python)

    def play(self) -> Iterator[DoctorFinding]:
        """Fire all events of one session, then start a second one."""
        self._transcript.write_text(_write_transcript(self._project), encoding="utf-8")
        slowest = 0.0
        for event, details in _ORDER:
            answer = self._fire(event, _FIRST, details)
            slowest = max(slowest, answer.seconds if event != "SessionStart" else 0.0)
            if (problem := _find_problem(event, answer)) is not None:
                yield problem
        self.wait()
        errors = trouble.list_recent(self._state)
        if not any((self._project / ".git" / "leftoff" / "checkpoints").glob("*/*.json")):
            what = errors[-1].what if errors else "no hook reported an error"
            yield _report_no_checkpoint(what)
            return
        answer = self._fire("SessionStart", _SECOND, {"source": "startup"})
        if _TASK not in _read_context(answer.out):
            yield _report_no_reply(answer.line)
        else:
            took = f"{slowest * 1000:.0f} ms, session start {answer.seconds * 1000:.0f} ms"
            what = f"{len(_ORDER)} events saved as a checkpoint, which the next session got"
            yield ok("round trip", f"{what} (slowest hook {took})")

    def _fire(
        self, event: str, session: str, details: Mapping[str, Any]
    ) -> try_programs.ProgramAnswer:
        payload = {
            "session_id": session,
            "transcript_path": str(self._transcript) if session == _FIRST else "",
            "cwd": str(self._project),
            "hook_event_name": event,
            **details,
        }
        return try_programs.ask(
            ["sh", "-c", self._commands.get(event, "exit 0")],
            stdin=json.dumps(payload).encode(),
            cwd=self._project,
            env=self._environment(session),
        )

    def _environment(self, session: str) -> dict[str, str]:
        folder = self._folder
        # The user's variables must not affect the test, nor may it look like their own session.
        return copy_for_child(
            drop_prefix="LEFTOFF_",
            HOME=str(folder / "home"),
            PWD=str(self._project),
            TMPDIR=str(folder / "tmp"),
            XDG_STATE_HOME=str(folder / "state"),
            XDG_CONFIG_HOME=str(folder / "home" / ".config"),
            CLAUDE_CODE_SESSION_ID=session,
            CLAUDE_PID="",
            CLAUDE_PLUGIN_ROOT="",
            CLAUDE_CONFIG_DIR=str(folder / "home" / ".claude"),
        )

    def wait(self) -> None:
        """Wait until settle, which runs in the background, is done."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._is_at_work() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _is_at_work(self) -> bool:
        spool = self._state / "spool"
        waiting = spool.is_dir() and any(spool.iterdir())
        return waiting or any(self._state.glob("settling.*"))


def _write_transcript(folder: Path) -> str:
    shared = {"cwd": str(folder), "sessionId": _FIRST, "version": "2.1.0", "gitBranch": "main"}
    asked = {"role": "user", "content": _TASK}
    # Only real work is saved, such as an edit.
    edit = {"file_path": str(folder / "made-up.py")}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": edit}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Updated."}
    said = {
        "role": "assistant",
        "model": "made-up",
        "content": [{"type": "text", "text": _WORDS}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1000, "output_tokens": 10},
    }
    lines: list[dict[str, Any]] = [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": asked},
        _say("assistant", [call], uuid="2", after="1"),
        _say("user", [result], uuid="3", after="2"),
        {"type": "assistant", "uuid": "4", "parentUuid": "3", "message": said},
    ]
    # Old work is not offered, so the session has to be a recent one.
    more = {"isSidechain": False, "timestamp": datetime.now(UTC).isoformat()}
    return "".join(f"{json.dumps({**line, **shared, **more})}\n" for line in lines)


def _say(role: str, content: list[dict[str, Any]], *, uuid: str, after: str) -> dict[str, Any]:
    message = {"role": role, "content": content}
    return {"type": role, "uuid": uuid, "parentUuid": after, "message": message}


def _find_problem(event: str, answer: try_programs.ProgramAnswer) -> DoctorFinding | None:
    """Return what is wrong with a hook's exit code, output or speed."""
    if answer.code != 0:
        return fault(
            "hooks",
            f"The hook for {event} exited with {answer.code}: {answer.last_line}",
            why="A failing hook disturbs the agent.",
            do="Run `leftoff init`. If the problem stays, please report it.",
        )
    if answer.err or (answer.out.strip() and not _is_document(answer.out)):
        return fault(
            "hooks",
            f"The hook for {event} printed an invalid reply: {answer.last_line[:200]}",
            why="The agent would treat it as a message.",
            do="Run `leftoff init`. If the problem stays, please report it.",
        )
    if event != "SessionStart" and answer.seconds > _SLOW_SECONDS:
        return DoctorFinding(
            check="hooks",
            level="warning",
            what=f"The hook for {event} took {answer.seconds:.1f} seconds",
            why="The agent waits for it.",
            do="Find out what slows down the disk or the machine.",
        )
    return None


def _is_document(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


def _read_context(data: bytes) -> str:
    if not _is_document(data):
        return ""
    output = json.loads(data).get("hookSpecificOutput", {})
    return str(output.get("additionalContext", ""))


def _report_no_checkpoint(trouble: str) -> DoctorFinding:
    return fault(
        "round trip",
        f"The hooks got all events of a session but saved no checkpoint: {trouble}",
        why="leftoff would not save your sessions automatically.",
        do="See the findings above; start with those about Python.",
    )


def _report_no_reply(line: str) -> DoctorFinding:
    return fault(
        "round trip",
        f"The hooks saved a checkpoint, but the next session got: {line[:200] or 'nothing'}",
        why="New sessions would not offer to resume.",
        do="Run `leftoff init`. If the problem stays, please report it.",
    )


def build_commands(letterbox: Path) -> dict[str, str]:
    """Return commands that run this version's hook program without installing it."""
    return {
        event: f"sh {claude_hooks.command_line(letterbox, event)}" for event in claude_hooks.EVENTS
    }
