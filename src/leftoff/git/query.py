"""Query git about a folder: its state, its commits and its changed paths.

Paths are relative to the worktree's root. Bytes that are not UTF-8 become surrogate escapes, so
that every path can be opened; apply `printable` before writing a path to JSON or the screen.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff.checkpoint import Commit
from leftoff.git.repository import (
    Operation,
    Repository,
    ask_git,
    ask_line,
    decode_path,
    find_current_branch,
    find_head_at,
    find_head_sha,
    find_operation,
    find_readable_repository,
    find_repository,
    find_repository_at,
    is_branch_gone,
)
from leftoff.text.fence import printable

if TYPE_CHECKING:
    from leftoff.git.process import Git

__all__ = [
    "CommitsSince",
    "GitState",
    "Operation",
    "PathChange",
    "Repository",
    "UnreadableRepository",
    "find_current_branch",
    "find_head_at",
    "find_head_sha",
    "find_repository",
    "inspect",
    "is_branch_gone",
    "list_changed_paths",
    "list_newest_commits",
    "printable",
    "read_commits_since",
    "read_state",
]


# --- what git reports about a worktree ---


_MAX_SUBJECT = 500


class PathChange(msgspec.Struct, frozen=True, kw_only=True):
    """One path that differs from HEAD; `code` is git's XY pair: staged, then unstaged."""

    path: str
    code: str
    from_path: str | None = None
    is_inside: bool = False
    """Whether it is a submodule with changed files, which must be committed inside it."""


class GitState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a worktree; `trouble` says why it is partial, if it is."""

    worktree: Path | None
    branch: str | None
    head: str | None
    changes: list[PathChange] = []
    last_commit: Commit | None = None
    operation: Operation | None = None
    is_truncated: bool = False
    trouble: str | None = None

    @property
    def dirty(self) -> list[str]:
        """Every path that differs from HEAD, untracked ones last."""
        return [change.path for change in self.changes]


class UnreadableRepository(msgspec.Struct, frozen=True):
    """The reason why a folder has no git state."""

    reason: str


class CommitsSince(msgspec.Struct, frozen=True, kw_only=True):
    """What came after a commit.

    `known` is false if the commit is no longer an ancestor of the current one. `diverged` then says
    whether it still exists beside it, as after a rebase, an amend or a switch of branch.
    """

    count: int = 0
    subjects: list[Commit] = []
    known: bool = False
    diverged: bool = False


def parse_status(records: Iterator[bytes], limit: int) -> tuple[dict[str, str], list[PathChange]]:
    """Parse the headers, and at most one change more than the limit."""
    headers: dict[str, str] = {}
    changes: list[PathChange] = []
    for record in records:
        kind, _, rest = record.partition(b" ")
        if kind == b"#":
            name, _, value = decode_path(rest).partition(" ")
            headers[name] = value
            continue
        change = _parse_change(kind, rest, records)
        if change is not None:
            changes.append(change)
        if len(changes) > limit:
            break
    return headers, changes


# The number of fields before the path, by the kind of record.
_FIELDS_BEFORE_PATH = {b"1": 7, b"2": 8, b"u": 9}


def _parse_change(kind: bytes, rest: bytes, records: Iterator[bytes]) -> PathChange | None:
    if kind == b"?":
        return PathChange(path=decode_path(rest), code="??")
    before_path = _FIELDS_BEFORE_PATH.get(kind)
    if before_path is None:
        return None
    fields = rest.split(b" ", before_path)
    if len(fields) <= before_path:
        return None
    code, path = fields[0], fields[-1]
    from_path = decode_path(next(records, b"")) if kind == b"2" else None
    return PathChange(
        path=decode_path(path),
        code=code.decode("ascii", "replace"),
        from_path=from_path,
        is_inside=code == b".M" and fields[1].startswith(b"S."),
    )


def parse_log(records: Iterable[bytes]) -> list[Commit]:
    """Parse commits printed as hash and subject in turn."""
    fields = [record.decode("utf-8", "replace") for record in records]
    return [
        Commit(sha=sha, subject=subject[:_MAX_SUBJECT])
        for sha, subject in zip(fields[::2], fields[1::2], strict=False)
    ]


# --- questions to git ---


TIMEOUT_SECONDS = 10.0
MAX_PATHS = 2000
_SHA = re.compile(r"[0-9a-f]{4,64}")

# Only exact renames: comparing similar files means reading them, or fetching in a partial clone.
_STATUS = (
    "status --porcelain=v2 --branch -z --no-ahead-behind --untracked-files=all --find-renames=100%"
    # git would query submodules with their own settings; `_with_submodules` does it safely.
    " --ignore-submodules=dirty"
).split()
_LOOK_INSIDE = "status --porcelain=v2 -z --untracked-files=normal --ignore-submodules=dirty".split()
_SUBMODULES = "config --file .gitmodules --list -z".split()
_LOG = "log -z --format=%H%x00%s --encoding=UTF-8 --no-color --no-patch".split()
_CHANGED = "diff-tree -r -z --name-only --no-renames --no-relative".split()


def read_state(
    folder: Path,
    *,
    timeout: float = TIMEOUT_SECONDS,
    limit: int = MAX_PATHS,
    with_commit: bool = True,
) -> GitState | None:
    """Return the state of the worktree around a folder; None if git cannot report it."""
    state = inspect(folder, timeout=timeout, limit=limit, with_commit=with_commit)
    return state if isinstance(state, GitState) else None


def inspect(
    folder: Path,
    *,
    timeout: float = TIMEOUT_SECONDS,
    limit: int = MAX_PATHS,
    with_commit: bool = True,
) -> GitState | UnreadableRepository:
    """Return the state of the worktree around a folder, or the reason why it is unknown.

    The last commit costs another process, so it is left out if nobody needs it.
    """
    try:
        repository = find_repository(folder)
    except OSError as error:
        return UnreadableRepository(f"{error.filename} cannot be read: {error.strerror}.")
    if repository is None:
        return UnreadableRepository(f"{folder} is not in a git repository")
    deadline = time.monotonic() + timeout
    try:
        if repository.worktree is None:
            return _inspect_bare(folder, repository, deadline=deadline)
        if not with_commit:
            return _inspect(folder, repository, None, deadline=deadline, limit=limit)
        # Both run at the same time, which takes hardly longer than the status alone.
        with ask_git(folder, repository, *_LOG, "--max-count=1", deadline=deadline) as log:
            return _inspect(folder, repository, log, deadline=deadline, limit=limit)
    except OSError as error:
        return UnreadableRepository(f"git cannot be started: {error.strerror}.")


def list_newest_commits(folder: Path, limit: int) -> list[Commit]:
    """Return the newest commits of the branch, newest first."""
    repository = find_readable_repository(folder)
    if repository is None:
        return []
    return parse_log(_read_records(folder, repository, *_LOG, f"--max-count={limit}"))


def read_commits_since(
    folder: Path, sha: str, *, until: str = "HEAD", limit: int = 20
) -> CommitsSince:
    """Count the commits after `sha`, and return the newest ones."""
    repository = find_readable_repository(folder)
    # The values come from a checkpoint, which anyone may have written; none must act as an option.
    if repository is None or not _SHA.fullmatch(sha) or until.startswith("-"):
        return CommitsSince()
    both_sides = ("rev-list", "--left-right", "--count", f"{sha}...{until}", "--")
    counts = ask_line(folder, repository, *both_sides)
    if counts is None:
        return CommitsSince()
    lost, gained = (int(word) for word in counts.split())
    newest = (*_LOG, f"--max-count={limit}", f"{sha}..{until}", "--")
    return CommitsSince(
        count=gained,
        subjects=parse_log(_read_records(folder, repository, *newest)) if gained else [],
        known=lost == 0,
        diverged=lost > 0,
    )


def list_changed_paths(
    folder: Path, old_sha: str, new_sha: str, *, limit: int = MAX_PATHS
) -> list[str]:
    """Return the paths that differ between two commits; none if either is unknown."""
    repository = find_readable_repository(folder)
    if repository is None or not (_SHA.fullmatch(old_sha) and _SHA.fullmatch(new_sha)):
        return []
    records = _read_records(folder, repository, *_CHANGED, old_sha, new_sha)
    return [decode_path(record) for record, _ in zip(records, range(limit), strict=False)]


def _inspect(
    folder: Path, repository: Repository, log: "Git | None", *, deadline: float, limit: int
) -> GitState | UnreadableRepository:
    with ask_git(folder, repository, *_STATUS, deadline=deadline) as status:
        headers, changes = parse_status(status.records(), limit)
        # Beyond the limit git is killed on purpose, so its exit code means nothing.
        trouble = None if len(changes) > limit else status.trouble()
        newest = parse_log(log.records()) if log is not None else []
    changes = _with_submodules(changes, repository, deadline)
    if trouble and "dubious ownership" in trouble:
        return UnreadableRepository(trouble)
    if trouble and "must be run in a work tree" in trouble:
        return _inspect_bare(folder, repository, deadline=deadline)
    is_answered = "branch.oid" in headers and "branch.head" in headers
    branch = printable(headers["branch.head"]) if is_answered else find_current_branch(folder)
    head = headers["branch.oid"] if is_answered else find_head_sha(folder)
    return GitState(
        worktree=repository.worktree,
        branch=None if branch == "(detached)" else branch,
        head=None if head == "(initial)" else head,
        changes=changes[:limit],
        last_commit=newest[0] if newest else None,
        operation=find_operation(repository),
        is_truncated=len(changes) > limit,
        trouble=trouble,
    )


def _with_submodules(
    changes: list[PathChange], repository: Repository, deadline: float
) -> list[PathChange]:
    """Add the submodules with changed files at the positions where git would list them."""
    known = {change.path.rstrip("/") for change in changes}
    inside = [
        PathChange(path=path, code=".M", is_inside=True)
        for path, submodule in _list_submodules(repository, deadline)
        if path not in known and _is_changed(submodule, deadline)
    ]
    tracked = [change for change in changes if change.code != "??"]
    ordered = sorted([*tracked, *inside], key=lambda change: os.fsencode(change.path))
    return [*ordered, *changes[len(tracked) :]] if inside else changes


def _is_changed(repository: Repository, deadline: float) -> bool:
    folder = repository.worktree or repository.git_dir
    if any(True for _ in _read_records(folder, repository, *_LOOK_INSIDE, deadline=deadline)):
        return True
    return any(_is_changed(inner, deadline) for _, inner in _list_submodules(repository, deadline))


def _list_submodules(repository: Repository, deadline: float) -> Iterator[tuple[str, Repository]]:
    """Yield the submodules that are checked out and that the project does not ignore."""
    worktree = repository.worktree
    if worktree is None or not (worktree / ".gitmodules").is_file():
        return
    values: dict[str, str] = {}
    for record in _read_records(worktree, repository, *_SUBMODULES, deadline=deadline):
        name, _, value = decode_path(record).partition("\n")
        values[name] = value
    for name, path in values.items():
        # A project can have hundreds of submodules, and each one costs a process.
        if time.monotonic() > deadline:
            return
        stem = name.removesuffix(".path")
        if stem == name or values.get(f"{stem}.ignore") in {"dirty", "all"}:
            continue
        found = _find_submodule(worktree / path) if _is_below(worktree, path) else None
        if found is not None:
            yield path, found


def _find_submodule(folder: Path) -> Repository | None:
    try:
        return find_repository_at(folder)
    except OSError:
        return None


def _is_below(worktree: Path, path: str) -> bool:
    place = worktree / path
    # `.gitmodules` comes with the clone and could name any folder, also through a link.
    return place != worktree and os.path.realpath(place) == str(place)


def _inspect_bare(folder: Path, repository: Repository, *, deadline: float) -> GitState:
    """Return what is known about a repository without a worktree."""
    with ask_git(folder, repository, *_LOG, "--max-count=1", deadline=deadline) as log:
        newest = parse_log(log.records())
    return GitState(
        worktree=None,
        branch=find_current_branch(folder),
        head=newest[0].sha if newest else find_head_sha(folder),
        last_commit=newest[0] if newest else None,
    )


def _read_records(
    folder: Path, repository: Repository, *arguments: str, deadline: float | None = None
) -> Iterator[bytes]:
    with (
        contextlib.suppress(OSError),
        ask_git(folder, repository, *arguments, deadline=deadline) as git,
    ):
        yield from git.records()
