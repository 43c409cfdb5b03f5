"""The options of a ship and the results of its steps."""

from collections.abc import Callable
from typing import Literal

import msgspec

from leftoff.checkpoint import Commit
from leftoff.git.github import Pull
from leftoff.knowledge.features.work_context import WorkingContext
from leftoff.ship.choose_files import LeftOut

State = Literal["done", "skipped", "failed", "planned"]
Name = Literal[
    "save", "memory", "archive", "briefing", "checks", "stage", "commit", "push", "pull request",
    "tidy",
]  # fmt: skip


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options that the user passed."""

    message: str = ""
    push: bool = True
    pull_request: bool = True
    may_ask: bool = False
    """Whether git may ask for passwords on the terminal."""


class ShipStep(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one step, in one sentence; `hint` says how to recover from a failure."""

    name: Name
    state: State
    text: str
    hint: str = ""
    lines: list[str] = []


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One of the user's commands after its run, with the last lines of its output."""

    command: str
    has_passed: bool
    seconds: float
    tail: list[str] = []


class ShipReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a ship did."""

    steps: list[ShipStep]
    checkpoint: str | None = None
    context: WorkingContext | None = None
    branch: str | None = None
    commit: Commit | None = None
    is_new: bool = False
    """Whether this run made the commit."""
    remote: str | None = None
    repository: str | None = None
    pushed: bool = False
    pull: Pull | None = None
    checks: list[Check] = []
    left_out: list[LeftOut] = []
    remaining: list[str] = []
    kept: dict[str, str] = {}

    @property
    def has_failed(self) -> bool:
        """Whether the user has something to fix."""
        return any(step.state == "failed" for step in self.steps)


class Listener(msgspec.Struct, frozen=True, kw_only=True):
    """Callbacks that follow a ship while it runs."""

    begins: Callable[[Name], None] = lambda _name: None
    says: Callable[[str], None] = lambda _line: None
    """Receives each line that a check prints."""
    ends: Callable[[ShipStep], None] = lambda _step: None
