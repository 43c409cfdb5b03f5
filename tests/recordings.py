"""Read recorded and hand-made sessions in tests."""

import json
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from leftoff.agents.agent import Agent
from leftoff.agents.json_lines import ReadCursor, Reading
from leftoff.agents.loose_values import dash_path
from leftoff.agents.stream import SessionEvent

RECORDED = Path(__file__).parent / "agents" / "recorded"

E = TypeVar("E", bound=SessionEvent)


def read_file(agent: Agent, path: Path) -> list[SessionEvent]:
    """Read a whole session file as the program does."""
    if agent.recognises(path.read_bytes()[:65536], path) == "document":
        return list(agent.read_document(path, ""))
    reading = Reading(path, ReadCursor(), agent.new_reader({}))
    return [event for batch in reading.batches() for event in batch]


def feed(agent: Agent, records: Iterable[dict[str, Any]]) -> list[SessionEvent]:
    """Feed hand-made lines to a fresh reader."""
    reader = agent.new_reader({})
    return [event for record in records for event in reader.feed(json.dumps(record).encode())]


def only(events: Iterable[SessionEvent], kind: type[E]) -> list[E]:
    """Pick the events of one kind."""
    return [event for event in events if isinstance(event, kind)]


# Where each recorded session was recorded, and where its agent keeps it.
_WHERE = b"/home/dev/repo"
_PLACES = {
    "claude": (
        "claude/p_edit_write_commit_failure.jsonl",
        "projects/-{folder}/90d8a614-02e6-4cd4-a205-d9d4a17a360e.jsonl",
    ),
    "codex": (
        "codex/rollout-0.166.jsonl",
        "sessions/2026/11/15/rollout-2026-11-15T19-15-08-01a1e0a2-7ec6-7e31-a1a5-d152003beb90.jsonl",
    ),
    "gemini": ("gemini/session.jsonl", "tmp/repo/chats/session-2026-11-15T19-21-7a911f14.jsonl"),
    "copilot": (
        "copilot/events-todos.jsonl",
        "session-state/9e296613-1bae-4c83-8d3b-b1b682407937/events.jsonl",
    ),
    "cursor": ("cursor/conversation.jsonl", "projects/{folder}/agent-transcripts/c-1/c-1.jsonl"),
}
# The ids of the recorded sessions.
SESSION_IDS = {
    "claude": "90d8a614-02e6-4cd4-a205-d9d4a17a360e",
    "codex": "01a1e0a2-7ec6-7e31-a1a5-d152003beb90",
    "gemini": "7a911f14-2b91-41f7-88b3-cd05e43d0881",
    "opencode": "ses_e1f540aecffepaHwr6bYdaRWxI",
    "copilot": "9e296613-1bae-4c83-8d3b-b1b682407937",
    "cursor": "c-1",
}


def leave_session(agent: str, root: Path, folder: Path) -> Path:
    """Put an agent's recorded session into its own folder, as if it had run in another folder."""
    if agent == "opencode":
        return _leave_database(root, folder)
    recorded, place = _PLACES[agent]
    path = root / place.format(folder=dash_path(str(folder)))
    path.parent.mkdir(parents=True)
    data = (RECORDED / recorded).read_bytes()
    path.write_bytes(data.replace(_WHERE, str(folder).encode()))
    if agent == "gemini":
        known = {"projects": {str(folder): "repo"}}
        (root / "projects.json").write_text(json.dumps(known), encoding="utf-8")
    return path


def _leave_database(root: Path, folder: Path) -> Path:
    root.mkdir(parents=True)
    path = root / "opencode.db"
    text = (RECORDED / "opencode" / "dump.json").read_text(encoding="utf-8")
    tables = json.loads(text.replace(_WHERE.decode(), str(folder)))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript((RECORDED / "opencode" / "schema.sql").read_text(encoding="utf-8"))
        for table, rows in tables.items():
            for row in rows:
                marks, columns = ", ".join("?" * len(row)), ", ".join(row)
                statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608
                database.execute(statement, list(row.values()))
        # leftoff looks back a month; the other agents' files are as new as the test makes them.
        hour_ago = int((time.time() - 3600) * 1000)
        database.execute("UPDATE session SET time_updated = ?", (hour_ago,))
        database.commit()
    return path
