"""Keep the memory briefing as a file in the project, and read it back."""

from pathlib import Path

from leftoff.errors import StoreRefused
from leftoff.projects import trees
from leftoff.projects.project import Project
from leftoff.store import disk
from leftoff.text.budget import fit_first, limit_tokens, limit_width, measure_width
from leftoff.text.fence import Rendered, block, join, say
from leftoff.text.tokens import estimate
from leftoff.threads.memory_briefing import HEAD, MOST_LINES, MOST_TOKENS


def file_of(project: Project, setting: str) -> Path | None:
    """Return the file of the briefing; None if the setting names none."""
    if not setting.strip():
        return None
    path = project.worktree / setting
    if trees.leads_out(path):
        raise StoreRefused(
            f"{path} leads out of the project through a link, so leftoff does not use it",
            hint="Remove the link, or name another file with `leftoff config set briefing_file`.",
        )
    return path


def is_somebodys(path: Path) -> bool:
    """Return whether a file holds text that leftoff did not write."""
    head = HEAD.encode()
    return disk.is_regular(path) and disk.read_from(path, 0, limit=len(head)) not in {head, b""}


def keep(path: Path, text: str) -> bool:
    """Write the briefing to a file atomically; return whether it changed."""
    data = text.encode()
    is_there = disk.is_regular(path)
    # An unchanged page keeps its time stamp.
    if is_there and path.read_bytes() == data:
        return False
    mode = path.stat().st_mode if is_there else None
    disk.make_folder(path.parent)
    disk.replace(path, data, temps=path.parent)
    if mode is not None:
        # The user may have let others read it.
        path.chmod(mode & 0o777)
    return True


def from_file(text: str, path: Path, *, budget: int, width: int | None = None) -> Rendered:
    """Quote the briefing in a file, as far as the budget allows."""
    head = say("From the file {path:200}:", path=path)
    lines = [block(line) for line in text.strip().splitlines()[: MOST_LINES - 1]]
    limits = [limit_tokens(min(budget, MOST_TOKENS) - estimate(f"{head}\n"))]
    if width is not None:
        limits.append(limit_width(width - measure_width(f"{head}\n")))
    kept = fit_first(lines, limits)
    return join([head, *kept]) if any(kept) else say("")
