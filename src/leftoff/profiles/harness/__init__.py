"""harness: features, layers of memory and a briefing in `.claude-harness/`.

Features, memory and agents that work together are the project's, in the main worktree. Progress,
briefing and the state of sessions are each worktree's own.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from leftoff.paths import Project
from leftoff.profiles.profile import Files, More, Native, News

SETTINGS: Mapping[str, Any] = {
    "on_resume": "keep",
    "confirm": "never",
    "naming": "auto",
    "noise": "panel",
    "compaction": "allow",
    "briefing_file": ".claude-harness/session-briefing.md",
    "advise_clear": True,
}
HOLDS = frozenset(
    {
        *("name", "summary", "intent", "left_off", "done", "next_action", "blockers", "questions"),
        *("decisions", "failed", "notes", "files_modified", "artifacts", "todos", "plan"),
        *("tdd_phase", "feature", "session_id", "agent", "reason", "branch", "head", "dirty"),
        "last_commit",
    }
)
IS_LIVING = False
PER_WORKTREE = False
WANTS_KNOWLEDGE = True
EVENTS: frozenset[str] = frozenset()
NATIVE = frozenset({"*"})

# The settings are asked for by every command, so what they do not need is loaded when it is used.


def home(project: Project) -> Path:
    """Return the folder in the main worktree."""
    return project.root / ".claude-harness"


def is_here(folder: Path) -> bool:
    """Say whether there is anything of the layout, of whichever version."""
    from leftoff.profiles.harness import harness_reader  # noqa: PLC0415 - see above

    return harness_reader.is_here(folder)


def folders(folder: Path) -> list[Path]:
    """Return the folder and all files in it that others may change."""
    from leftoff.profiles.harness import harness_reader  # noqa: PLC0415 - see above

    return harness_reader.watched(folder)


def listed(folder: Path) -> list[str]:
    """Return nothing: no file of the layout lists checkpoints."""
    del folder
    return []


def natives(folder: Path) -> Iterator[Path]:
    """Yield the progress and the working contexts of sessions."""
    from leftoff.profiles.harness import harness_reader  # noqa: PLC0415 - see above

    return harness_reader.natives(folder)


def read(path: Path, data: bytes) -> Native:
    """Read a progress file, a working context or the record beside one."""
    from leftoff.profiles.harness import checkpoints  # noqa: PLC0415 - see above

    return checkpoints.read(path, data)


def more(folder: Path) -> More:
    """Read features, memory, loops and agents that work together."""
    from leftoff.profiles.harness import harness_reader  # noqa: PLC0415 - see above

    return harness_reader.more(folder)


def changed(folder: Path, names: Collection[str]) -> More:
    """Read what some files hold of features and memory."""
    from leftoff.profiles.harness import harness_reader  # noqa: PLC0415 - see above

    return harness_reader.more(folder, only=names)


def write(files: Files, news: News) -> None:
    """Bring the files up to date with what was saved, remembered and worked on."""
    from leftoff.profiles.harness import harness_writer  # noqa: PLC0415 - see above

    harness_writer.write(files, news)
