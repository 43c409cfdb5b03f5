"""Run the user's own build and test commands, and suggest some where none are set."""

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

from leftoff.ship.outcome import Check, Listener
from leftoff.subprocesses import Ended, Program, environment, run

_TAIL_LINES = 12
_KEPT_BYTES = 200_000


def run_checks(commands: Sequence[str], folder: Path, listener: Listener) -> list[Check]:
    """Run every command, even after one fails, and pass on their output as it appears."""
    return [_run(command, folder, listener) for command in commands]


def _run(command: str, folder: Path, listener: Listener) -> Check:
    listener.says(f"$ {command}")
    started = time.monotonic()
    ended = run(
        Program(
            arguments=("sh", "-c", command),
            folder=folder,
            environment=environment(),
            kept_bytes=_KEPT_BYTES,
            on_line=listener.says,
        )
    )
    return Check(
        command=command,
        has_passed=ended.is_done,
        seconds=time.monotonic() - started,
        tail=_read_tail(ended),
    )


def _read_tail(ended: Ended) -> list[str]:
    """Return the last lines of the output, with the error stream after the rest."""
    texts = (ended.out.decode("utf-8", "replace"), ended.errors.decode("utf-8", "replace"))
    lines = [line.rstrip() for text in texts for line in text.splitlines() if line.strip()]
    return lines[-_TAIL_LINES:]


# --- commands that a project probably has ---


_MOST_BYTES = 200_000
_SCRIPTS = ("build", "test", "lint", "typecheck")
_USUAL = {
    "Cargo.toml": "cargo test",
    "go.mod": "go test ./...",
    "pyproject.toml": "python -m pytest",
    "requirements.txt": "python -m pytest",
}


def suggest_checks(worktree: Path) -> list[str]:
    """Return commands that this project probably has; nothing runs them before you set them."""
    targets = re.findall(r"^(test|check|lint):", _read(worktree / "Makefile"), re.MULTILINE)
    if targets:
        return [f"make {each}" for each in dict.fromkeys(targets)]
    try:
        scripts = json.loads(_read(worktree / "package.json") or "{}").get("scripts", {})
        found = [f"npm run {each}" for each in _SCRIPTS if each in scripts]
    except (ValueError, AttributeError, TypeError, RecursionError):
        found = []
    here = (command for name, command in _USUAL.items() if (worktree / name).is_file())
    return found or [*dict.fromkeys(here)][:1]


def _read(path: Path) -> str:
    try:
        return path.read_bytes()[:_MOST_BYTES].decode("utf-8", "replace") if path.is_file() else ""
    except OSError:
        return ""
