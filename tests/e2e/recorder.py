"""Hooks that record their input, and answer what a test prepared."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from e2e.claude import Bench
from e2e.waiting import until

# Only names that every build knows: an unknown one stops the interactive program with a dialog.
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact",
    "Stop", "SubagentStop", "Notification", "SessionEnd",
)  # fmt: skip

_SCRIPT = r"""
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
payload = json.load(sys.stdin)
line = json.dumps(payload) + "\n"
log = os.open(os.path.join(here, "hooks.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(log, line.encode())
try:
    with open(os.path.join(here, payload["hook_event_name"] + ".reply")) as reply:
        sys.stdout.write(reply.read())
except FileNotFoundError:
    pass
"""

Payload = dict[str, Any]


class Recorder:
    """Puts a recording hook on events of a bench's repository."""

    def __init__(self, bench: Bench, events: Iterable[str] = EVENTS) -> None:
        self._folder = bench.root / "recorder"
        self._folder.mkdir()
        script = self._folder / "hook.py"
        script.write_text(_SCRIPT, encoding="utf-8")
        hook = {"type": "command", "command": f"{sys.executable} -I -S {script}"}
        hooks = {event: [{"matcher": "*", "hooks": [hook]}] for event in events}
        bench.repo.write(".claude/settings.json", json.dumps({"hooks": hooks}))

    def reply(self, event: str, **answer: Any) -> None:
        """Prepare what the hook prints for an event from now on."""
        self._reply_path(event).write_text(json.dumps(answer), encoding="utf-8")

    def add(self, event: str, context: str) -> None:
        """Prepare text that an event's hook hands to the model."""
        fields = {"hookEventName": event, "additionalContext": context}
        self.reply(event, hookSpecificOutput=fields)

    def say_nothing(self, event: str) -> None:
        """Let an event's hook print nothing from now on."""
        self._reply_path(event).unlink(missing_ok=True)

    def payloads(self, event: str | None = None) -> list[Payload]:
        """Return what the hooks were given, in order."""
        path = self._folder / "hooks.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found: list[Payload] = [json.loads(line) for line in lines]
        return [one for one in found if event in (None, one["hook_event_name"])]

    def events(self) -> list[str]:
        """Return the names of the events so far, in order."""
        return [payload["hook_event_name"] for payload in self.payloads()]

    def wait_for(self, event: str) -> Payload:
        """Wait until an event has come, and return the last payload of it."""
        until(lambda: event in self.events(), f"the event {event}")
        return self.payloads(event)[-1]

    def _reply_path(self, event: str) -> Path:
        return self._folder / f"{event}.reply"
