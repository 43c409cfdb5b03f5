"""A project that uses quoin, with files as quoin itself writes them."""

import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo

SESSION = "6f0c1d3e-1111-4b5c-9d0e-000000000001"
OTHER = "6f0c1d3e-2222-4b5c-9d0e-000000000002"
THIRD = "6f0c1d3e-3333-4b5c-9d0e-000000000003"
MISMATCH = "Session-id mismatch: sentinel is from a prior session. Using it anyway."
TEN = [
    "Status",
    "Current stage",
    "Active task",
    "Branch",
    "Last user intent",
    "In-flight artifacts",
    "Open questions",
    "Decisions made",
    "Unfinished work",
    "Restore hint",
]
STATE = """## Status
in_progress
## Completed in this session
1. ✓ T-03 backoff helper (a1b2c3d)
## Unfinished work
- T-04 wire processRefund()
- T-05 document the limits
## Open questions
- dedupe window?
## Decisions made
- Backoff with jitter — all clients come back at once
## Cost
- Session UUID: {session}
- Phase: implement
- end_of_day_due: yes
"""


class Workspace:
    """A project that follows quoin."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / ".workflow_artifacts"
        self.memory = self.root / "memory"

    def checkpoints(self) -> list[Path]:
        """List the files of checkpoints."""
        return sorted((self.memory / "checkpoints").glob("*.md"))

    def marks(self) -> list[str]:
        """Tell for which sessions something waits."""
        found = sorted(self.memory.glob("pending-restore-*.txt"))
        return [path.stem.removeprefix("pending-restore-") for path in found]

    def trashed(self) -> list[str]:
        """List what is in today's trash."""
        return sorted(path.name for path in (self.memory / "trash").glob("*/*"))

    def state(self, name: str, session: str = SESSION, *, age: float = 0.0) -> Path:
        """Write a session's file, so many seconds ago."""
        path = self.memory / "sessions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STATE.format(session=session), encoding="utf-8")
        os.utime(path, (time.time() - age, time.time() - age))
        return path

    def native(self, task: str, session: str = "", *, days: float = 0.0, kind: str = "") -> Path:
        """Write a checkpoint as quoin does, with its mark, so many days ago."""
        at = datetime.now(UTC) - timedelta(days=days)
        path = self.memory / "checkpoints" / f"{at:%Y-%m-%d}-{task}{kind}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        status = "precompact save (automatic)" if kind else "checkpoint save (voluntary)"
        bodies = [status, "implement", task, f"feat/{task}", f"Work on {task}{kind}", "", "", ""]
        parts = zip(TEN, [*bodies, "- the rest", "Run /checkpoint --restore"], strict=True)
        text = "\n".join(f"## {title}\n{body or '(none)'}\n" for title, body in parts)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (at.timestamp(), at.timestamp()))
        if session:
            self.mark(session, path)
        return path

    def mark(self, session: str, path: Path) -> Path:
        """Let a checkpoint wait for a session."""
        mark = self.memory / f"pending-restore-{session}.txt"
        mark.write_text(f"{path}\n", encoding="utf-8")
        return mark


def sections(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


@pytest.fixture
def work(cli: Cli, repo: Repo) -> Workspace:
    """Follow quoin."""
    return followed(cli, repo)


def followed(cli: Cli, repo: Repo) -> Workspace:
    """Let the project follow quoin."""
    cli.ok("config", "set", "profile", "quoin", "--project")
    cli.ok("config", "set", "mirror", "quoin", "--project")
    return Workspace(repo.folder)


@pytest.fixture
def in_session(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Run as an agent's session does."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return monkeypatch
