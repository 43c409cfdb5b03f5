"""The checkpoint: an immutable saved state, as typed values and as flat JSON."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from leftoff.errors import CheckpointUnreadable

SCHEMA = 1

MANUAL = "manual"
TRIGGERS = (
    MANUAL,
    "precompact",
    "context",
    "close",
    "idle",
    "long-command",
    "session-end",
    "recovered",
    "ship",
    "import",
)

_EXTRA = "__extra__"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that keeps the keys it does not know, so that a newer version's file survives us."""

    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=_EXTRA)


class Transcript(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Where the agent keeps the session, and how far it had been read."""

    path: str
    offset: int = 0


class Commit(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A git commit by hash and first line."""

    sha: str
    subject: str = ""


class NextAction(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What to do next; *stated* by a person or agent, or *inferred* from the session."""

    text: str
    origin: Literal["stated", "inferred"] = "stated"


class Decision(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided, and why."""

    what: str
    why: str = ""
    alternatives: list[str] = []
    impact: str = ""


class Failure(Record, frozen=True, kw_only=True, omit_defaults=True):
    """An approach that did not work, and why."""

    what: str
    why: str = ""


class FileRef(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A file by path and fingerprint; never by content."""

    path: str
    role: str = ""
    size: int | None = None
    mtime: float | None = None
    sha256: str | None = None


class Todo(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One item of the agent's own todo list."""

    text: str
    status: str = "pending"


class Plan(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The plan in use and the step the work stands at."""

    path: str | None = None
    title: str | None = None
    step: int | None = None
    total: int | None = None
    stage: str | None = None


class InFlight(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The tool call that had begun and not ended."""

    tool: str
    what: str = ""


class LastFailure(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The last failing command that no later run repaired."""

    command: str
    error: str = ""


class ContextUse(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How full the agent's context window was."""

    tokens: int | None = None
    window: int | None = None
    percent: float | None = None


class Checkpoint(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Where a session left off. Every key is optional but the first four."""

    schema: int
    id: str
    saved_at: Annotated[datetime, msgspec.Meta(tz=True)]
    trigger: str
    name: str | None = None

    agent: str | None = None
    session_id: str | None = None
    transcript: Transcript | None = None
    project: str | None = None
    worktree: str | None = None
    branch: str | None = None
    head: str | None = None
    dirty: list[str] = []
    last_commit: Commit | None = None

    summary: str | None = None
    intent: str | None = None
    left_off: str | None = None
    done: list[str] = []
    next_action: NextAction | None = None
    blockers: list[str] = []
    questions: list[str] = []
    decisions: list[Decision] = []
    failed: list[Failure] = []
    notes: list[str] = []

    files_modified: list[str] = []
    focus_files: list[str] = []
    files: list[FileRef] = []
    artifacts: dict[str, str] = {}
    todos: list[Todo] = []
    plan: Plan | None = None
    tdd_phase: str | None = None
    feature: str | None = None
    in_flight: InFlight | None = None
    last_failure: LastFailure | None = None
    pending_prompts: list[str] = []
    context: ContextUse | None = None

    @property
    def is_autosave(self) -> bool:
        """Whether a hook saved it, rather than a person or agent on purpose."""
        return self.name is None

    @property
    def task(self) -> str:
        """The one line that says what the work is about."""
        return self.summary or self.intent or self.left_off or self.name or ""


# The record inside each key that holds one, or a list of them.
_PARTS: dict[str, type[Record]] = {
    "transcript": Transcript,
    "last_commit": Commit,
    "next_action": NextAction,
    "decisions": Decision,
    "failed": Failure,
    "files": FileRef,
    "todos": Todo,
    "plan": Plan,
    "in_flight": InFlight,
    "last_failure": LastFailure,
    "context": ContextUse,
}
