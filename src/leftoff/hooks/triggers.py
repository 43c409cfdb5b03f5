"""Decide when the state of a session is worth a checkpoint."""

import re
from typing import Literal, get_args

from leftoff.config import Settings

LONG_SECONDS = 30
IDLE_SECONDS = 600
LONG_WAY = 3
PAUSE_SECONDS = 300
_LONG_COMMAND = re.compile(
    r"\b(?:docker(?:[ -]compose)? (?:build|up|push|pull)|terraform (?:apply|destroy|plan)|"
    r"pulumi up|kubectl (?:apply|rollout)|helm (?:install|upgrade)|ansible-playbook|"
    r"(?:npm|pnpm|yarn|bun)(?: run)? (?:build|deploy|publish|install|ci)|"
    r"(?:vite|next|webpack) build|"
    r"cargo (?:build|test|bench|publish)|go (?:build|test) \./\.\.\.|make(?: -j\d*)?(?: \w+)*$|"
    r"cmake --build|ninja|bazel (?:build|test)|gradlew?|mvn |msbuild|xcodebuild|"
    r"tox|nox|pip install|uv sync|poetry install|deploy(?:\.sh)?\b|vercel|netlify deploy|"
    r"rsync |dd if=|pg_dump|pg_restore|mysqldump|alembic upgrade|sleep \d{2,})"
)

_LOOK = re.compile(
    r"\s*(?:ls|ll|cat|head|tail|less|pwd|echo|wc|which|file|stat|du|df|ps|env|date|tree|grep|rg|find"
    r"|git (?:status|log|diff|show|branch|blame))(?:\s[^;&|<>`$]*)?"
)


def is_long(command: str, timeout_seconds: float) -> bool:
    """Return whether a command may run so long that the session does not see its end."""
    return timeout_seconds > LONG_SECONDS or _LONG_COMMAND.search(command) is not None


def is_look(command: str) -> bool:
    """Return whether a command only reads."""
    return _LOOK.fullmatch(command) is not None


Priority = Literal["low", "medium", "high", "critical"]
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
"""From the least to the most urgent."""
# After these there may be no later chance to save.
_LAST_CHANCES = frozenset({"precompact", "session-end"})


def priority(trigger: str, percent: float | None, settings: Settings) -> Priority:
    """Return how urgent a trigger is, given how full the context is."""
    use = percent or 0.0
    if trigger in _LAST_CHANCES or (trigger == "close" and use > settings.urge_at):
        return "critical"
    if trigger == "context" or (trigger == "long-command" and use > settings.buffer_at):
        return "high"
    return "low" if trigger == "long-command" else "medium"


def is_wanted(urgency: Priority, settings: Settings, seconds_since: float | None) -> bool:
    """Return whether a trigger saves, given the time since the last autosave."""
    if PRIORITIES.index(urgency) < PRIORITIES.index(settings.autosave_from):
        return False
    is_pause = seconds_since is not None and seconds_since < settings.autosave_pause * 60
    return urgency == "critical" or not is_pause


def is_autosave_due(percent: float | None, settings: Settings) -> bool:
    """Return whether the context is so full that the state must be saved."""
    return percent is not None and round(percent * 100) > round(settings.autosave_at * 100)
