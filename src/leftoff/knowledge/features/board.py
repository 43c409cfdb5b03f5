"""Features, fixes and the work on them, as values.

Features and fixes belong to the project, so every worktree sees the same ones. A loop is the work
on one of them, attempt after attempt, and belongs to the session or worktree that does it.
"""

# ruff: noqa: RUF012 - msgspec copies list and dict defaults for every struct; ruff knows that
# only for classes that name msgspec themselves.
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from leftoff.checkpoint import Record, to_plain

Status = Literal[
    "pending", "needs_tests", "in_progress", "passing", "failing", "blocked", "escalated"
]
LoopStatus = Literal["idle", "pending", "in_progress", "completed", "escalated", "needs_review"]
LoopType = Literal["feature", "fix"]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]

MAX_ATTEMPTS = 15


class Scenario(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A condition that must hold before a feature counts as done."""

    scenario: str = ""
    given: str = ""
    when: str = ""
    then: str = ""


class WorkItem(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The fields that features and fixes have in common."""

    id: str
    name: str
    description: str = ""
    status: Status = "pending"
    phase: str | None = None
    verification: dict[str, Any] = {}
    attempts: int = 0
    max_attempts: int = MAX_ATTEMPTS
    scenarios: list[Scenario] = []
    related_files: list[str] = []
    issue: int | None = None
    pr: int | None = None
    branch: str | None = None
    labels: list[str] = []
    created_at: Moment | None = None
    updated_at: Moment | None = None
    archived_at: Moment | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the work on it is done; older files mark that with `passes`."""
        return self.status == "passing" or self.extra.get("passes") is True

    @property
    def is_archived(self) -> bool:
        """Whether it is archived."""
        return self.archived_at is not None


class Feature(WorkItem, frozen=True, kw_only=True, omit_defaults=True):
    """Something that the project should be able to do: `feature-007`."""

    priority: int | str | None = None
    dependencies: list[str] = []


class Fix(WorkItem, frozen=True, kw_only=True, omit_defaults=True):
    """A repair of a feature: `fix-feature-007-1`."""

    linked_to: str
    related_issue: int | None = None
    """The issue of that feature, if the fix itself names it."""


class AgentResult(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one of several agents that worked together."""

    agent: str
    status: Literal["completed", "failed"]
    role: str = ""
    feature: str | None = None
    summary: str = ""
    files: list[str] = []
    errors: list[str] = []
    root_cause: str = ""
    prevention: str = ""
    timestamp: str | None = None


class Choice(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A decision that agents made together."""

    decision: str
    rationale: str = ""
    alternatives: list[str] = []
    impact: str = ""
    feature: str | None = None


class Team(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Agents that work on one feature at the same time, with the progress of each."""

    name: str
    feature: str | None = None
    mates: list[AgentResult] = []


class Orchestration(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Several agents working together, until their findings are in memory."""

    session: str | None = None
    results: list[AgentResult] = []
    team: Team | None = None
    decisions: list[Choice] = []
    patterns: list[str] = []


class Board(Record, frozen=True, kw_only=True, omit_defaults=True):
    """All features and fixes of a project, including archived ones."""

    features: list[Feature] = []
    fixes: list[Fix] = []
    orchestration: Orchestration = Orchestration()
    taken_in: int = 0
    """How many bytes of the log of postponed changes this board already includes."""

    @property
    def items(self) -> list[Feature | Fix]:
        """Every feature and fix."""
        return [*self.features, *self.fixes]

    @property
    def active_feature(self) -> Feature | None:
        """The first feature that is not finished."""
        return next((each for each in self.open_items if isinstance(each, Feature)), None)

    @property
    def open_items(self) -> list[Feature | Fix]:
        """The features and fixes that are not done."""
        return [each for each in self.items if not (each.is_archived or each.is_complete)]

    @property
    def pressing(self) -> list[Feature | Fix]:
        """The open items, sorted so that active ones survive truncation."""
        return sorted(self.open_items, key=lambda each: each.status != "in_progress")

    @property
    def archive(self) -> list[Feature | Fix]:
        """The archived features and fixes."""
        return [each for each in self.items if each.is_archived]


class Attempt(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt and its result: `passed`, `failed`, or another system's word."""

    attempt: int
    approach: str
    result: str
    errors: list[str] = []
    root_cause: str = ""


class Tasks(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The agent's own tasks for a loop, by id."""

    enabled: bool = False
    chain: list[str] = []
    current: str | None = None
    completed: list[str] = []


class Interrupted(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Where a session left an unfinished loop."""

    feature: str
    attempt: int
    reason: str
    at: Moment
    phase: str | None = None
    session_id: str | None = None


class Loop(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The work on one feature or fix; `attempt` is the current one."""

    feature: str | None = None
    name: str | None = None
    type: LoopType = "feature"
    linked_to: str | None = None
    status: LoopStatus = "idle"
    phase: str | None = None
    attempt: int = 0
    max_attempts: int = MAX_ATTEMPTS
    started_at: Moment | None = None
    last_attempt_at: Moment | None = None
    verification: dict[str, Any] = {}
    history: list[Attempt] = []
    tasks: Tasks = Tasks()
    last_checkpoint: str | None = None
    escalation_requested: bool = False
    interrupted: Interrupted | None = None
    worktree: str | None = None
    session_id: str | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether work on it is in progress, or was when the session stopped."""
        return self.feature is not None and self.status in {"pending", "in_progress"}

    @property
    def scope(self) -> str | None:
        """The feature that commits name: the loop's own, or the one that its fix repairs."""
        return self.linked_to if self.type == "fix" else self.feature


# --- boards as JSON, with unknown keys kept at every level ---


RecordType = TypeVar("RecordType", bound=Record)

# The record type of each key that holds one record, or a list of them.
_PARTS: dict[type[Record], dict[str, type[Record]]] = {
    Board: {"features": Feature, "fixes": Fix, "orchestration": Orchestration},
    Feature: {"scenarios": Scenario},
    Fix: {"scenarios": Scenario},
    Orchestration: {"results": AgentResult, "team": Team, "decisions": Choice},
    Team: {"mates": AgentResult},
    Loop: {"history": Attempt, "tasks": Tasks, "interrupted": Interrupted},
}
_EXTRA = msgspec.structs.fields(Record)[0].encode_name


def from_plain(plain: object, record: type[RecordType]) -> RecordType:
    """Turn decoded JSON into a record, checking every known key."""
    return msgspec.convert(_split(plain, record), record, strict=True)


def decode(data: bytes, record: type[RecordType]) -> RecordType:
    """Read a record's JSON."""
    return from_plain(msgspec.json.decode(data), record)


def encode(record: Record) -> bytes:
    """Write a record as indented JSON, with one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(to_plain(record)), indent=1) + b"\n"


def _split(plain: object, record: type[Record]) -> object:
    if not isinstance(plain, dict):
        return plain
    parts = _PARTS.get(record, {})
    known = {*record.__struct_fields__} - {"extra"}
    extra: dict[str, Any] = {key: value for key, value in plain.items() if key not in known}
    values = {
        key: _split_part(value, parts.get(key)) for key, value in plain.items() if key in known
    }
    return {**values, _EXTRA: extra} if extra else values


def _split_part(value: object, part: type[Record] | None) -> object:
    if part is None:
        return value
    if isinstance(value, list):
        return [_split(each, part) for each in value]
    return _split(value, part)
