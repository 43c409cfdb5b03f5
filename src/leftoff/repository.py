"""Where a git repository lives and what its own small files say, without running git."""

import errno
import os
import re
from pathlib import Path
from typing import Literal

import msgspec

_MAX_LINE_BYTES = 65536
# git@host:owner/name.git, ssh://git@host:22/owner/name, https://user@host/owner/name.git/
_ADDRESS = re.compile(
    r"(?:[a-z+]+://(?:[^@/\s]+@)?[^/\s:]+(?::\d+)?/|(?:[^@/\s:]+@)?[^/\s:@]{2,}:(?!//))"
    r"/?(?P<slug>[^/\s]+/[^/\s]+?)(?:\.git)?/*"
)
_REMOTE = re.compile(r'^\[remote "(.+)"\][^\n]*\n((?:[^\[\n][^\n]*\n|\n)*)', re.MULTILINE)
_URL = re.compile(r"^\s*url\s*=\s*(\S+)\s*$", re.MULTILINE | re.IGNORECASE)
_MAX_CONFIG_BYTES = 1_000_000
_FULL_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")

Operation = Literal["rebase", "am", "merge", "cherry-pick", "revert", "bisect"]

# A rebase also leaves the marks of the picks it is made of, so it is asked for first.
_MARKS: tuple[tuple[str, Operation], ...] = (
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("rebase-merge", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of a repository; all worktrees share `common_dir`, a bare one has no worktree."""

    worktree: Path | None
    git_dir: Path
    common_dir: Path


def find_repository(folder: Path) -> Repository | None:
    """Find the repository around a folder."""
    here = Path(os.path.realpath(folder))
    for candidate in (here, *here.parents):
        found = repository_at(candidate)
        if found is not None:
            return found
    return None


def repository_at(folder: Path) -> Repository | None:
    """Return the repository whose worktree, or bare folder, is this very folder."""
    git_dir = _git_dir_at(folder / ".git")
    if git_dir is not None:
        return _repository(folder, git_dir)
    return _repository(None, folder) if _is_git_dir(folder) else None


def linked_worktrees(repository: Repository) -> list[Path]:
    """List the folders of all worktrees beside the main one, also of those that are gone."""
    links = sorted((repository.common_dir / "worktrees").glob("*/gitdir"))
    # Newer gits can write these paths relative to the file they stand in.
    found = [(link.parent / line).parent for link in links if (line := _first_line(link))]
    return [Path(os.path.realpath(folder)) for folder in found]


def head_ref(repository: Repository) -> str | None:
    """Return the full name of the ref that HEAD points to, or None when HEAD is detached."""
    line = _first_line(repository.git_dir / "HEAD") or ""
    return line.removeprefix("ref:").strip() if line.startswith("ref:") else None


def loose_sha(repository: Repository) -> str | None:
    """Return the hash of HEAD if it rests in a file of its own; packed refs are git's to read."""
    ref = head_ref(repository)
    place = repository.git_dir / "HEAD" if ref is None else repository.common_dir / ref
    line = _first_line(place) or ""
    return line if _FULL_SHA.fullmatch(line) else None


def operation_in_progress(repository: Repository) -> Operation | None:
    """Return what was begun in this worktree and is not finished."""
    for name, operation in _MARKS:
        if (repository.git_dir / name).exists():
            return operation
    # Between two picks the marks are gone, and only the list of what is left remains.
    todo = _first_line(repository.git_dir / "sequencer" / "todo")
    if todo is None:
        return None
    return "revert" if todo.startswith("revert") else "cherry-pick"


def repository_of(url: str) -> str | None:
    """Return `owner/name` as a remote's address tells it, or None for a folder."""
    if url.startswith("file:"):
        return None
    found = _ADDRESS.fullmatch(url.strip())
    return found["slug"] if found else None


def slug(repository: Repository) -> str | None:
    """Return `owner/name` of the repository's origin, or of its only remote, from its settings."""
    place = repository.common_dir / "config"
    try:
        text = place.read_text("utf-8", "replace") if place.is_file() else ""
    except OSError:
        return None
    remotes = [(found[1], _URL.search(found[2])) for found in _REMOTE.finditer(f"{text}\n")]
    urls = {name: url[1] for name, url in remotes if url is not None}
    only = next(iter(urls.values())) if len(urls) == 1 else ""
    return repository_of(urls.get("origin", only))


def own_settings(repository: Repository) -> bytes:
    """Return the text of the repository's own settings, without what they include."""
    places = (repository.common_dir / "config", repository.git_dir / "config.worktree")
    return b"\n".join(_settings_in(place) for place in places if os.path.lexists(place))


def _settings_in(place: Path) -> bytes:
    if not place.is_file() or place.stat().st_size > _MAX_CONFIG_BYTES:
        raise OSError(errno.EPERM, f"{place} is not a file of settings")
    return place.read_bytes()


def _repository(worktree: Path | None, git_dir: Path) -> Repository:
    place = _path_in(git_dir / "commondir")
    common_dir = Path(os.path.realpath(git_dir / place)) if place else git_dir
    return Repository(worktree=worktree, git_dir=git_dir, common_dir=common_dir)


def _git_dir_at(dot_git: Path) -> Path | None:
    if _is_git_dir(dot_git):
        return Path(os.path.realpath(dot_git))
    # Linked worktrees and submodules have a file here that names the real place.
    text = _path_in(dot_git) or ""
    if not text.startswith("gitdir: "):
        return None
    place = Path(os.path.realpath(dot_git.parent / text.removeprefix("gitdir: ")))
    return place if _is_git_dir(place) else None


def _is_git_dir(place: Path) -> bool:
    return os.path.lexists(place / "HEAD") and (
        (place / "objects").is_dir() or (place / "commondir").is_file()
    )


def _path_in(file: Path) -> str | None:
    """Read a path exactly as git does, so that both look at the same repository."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            text = opened.read(_MAX_LINE_BYTES)
    except (OSError, ValueError):
        return None
    return text.decode("utf-8", "surrogateescape").rstrip("\r\n").partition("\0")[0]


def _first_line(path: Path) -> str | None:
    try:
        # A FIFO planted here would never answer.
        if not path.is_file():
            return None
        with path.open("rb") as file:
            line = file.readline(_MAX_LINE_BYTES)
    except (OSError, ValueError):
        return None
    return line.decode("utf-8", "surrogateescape").rstrip("\r\n")
