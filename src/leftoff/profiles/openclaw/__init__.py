"""openclaw: checkpoints that pass a quality bar, an autosave, a working buffer, working notes.

Each checkpoint is a file `memory/checkpoints/<name>.md` until somebody deletes it. Automatic saves
go to autosave.md beside them, with a line in autosave-log.md.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.git.query import printable
from leftoff.git.repository import is_tracked
from leftoff.names import RESERVED
from leftoff.profiles.openclaw import buffer_file, moments, openclaw_layout
from leftoff.profiles.openclaw.level_text import level
from leftoff.profiles.profile import Files, More, Native, StoreNews
from leftoff.profiles.regular_files import compute_digest
from leftoff.projects.project import Project
from leftoff.session import state_file

SETTINGS: Mapping[str, Any] = {
    "on_resume": "keep",
    "on_decline": "trash",
    "confirm": "always",
    "naming": "required",
    "noise": "full",
    "autosave_at": 70.0,
    "autosave_pause": 5.0,
    "buffer_at": 60.0,
    "notes": "profile",
    "note_prompts": True,
}
HOLDS = frozenset(
    {
        "name", "summary", "left_off", "done", "next_action", "blockers", "questions", "decisions",
        "failed", "notes", "files_modified", "artifacts", "plan", "branch", openclaw_layout.KEY,
        openclaw_layout.TEXT,
    }
)  # fmt: skip
IS_LIVING = True
PER_WORKTREE = False
WANTS_KNOWLEDGE = False
EVENTS: frozenset[str] = frozenset()
NATIVE = frozenset({"memory/checkpoints/*", "memory/working-buffer.md", state_file.FILE_NAME})

CHECKPOINTS = "memory/checkpoints"
AUTOSAVE = f"{CHECKPOINTS}/autosave.md"
LOG = f"{CHECKPOINTS}/autosave-log.md"
BUFFER = "memory/working-buffer.md"

_AUTOSAVE_NAME = AUTOSAVE.rpartition("/")[2]
_LOG_NAME = LOG.rpartition("/")[2]
_WORKSPACE = "OPENCLAW_WORKSPACE"


def home(project: Project) -> Path:
    """Return the workspace: the one in the environment, the project itself, or the user's."""
    named = project.environment.find_folder(_WORKSPACE)
    if named is not None:
        return named
    if (project.root / CHECKPOINTS).is_dir() or (project.root / state_file.FILE_NAME).is_file():
        return project.root
    return project.environment.home / ".openclaw" / "workspace"


def is_here(folder: Path) -> bool:
    """Return whether this workspace contains a checkpoint."""
    return next(list_natives(folder), None) is not None


def folders(folder: Path) -> list[Path]:
    """Return the folder with checkpoints, and the buffer's folder above it."""
    return [folder / CHECKPOINTS, folder / "memory"]


def list_natives(folder: Path) -> Iterator[Path]:
    """Yield the files of checkpoints, without the log of autosaves."""
    place = folder / CHECKPOINTS
    try:
        # Every hook reads this, and names sort faster than paths.
        names = sorted(entry.name for entry in os.scandir(place))
    except OSError:
        return
    for name in names:
        if name.endswith(".md") and name != _LOG_NAME and not name.startswith("."):
            yield place / name


def find_stale_names(folder: Path) -> list[str]:
    """Return nothing: the folder is the index."""
    del folder
    return []


def read_more(folder: Path) -> More:
    """Return nothing: working notes and the buffer are read in place."""
    del folder
    return More()


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    name = (
        path.stem.removesuffix(_mark(_read_owner(text)))
        if openclaw_layout.BESIDE in path.stem
        else path.stem
    )
    if f"{name}.md" == _AUTOSAVE_NAME:
        return _add_date(buffer_file.read(text, path), path)
    native = openclaw_layout.read(text, path)
    whole = data.decode("utf-8", "replace")
    # Without the text itself, an undo would bring a file back in our spelling.
    kept = {openclaw_layout.TEXT: whole} if whole.encode() == data and not native.problem else {}
    return _add_date(
        msgspec.structs.replace(native, name=name, fields={**native.fields, **kept}), path
    )


def _add_date(native: Native, path: Path) -> Native:
    """Add when a file was last written, which is what its age counts from."""
    written_at = moments.find_last_write(path)
    if native.problem or written_at is None or native.saved_at is None:
        return native
    # After a clone, git has just written the files that it tracks.
    if written_at - native.saved_at < moments.TOLERANCE or is_tracked(path):
        return native
    fields = {**native.fields, "as_of": written_at.isoformat()}
    return msgspec.structs.replace(native, fields=fields)


def write(files: Files, news: StoreNews) -> None:
    """Write the current state of each changed name, log autosaves, and extend the buffer."""
    project = _name_project(files, news)
    for name, checkpoint in news.current.items():
        path = f"{CHECKPOINTS}/{name}.md" if name else AUTOSAVE
        # With another profile's rules, somebody may have used the names of our own files.
        if name in RESERVED:
            continue
        path = _free(files, path, project)
        if checkpoint is None:
            files.trash(path)
            continue
        text = (
            openclaw_layout.render(checkpoint, project=project)
            if name
            else buffer_file.render(checkpoint, _read_state(files), project=project)
        )
        files.replace(path, text.encode("utf-8", "replace"), of=checkpoint.id)
    for checkpoint in filter(_is_listed, news.saved):
        line = buffer_file.log_line(checkpoint)
        files.append(LOG, line, key=checkpoint.id, head=buffer_file.LOG_TITLE)
    if news.session is not None and news.session.buffer:
        said = news.session.buffer
        files.edit(BUFFER, lambda text: buffer_file.add_exchanges(text, said, news.now))


def _name_project(files: Files, news: StoreNews) -> str:
    """Return the project's name for a workspace that it may share with others."""
    root = news.project.root
    return "" if files.root == root else printable(str(root))


def _free(files: Files, path: str, project: str) -> str:
    """Return the path for a file: another one if a different project already uses the name."""
    if not project:
        return path
    beside = path.removesuffix(".md") + f"{_mark(project)}.md"
    if files.read(beside) is not None:
        return beside
    there = (files.read(path) or b"").decode("utf-8", "replace")
    return path if _read_owner(there) in {"", project} else beside


def _mark(project: str) -> str:
    """Return the suffix that separates the files of projects with the same checkpoint name."""
    return f"{openclaw_layout.BESIDE}{compute_digest(project.encode())[:6]}"


def _read_owner(text: str) -> str:
    """Return the project that a file names; empty if it names none."""
    return openclaw_layout.find_owner(openclaw_layout.LAYOUT.split(level(text)))


def _read_state(files: Files) -> str:
    data = files.read(state_file.FILE_NAME)
    return data.decode("utf-8", "replace") if data else ""


def _is_listed(checkpoint: Checkpoint) -> bool:
    """Return whether the log lists a checkpoint: we saved it, and automatically."""
    return checkpoint.is_autosave and checkpoint.source is None
