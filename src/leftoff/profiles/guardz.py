"""guardz: named checkpoints in the agent's memory folder, consumed when they are resumed.

Each checkpoint is a file `checkpoint-{name}.md`, and MEMORY.md lists them in a section. The rest of
MEMORY.md belongs to the agent and stays unchanged, byte for byte.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.profiles import guardz_file, guardz_index
from leftoff.profiles.profile import Files, More, Native, StoreNews
from leftoff.profiles.regular_files import list_names
from leftoff.projects.project import Project, is_inside, read_start

SETTINGS: Mapping[str, Any] = {
    "on_resume": "consume",
    "confirm": "never",
    "naming": "ask",
    "names": "plain",
    "same_name": "always",
    "noise": "line",
    "quality": [],
    "next_action": "stated",
    "offers": "saved",
    # More than full: the user manages the context window.
    "fresh_at": 1000.0,
}
HOLDS = guardz_file.HOLDS | {guardz_index.LINES}
IS_LIVING = True
PER_WORKTREE = False
WANTS_KNOWLEDGE = False
EVENTS: frozenset[str] = frozenset()
NATIVE = frozenset({"checkpoint-*.md", guardz_index.INDEX})

_FILE = re.compile(r"checkpoint-.")
_LOCAL_SETTINGS = ".claude/settings.local.json"
_MAX_SETTINGS = 1024 * 1024


def home(project: Project) -> Path:
    """Return Claude Code's memory folder, which all worktrees of a repository share."""
    folder = project.environment.find_agent_folder("claude")
    local = _read_memory_folder(project, project.root / _LOCAL_SETTINGS)
    # A repository can contain this file, so it may only name a folder of the project.
    if local is not None and is_inside(local, [project.root, project.worktree]):
        return local
    if (named := _read_memory_folder(project, folder / "settings.json")) is not None:
        return named
    munged = re.sub(r"[^A-Za-z0-9-]", "-", str(project.root))
    return folder / "projects" / munged / "memory"


def _read_memory_folder(project: Project, path: Path) -> Path | None:
    """Return the folder that a settings file of Claude Code names for its memory."""
    try:
        found = json.loads(read_start(path, _MAX_SETTINGS, follow=True).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    named = found.get("autoMemoryDirectory") if isinstance(found, dict) else None
    if not isinstance(named, str) or "\0" in named or not named.startswith(("/", "~/")):
        return None
    user = project.environment.home
    return user / named[2:] if named.startswith("~/") else Path(named)


def is_here(folder: Path) -> bool:
    """Return whether this folder contains a checkpoint."""
    return next(list_natives(folder), None) is not None


def folders(folder: Path) -> list[Path]:
    """Return the one folder that contains checkpoints."""
    return [folder]


def list_natives(folder: Path) -> Iterator[Path]:
    """Yield the files of checkpoints."""
    yield from (folder / name for name in sorted(list_names(folder, ".md")) if _FILE.match(name))


def find_stale_names(folder: Path) -> list[str]:
    """Return the names that MEMORY.md lists although their files are gone."""
    there = {guardz_file.name_of(path.name) for path in list_natives(folder)}
    return [name for name in guardz_index.list_names(folder) if name not in there]


def read_more(folder: Path) -> More:
    """Return nothing: guardz stores only checkpoints."""
    del folder
    return More()


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file, and what MEMORY.md says about it."""
    native = guardz_file.read(path, data)
    lines = guardz_index.find_lines_about(path.parent, native.name) if native.name else []
    if not lines:
        return native
    summary = guardz_index.read_summary(lines[0], native.fields.get("left_off"))
    more = {guardz_index.LINES: "\n".join(lines), **({"summary": summary} if summary else {})}
    return msgspec.structs.replace(native, fields={**native.fields, **more})


def write(files: Files, news: StoreNews) -> None:
    """Write the current state of each changed name; the files of archived ones go to the trash."""
    named = {name: shown for name, shown in news.current.items() if name}
    if not named:
        return
    spelled: dict[str, list[str]] = {}
    for path in files.names("", "checkpoint-*.md"):
        spelled.setdefault(guardz_file.name_of(path), []).append(path)
    listed: dict[str, Checkpoint | None] = {}
    for name, checkpoint in named.items():
        shown = _find_path(files, name, checkpoint) if checkpoint is not None else ""
        if checkpoint is None or not _is_settled(files, shown, checkpoint):
            listed[name] = checkpoint
        if checkpoint is not None:
            text = guardz_file.render(checkpoint, news.project.environment.home)
            files.replace(shown, text.encode("utf-8", "replace"), of=checkpoint.id)
        # An agent may have spelled the name differently.
        for path in spelled.get(name, []):
            if path != shown:
                files.trash(path)
    if listed:
        files.edit(guardz_index.INDEX, lambda text: guardz_index.with_bullets(text, listed))


def _is_settled(files: Files, path: str, checkpoint: Checkpoint) -> bool:
    """Return whether a checkpoint's file is as its agent wrote it, and listed; both then stay."""
    text = guardz_file.find_kept_text(checkpoint)
    if text is None or files.read(path) != text.encode():
        return False
    # A save that was killed may have left a file without its line.
    is_listed = bool(guardz_index.find_lines_about(files.root, guardz_file.name_of(path)))
    return is_listed and not guardz_index.is_listed_otherwise(checkpoint)


def _find_path(files: Files, name: str, checkpoint: Checkpoint) -> str:
    """Return the file of a checkpoint: the one it was read from, if it shows nothing else."""
    source = checkpoint.source
    if source is not None and guardz_file.find_kept_text(checkpoint) is not None:
        path = Path(source.path)
        if path.parent == files.root and guardz_file.name_of(path.name) == name:
            return path.name
    return f"checkpoint-{name}.md"
