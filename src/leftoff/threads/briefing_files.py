"""Choose which files each list of a briefing names, and group them by folder."""

from collections import Counter
from collections.abc import Iterable

from leftoff.checkpoint import Checkpoint


def list_focus(checkpoint: Checkpoint) -> list[str]:
    """Return the files needed next, without the plan, which has its own line."""
    plan = checkpoint.plan.path if checkpoint.plan else None
    return [path for path in checkpoint.focus_files if path != plan]


def list_modified(checkpoint: Checkpoint) -> list[str]:
    """Return the modified files that are not needed next."""
    shown = set(checkpoint.focus_files)
    return [path for path in checkpoint.files_modified if path not in shown]


def list_seen(checkpoint: Checkpoint) -> list[str]:
    """Return the files that were only read."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [path for path in checkpoint.seen_files if path not in shown]


def list_named(checkpoint: Checkpoint) -> list[str]:
    """Return the other files that somebody named, with their roles."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [
        f"{file.path} ({file.role})" if file.role else file.path
        for file in checkpoint.files
        if file.path not in shown and file.role not in {"modified", "plan"}
    ]


def group_files(paths: Iterable[str], checkpoint: Checkpoint) -> list[tuple[str, int]]:
    """Group files by folder and count them, because repeating the folder costs tokens.

    A name that occurs in several folders keeps its folder each time, to stay unambiguous.
    """
    shared = _find_shared_names(checkpoint)
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, slash, name = path.rpartition("/")
        if name in shared:
            folders.setdefault(path, []).append("")
        else:
            folders.setdefault(folder + slash, []).append(name)
    return [
        (folder + (names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"), len(names))
        for folder, names in folders.items()
    ]


def _find_shared_names(checkpoint: Checkpoint) -> set[str]:
    paths = {*checkpoint.focus_files, *checkpoint.files_modified, *checkpoint.seen_files}
    counts = Counter(path.rpartition("/")[2] for path in paths)
    return {name for name, count in counts.items() if count > 1}
