"""Leave a session of Claude Code behind that was killed while it ran the tests.

    python scripts/unsaved_session.py

It belongs to the current folder, and is three hours old. The tour in `docs/tour.md` recovers it.
"""

import datetime as dt
import json
import os
import re
from pathlib import Path

_SESSION = "3f6c2f0e-6f0b-4d7e-9a53-0c6d5a3b8e11"
_MODEL = {"model": "claude-opus-5-5", "usage": {"input_tokens": 9000, "output_tokens": 20}}
# Not a whole number of hours: a test that takes long must not make it look older.
_AGE = dt.timedelta(hours=3, minutes=20)


def _list_messages(folder: Path) -> list[tuple[str, object]]:
    file = str(folder / "src" / "retry.py")
    content = {"file_path": file, "content": "def retry(): ...\n"}
    return [
        ("user", "Add a retry with backoff to the HTTP client in src/retry.py"),
        ("assistant", [{"type": "tool_use", "id": "1", "name": "Write", "input": content}]),
        ("user", [{"type": "tool_result", "tool_use_id": "1", "content": "File created"}]),
        ("assistant", [{"type": "text", "text": "Next I will run the tests."}]),
        ("assistant", [_call("2", "Bash", command="pytest tests/test_retry.py")]),
    ]


def _call(number: str, name: str, **arguments: str) -> dict[str, object]:
    return {"type": "tool_use", "id": number, "name": name, "input": arguments}


def main() -> None:
    """Write the session where Claude Code keeps it, and the file that it edited."""
    folder = Path.cwd()
    began = dt.datetime.now(dt.UTC) - _AGE
    munged = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    place = Path.home() / ".claude" / "projects" / munged / f"{_SESSION}.jsonl"
    place.parent.mkdir(parents=True)
    common = {"sessionId": _SESSION, "cwd": str(folder), "gitBranch": "main", "version": "2.1.325"}
    with place.open("w", encoding="utf-8") as file:
        for number, (role, content) in enumerate(_list_messages(folder)):
            message = {"role": role, "content": content, **(_MODEL if role != "user" else {})}
            at = (began + dt.timedelta(seconds=number)).isoformat()
            entry = {"type": role, "message": message, "uuid": str(number), "timestamp": at}
            file.write(json.dumps({**common, **entry}) + "\n")
    edited = folder / "src" / "retry.py"
    edited.write_text("def retry(): ...\n", encoding="utf-8")
    for path in (place, edited):
        os.utime(path, (began.timestamp(), began.timestamp()))


if __name__ == "__main__":
    main()
