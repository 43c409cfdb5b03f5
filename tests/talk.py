"""A conversation with Claude Code as it is on disk, and the hooks it fires."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from leftoff import context
from leftoff.hooks import replies, settle, spool, start
from leftoff.store import utc_now

WINDOW = 1_000_000


class Talk:
    """Writes a transcript line by line and fires hook events, in this process."""

    def __init__(self, folder: Path, session_id: str = "session-1") -> None:
        self.folder = folder
        self.session_id = session_id
        self.transcript = context.read_environment().home / "transcripts" / f"{session_id}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.now: datetime | None = None
        """When its lines are written; None for a fixed time."""
        self._calls = 0

    def line(self, **fields: object) -> None:
        entry = {
            "parentUuid": None,
            "isSidechain": False,
            "cwd": str(self.folder),
            "sessionId": self.session_id,
            "version": "2.1.325",
            "gitBranch": "main",
            "uuid": f"u{self._calls}",
            "timestamp": self._format_time(),
            **fields,
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _format_time(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.000Z" if self.now else "2026-11-15T12:00:00.000Z"

    def ask(self, text: str) -> None:
        self.line(type="user", message={"role": "user", "content": text})

    def say(self, text: str, *, percent: float = 1.0) -> None:
        self._answer([{"type": "text", "text": text}], percent)

    def edit(self, path: str, *, percent: float = 1.0) -> None:
        block = self._call("Edit", {"file_path": str(self.folder / path)})
        self._answer([block], percent)
        self._result(block["id"], "The file has been updated.")

    def run(self, command: str, output: str = "", *, ok: bool = True) -> None:
        block = self._call("Bash", {"command": command})
        self._answer([block], 1.0)
        self._result(block["id"], output, is_error=not ok)

    def begin(self, command: str) -> None:
        """Start a command that does not end."""
        self._answer([self._call("Bash", {"command": command})], 1.0)

    def todos(self, *todos: tuple[str, str]) -> None:
        items = [{"content": text, "status": status} for text, status in todos]
        block = self._call("TodoWrite", {"todos": items})
        self._answer([block], 1.0)
        self._result(block["id"], "Todos have been modified")

    def work(self, *, percent: float = 1.0) -> None:
        """Ask for something, and let it be half done."""
        self.ask("Add a login form to app.py")
        self.edit("app.py")
        self.say("Next I will run the tests.", percent=percent)

    def payload(self, event: str, **fields: object) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "hook_event_name": event,
            **fields,
        }

    def post(self, event: str, **fields: object) -> None:
        """Put an event into the spool, as the letterbox does."""
        data = json.dumps(self.payload(event, **fields)).encode()
        spool.keep(context.state_folder(), "claude", event, data)

    def fire(self, event: str, **fields: object) -> None:
        """Put an event into the spool and settle it."""
        self.post(event, **fields)
        assert settle.run(context.state_folder())

    def start(self, source: str = "startup", *, now: Callable[[], datetime] = utc_now) -> str:
        """Return what a session start gives the model."""
        data = json.dumps(self.payload("SessionStart", source=source)).encode()
        reply = start.answer("claude", data, context.state_folder(), now=now)
        if not reply:
            return ""
        answer: str = json.loads(reply)["hookSpecificOutput"]["additionalContext"]
        return answer

    def waiting_reply(self) -> str:
        """Return the reply that lies ready for the next prompt."""
        name = f"claude.UserPromptSubmit.{self.session_id}"
        path = replies.place_of(context.state_folder(), self.folder) / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        self._calls += 1
        return {"type": "tool_use", "id": f"toolu_{self._calls}", "name": tool, "input": given}

    def _answer(self, content: list[dict[str, Any]], percent: float) -> None:
        tokens = round(WINDOW * percent / 100)
        self.line(
            type="assistant",
            message={
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": content,
                "usage": {
                    "input_tokens": 0,
                    "cache_read_input_tokens": tokens,
                    "cache_creation_input_tokens": 0,
                    "output_tokens": 0,
                },
            },
        )

    def _result(self, call_id: str, output: str, *, is_error: bool = False) -> None:
        block = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": output,
            "is_error": is_error,
        }
        self.line(type="user", message={"role": "user", "content": [block]})
