"""Imitate Claude Code for the demo: edit a file and write a transcript, but never save.

    python demo_agent.py TRANSCRIPT

It edits a real file of the project in the working directory, and stops in the middle of a line,
like an agent that is killed while it writes.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

REQUEST = "Limit the login to 5 tries a minute per address; answer 429 after that."
# You come back an hour after the session was killed.
AGO = timedelta(hours=1)
TODOS = (
    ("Count tries per address in src/limiter.py", "completed"),
    ("Answer 429 from src/login.py", "in_progress"),
    ("Describe the limit in docs/api.md", "pending"),
)
LIMITER = '''"""Count tries per address."""

from collections import Counter

tries: Counter[str] = Counter()


def allow(address: str) -> bool:
    """Say whether one more try is allowed."""
    tries[address] += 1
    return tries[address] <= 5
'''


def main(transcript: Path) -> None:
    """Write the session, then wait until the process is killed."""
    limiter = Path.cwd() / "src" / "limiter.py"
    limiter.write_text(LIMITER, encoding="utf-8")
    with transcript.open("w", encoding="utf-8") as file:
        for number, entry in enumerate(_entries(limiter)):
            line = json.dumps({**_frame(transcript.stem, number), **entry})
            file.write(line + "\n")
        file.write('{"parentUuid":"entry-9","type":"assistant","message":{"role":"assi')
    sys.stdout.write("in the middle of a line\n")
    sys.stdout.flush()
    sys.stdin.read()


def _frame(session_id: str, number: int) -> dict[str, Any]:
    return {
        "uuid": f"entry-{number}",
        "parentUuid": f"entry-{number - 1}" if number else None,
        "isSidechain": False,
        "sessionId": session_id,
        "timestamp": (datetime.now(UTC) - AGO).isoformat(),
        "cwd": str(Path.cwd()),
        "gitBranch": "main",
        "version": "2.1.325",
    }


def _entries(limiter: Path) -> list[dict[str, Any]]:
    todos = [{"content": text, "status": status, "activeForm": text} for text, status in TODOS]
    command = "python -m unittest tests.test_login"
    return [
        _user(REQUEST),
        _call("call-1", "TodoWrite", {"todos": todos}),
        _result("call-1", "Todos have been modified successfully."),
        _call("call-2", "Write", {"file_path": str(limiter), "content": LIMITER}),
        _result("call-2", f"File created successfully at: {limiter}"),
        _call("call-3", "Bash", {"command": command}),
        _result("call-3", "Exit code 1\nAssertionError: 200 != 429", is_error=True),
        _assistant(
            [
                {
                    "type": "text",
                    "text": "The limiter counts, but nothing asks it yet. "
                    "Next I will call `limiter.allow` in src/login.py and answer 429.",
                }
            ]
        ),
    ]


def _user(content: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


def _assistant(content: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"input_tokens": 4, "cache_read_input_tokens": 61_000, "output_tokens": 240}
    message = {"role": "assistant", "model": "claude-opus-5-5", "usage": usage, "content": content}
    return {"type": "assistant", "message": message}


def _call(call_id: str, tool: str, given: dict[str, Any]) -> dict[str, Any]:
    return _assistant([{"type": "tool_use", "id": call_id, "name": tool, "input": given}])


def _result(call_id: str, text: str, *, is_error: bool = False) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": is_error}
    return _user([result])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
