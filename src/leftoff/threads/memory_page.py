"""The memory briefing as a file in the project: where it is, who wrote it, what it says."""

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
    """Tell where the briefing is kept as a file, if the setting says so."""
    if not setting.strip():
        return None
    path = project.worktree / setting
    if trees.leads_out(path):
        raise StoreRefused(
            f"{path} leads out of the project through a link, so it is left alone",
            hint="Remove the link, or name another file with `leftoff config set briefing_file`.",
        )
    return path


def is_somebodys(path: Path) -> bool:
    """Say whether a file holds somebody's own words in place of a page that was made."""
    head = HEAD.encode()
    return disk.is_regular(path) and disk.read_from(path, 0, limit=len(head)) not in {head, b""}


def keep(path: Path, text: str) -> bool:
    """Write the briefing to a file, all at once; say whether it holds anything new."""
    data = text.encode()
    is_there = disk.is_regular(path)
    if is_there and path.read_bytes() == data:
        return False
    mode = path.stat().st_mode if is_there else None
    disk.make_folder(path.parent)
    disk.replace(path, data, temps=path.parent)
    if mode is not None:
        # Somebody may have let others read it.
        path.chmod(mode & 0o777)
    return True


def from_file(text: str, path: Path, *, budget: int, width: int | None = None) -> Rendered:
    """Quote a briefing as it was written to a file, as far as the budget goes."""
    head = say("From the file {path:200}:", path=path)
    lines = [block(line) for line in text.strip().splitlines()[: MOST_LINES - 1]]
    limits = [limit_tokens(min(budget, MOST_TOKENS) - estimate(f"{head}\n"))]
    if width is not None:
        limits.append(limit_width(width - measure_width(f"{head}\n")))
    kept = fit_first(lines, limits)
    return join([head, *kept]) if any(kept) else say("")
