"""quoin: checkpoints of paths, a mark for the session that should resume one, blocked prompts.

Everything is in `.workflow_artifacts`: a file for each save, `pending-restore` and `pending-prompt`
files by session, a cost ledger for each task, and quoin's own trash.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from leftoff.profiles import cost_ledger as ledgers
from leftoff.profiles.profile import AtWork, More, Native
from leftoff.profiles.quoin import pidfiles, quoin_layout, sentinels
from leftoff.profiles.quoin.pidfiles import path_of as work_path
from leftoff.profiles.quoin.pidfiles import text_of as work_text
from leftoff.profiles.quoin.quoin_layout import task_of
from leftoff.profiles.quoin.quoin_writer import write
from leftoff.profiles.quoin.sentinels import CHECKPOINTS, MEMORY, marks
from leftoff.profiles.quoin.skill_notes import read_notes
from leftoff.profiles.regular_files import list_names, list_newest
from leftoff.projects.project import Project
from leftoff.session.prompt_files import FilePrompt

SETTINGS: Mapping[str, Any] = {
    "on_resume": "keep",
    "confirm": "ask",
    "naming": "auto",
    "same_name": "revise",
    "noise": "report",
    "content": "paths",
    "quality": [],
    "advise_at": 70.0,
    "capture_at": 95.0,
    "prompts": "keep",
    "compaction": "wait",
    "offer_days": 7,
}
HOLDS = frozenset(
    {
        "name", "trigger", "agent", "session_id", "transcript", "branch", "summary", "intent",
        "left_off", "done", "next_action", "blockers", "questions", "decisions", "notes",
        "artifacts", "plan", "pending_prompts", "context",
    }
)  # fmt: skip
IS_LIVING = False
PER_WORKTREE = True
WANTS_KNOWLEDGE = False
EVENTS: frozenset[str] = frozenset()
NATIVE = frozenset({"*"})

_ROOT = ".workflow_artifacts"
_SUFFIX = ".md"


def home(project: Project) -> Path:
    """Return the outermost folder of artifacts around the worktree, below the home folder."""
    folders = [project.worktree, *project.worktree.parents]
    user = project.environment.home
    below = folders[: folders.index(user)] if user in folders else folders[:1]
    found = [folder / _ROOT for folder in below if (folder / _ROOT).is_dir()]
    return found[-1] if found else project.worktree / _ROOT


def is_here(folder: Path) -> bool:
    """Return whether this folder contains anything from a session."""
    memory = folder / MEMORY
    return next(list_natives(folder), None) is not None or any(memory.glob("pending-*.txt"))


def folders(folder: Path) -> list[Path]:
    """Return the folders with checkpoints and waiting items, and the files that may change."""
    memory = folder / MEMORY
    checkpoints = folder / CHECKPOINTS
    newest = list_newest(checkpoints, _SUFFIX)
    return [checkpoints, memory, *newest, *memory.glob("pending-*.txt")]


def find_stale_names(folder: Path) -> list[str]:
    """Return nothing: there is no index of names."""
    del folder
    return []


def list_natives(folder: Path) -> Iterator[Path]:
    """Yield the files of checkpoints, oldest first."""
    checkpoints = folder / CHECKPOINTS
    yield from (checkpoints / name for name in sorted(list_names(checkpoints, _SUFFIX)))


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file; the mark that names it shows its session."""
    return quoin_layout.read(path, data, _find_pending(path.parents[2]))


def _find_pending(folder: Path) -> Mapping[str, str]:
    memory = folder / MEMORY
    changed = memory.stat().st_mtime_ns if memory.is_dir() else 0
    return _read_pending(folder, changed)


@lru_cache(maxsize=4)
def _read_pending(folder: Path, _changed: int) -> Mapping[str, str]:
    return {target.name: session_id for session_id, target in reversed(marks(folder).items())}


def read_more(folder: Path) -> More:
    """Read the waiting prompts."""
    return More(prompts=waiting(folder))


def waiting(folder: Path) -> Mapping[str, Sequence[FilePrompt]]:
    """Return the waiting prompts, by session."""
    return sentinels.prompts(folder)


def prompt_file(folder: Path, session_id: str) -> Path | None:
    """Return the file with the prompts of a session; None if its id cannot be a file name."""
    path = sentinels.prompt_path(session_id)
    return folder / path if path is not None else None


def pending(folder: Path) -> Mapping[str, Path]:
    """Return the checkpoints that wait to be resumed, by session, newest first."""
    return marks(folder)


def ledger(folder: Path, task: str | None) -> Iterator[ledgers.Row]:
    """Yield the ledger rows of one task, or of all tasks."""
    return ledgers.rows(folder, task)


def at_work(folder: Path) -> Iterator[tuple[Path, AtWork]]:
    """Yield each mark of a process with its content, whether it is still running or not."""
    return pidfiles.find_all(folder)


__all__ = [
    "EVENTS", "HOLDS", "IS_LIVING", "NATIVE", "PER_WORKTREE", "SETTINGS", "WANTS_KNOWLEDGE",
    "at_work", "find_stale_names", "folders", "home", "is_here", "ledger", "list_natives",
    "pending", "prompt_file", "read", "read_more", "read_notes", "task_of", "waiting",
    "work_path", "work_text", "write",
]  # fmt: skip
