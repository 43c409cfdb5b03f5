"""Every error a user can meet, with its exit code.

LeftoffError                1  a problem the user can fix
├── NoSuchCheckpoint        1
├── CheckpointUnreadable    1
├── NotAProject             1
├── StoreRefused            1  something planted in the store, or no place to write
├── SessionUnreadable       1
├── Usage                   2  the words of the call are off
│   └── NameRefused         2
├── ChoiceNeeded            3  carries the choices, so that an agent can ask its user
└── BelowQualityBar         4  carries the broken rules
"""

from collections.abc import Sequence
from typing import Any

EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class LeftoffError(Exception):
    """A problem told in one sentence, with the way out."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NoSuchCheckpoint(LeftoffError):
    """No checkpoint has this name or id."""


class CheckpointUnreadable(LeftoffError):
    """A checkpoint file is torn, garbled or of an unknown shape."""


class NotAProject(LeftoffError):
    """The folder must not become a project by accident."""


class StoreRefused(LeftoffError):
    """The store holds something that must not be written through, or cannot be written at all."""


class SessionUnreadable(LeftoffError):
    """A file is not the session of any agent we know."""


class UsageError(LeftoffError):
    """The words of the call are off."""

    exit_code = 2


class NameRefused(UsageError):
    """A checkpoint may not have this name."""


class ChoiceNeeded(LeftoffError):
    """The user must choose; elsewhere than on a terminal the choices are printed as JSON."""

    exit_code = 3

    def __init__(
        self, message: str, *, question: str, choices: Sequence[dict[str, Any]], hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.question = question
        self.choices = list(choices)


class BelowQualityBar(LeftoffError):
    """A checkpoint breaks rules of the quality bar."""

    exit_code = 4

    def __init__(self, message: str, *, findings: Sequence[str], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.findings = list(findings)
