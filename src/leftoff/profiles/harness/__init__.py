"""harness: features, memory layers and a briefing in `.claude-harness/`.

Features, memory and the state of agents that work together belong to the project, in the main
worktree. Each worktree has its own progress, briefing and session state.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leftoff.projects.project import Project

if TYPE_CHECKING:
    from leftoff.profiles.harness.checkpoints import read as read
    from leftoff.profiles.harness.harness_reader import folders as folders
    from leftoff.profiles.harness.harness_reader import is_here as is_here
    from leftoff.profiles.harness.harness_reader import list_natives as list_natives
    from leftoff.profiles.harness.harness_reader import read_changed as read_changed
    from leftoff.profiles.harness.harness_reader import read_more as read_more
    from leftoff.profiles.harness.harness_writer import write as write

SETTINGS: Mapping[str, Any] = {
    "on_resume": "keep",
    "confirm": "never",
    "naming": "auto",
    "noise": "panel",
    "compaction": "allow",
    "briefing_file": ".claude-harness/session-briefing.md",
    "advise_clear": True,
    # The whole page, which has at most 1500 tokens.
    "memory_budget": 1600,
}
HOLDS = frozenset(
    {
        *("name", "summary", "intent", "left_off", "done", "next_action", "next_steps"),
        *(
            "blockers",
            "questions",
            "decisions",
            "failed",
            "notes",
            "files_modified",
            "artifacts",
            "todos",
            "plan",
        ),
        *("tdd_phase", "feature", "session_id", "agent", "reason", "branch", "head", "dirty"),
        "last_commit",
    }
)
IS_LIVING = False
PER_WORKTREE = False
WANTS_KNOWLEDGE = True
EVENTS: frozenset[str] = frozenset()
NATIVE = frozenset({"*"})


def home(project: Project) -> Path:
    """Return the folder in the main worktree."""
    return project.root / ".claude-harness"


def find_stale_names(folder: Path) -> list[str]:
    """Return nothing: no file of this layout lists checkpoints."""
    del folder
    return []


# Every command reads the settings. Loading the rest would make it two thirds slower, so each
# function here is loaded on first use: its name, and the module that defines it.
_LATER = {
    "is_here": "harness_reader",
    "folders": "harness_reader",
    "list_natives": "harness_reader",
    "read_more": "harness_reader",
    "read_changed": "harness_reader",
    "read": "checkpoints",
    "write": "harness_writer",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
