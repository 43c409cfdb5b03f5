"""Made-up sessions of Claude Code: a transcript, and what its hooks send."""

import re
from pathlib import Path
from typing import Any

import msgspec

from leftoff.context import read_environment
from leftoff.hooks import settle

LETTERBOX = Path(settle.__file__).with_name("letterbox.sh")
_WINDOW = 1_000_000


class Talk:
    """A session in a folder."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self.folder = folder
        self.session_id = session_id
        # Claude Code names the folder of a project this way.
        key = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
        self.transcript = (
            read_environment().find_agent_folder("claude")
            / "projects"
            / key
            / f"{session_id}.jsonl"
        )

    # From 95 % context use on, hooks keep every prompt.
    def write(self, *texts: str, percent: float = 96.0) -> None:
        """Write a transcript in which the work that the user asked for is half done."""
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            line
            for text in texts
            for line in (self._build_request(text), self._build_edit(percent))
        ]
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        with self.transcript.open("ab") as file:
            file.write(data)

    def payload(self, event: str, **fields: object) -> bytes:
        """Return what the agent sends to a hook with this event."""
        line = {
            "session_id": self.session_id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder),
            "hook_event_name": event,
            **fields,
        }
        return msgspec.json.encode(line)

    def _build_request(self, text: str) -> dict[str, Any]:
        return self._line(type="user", message={"role": "user", "content": text})

    def _build_edit(self, percent: float) -> dict[str, Any]:
        path = str(self.folder / "app.py")
        block = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": {"file_path": path}}
        usage = {"input_tokens": round(_WINDOW * percent / 100), "output_tokens": 0}
        message = {
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block],
            "usage": usage,
        }
        return self._line(type="assistant", message=message)

    def _line(self, **fields: object) -> dict[str, Any]:
        return {
            "parentUuid": None,
            "isSidechain": False,
            "cwd": str(self.folder),
            "sessionId": self.session_id,
            "version": "2.1.325",
            "gitBranch": "main",
            "uuid": "u1",
            "timestamp": "2026-11-15T12:00:00.000Z",
            **fields,
        }
