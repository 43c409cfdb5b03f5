"""Define every error that a user can get, with its exit code.

LeftoffError                1  a problem that the user can fix
├── NoSuchCheckpoint        1
├── CheckpointEnded         1
├── CheckpointUnreadable    1
├── NotAProject             1
├── StoreRefused            1  unsafe or unwritable files in the store
├── SessionUnreadable       1
├── UsageError              2  invalid command-line usage
│   └── NameRefused         2
├── ChoiceNeeded            3  holds the choices, so that an agent can ask its user
└── BelowQualityBar         4  holds the broken rules
"""

import os
from collections.abc import Sequence
from typing import Any

EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class LeftoffError(Exception):
    """A problem described in one sentence, with a hint about what to do."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NoSuchCheckpoint(LeftoffError):
    """No checkpoint has this name or id."""


class CheckpointEnded(LeftoffError):
    """The checkpoint to resume was finished, cleared or dropped."""


class CheckpointUnreadable(LeftoffError):
    """A checkpoint file is torn, damaged or of an unknown shape."""


class NotAProject(LeftoffError):
    """The folder must not become a project by accident."""


class StoreRefused(LeftoffError):
    """A file or folder of the store is unsafe to use, or nothing can be written."""


class SessionUnreadable(LeftoffError):
    """A session file cannot be read, or belongs to no supported agent."""


class UsageError(LeftoffError):
    """Invalid command-line usage."""

    exit_code = 2


class NameRefused(UsageError):
    """The name is not allowed for a checkpoint."""


class ChoiceNeeded(LeftoffError):
    """The user must choose; outside a terminal the choices are printed as JSON."""

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


def wrap_os_error(error: OSError) -> LeftoffError:
    """Turn an OSError, such as a full disk, into an error with a hint."""
    what = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    return LeftoffError(
        f"Operating system error: {what}{error.strerror or error}",
        hint="Everything saved before this is safe.",
    )
