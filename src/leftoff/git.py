"""What git knows of a folder; the only module that runs git, and it never writes.

Paths are relative to the worktree's root. Bytes that are not UTF-8 become surrogate escapes, so a
path can always be opened; pass it through `printable` before it goes into JSON or on a screen.
"""

import contextlib
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

from leftoff import paths
from leftoff.gitstate import (
    Change,
    CommitsSince,
    GitState,
    Unreadable,
    parse_log,
    parse_status,
    path_text,
    printable,
)
from leftoff.repository import (
    Operation,
    Repository,
    find_repository,
    head_ref,
    loose_sha,
    operation_in_progress,
)

__all__ = [
    "Change",
    "CommitsSince",
    "GitState",
    "Operation",
    "Repository",
    "Unreadable",
    "changed_between",
    "commits_since",
    "current_branch",
    "find_repository",
    "head_sha",
    "inspect",
    "printable",
    "read_state",
]

TIMEOUT_SECONDS = 10.0
MAX_PATHS = 2000
_MAX_ERROR_BYTES = 4096
_CHUNK_BYTES = 65536
_SHA = re.compile(r"[0-9a-f]{4,64}")

# The first two settings would let a repository have programs of its own run.
_GIT = (
    "git --no-pager -c core.fsmonitor=false -c log.showSignature=false -c core.quotePath=false"
).split()
# Renames are found by equal content: likeness means reading, or fetching in a partial clone.
_STATUS = (
    "status --porcelain=v2 --branch -z --no-ahead-behind --untracked-files=all --find-renames=100%"
).split()
_LOG = "log -z --format=%H%x00%s --encoding=UTF-8 --no-color --no-patch".split()
_CHANGED = "diff-tree -r -z --name-only --no-renames --no-relative".split()

_SET_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch what it lacks; older gits know only the second way to forbid it.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Inside a git hook the others point at the repository of the hook, not at the folder asked about.
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}


def current_branch(folder: Path) -> str | None:
    """Return the branch a folder is on, or None when HEAD is detached or there is no repository."""
    repository = find_repository(folder)
    if repository is None:
        return None
    ref = head_ref(repository)
    # The reftable backend leaves this placeholder in the HEAD file.
    if ref == "refs/heads/.invalid":
        ref = _answer(folder, repository, "symbolic-ref", "--quiet", "HEAD")
    return printable(ref.removeprefix("refs/heads/")) if ref else None


def head_sha(folder: Path) -> str | None:
    """Return the full hash of HEAD, or None when there is no commit or no repository."""
    repository = find_repository(folder)
    if repository is None:
        return None
    return loose_sha(repository) or _answer(
        folder, repository, "rev-parse", "--quiet", "--verify", "HEAD^{commit}"
    )


def read_state(
    folder: Path, *, timeout: float = TIMEOUT_SECONDS, limit: int = MAX_PATHS
) -> GitState | None:
    """Return how the worktree around a folder stands, or None where git has nothing to say."""
    state = inspect(folder, timeout=timeout, limit=limit)
    return state if isinstance(state, GitState) else None


def inspect(
    folder: Path, *, timeout: float = TIMEOUT_SECONDS, limit: int = MAX_PATHS
) -> GitState | Unreadable:
    """Return how the worktree around a folder stands, or why that cannot be told."""
    repository = find_repository(folder)
    if repository is None:
        return Unreadable(f"There is no git repository at {folder}")
    deadline = time.monotonic() + timeout
    try:
        if repository.worktree is None:
            return _inspect_bare(folder, repository, deadline=deadline)
        return _inspect(folder, repository, deadline=deadline, limit=limit)
    except OSError as error:
        return Unreadable(f"git cannot be run: {error.strerror}.")


def commits_since(folder: Path, sha: str, *, until: str = "HEAD", limit: int = 20) -> CommitsSince:
    """Count the commits after `sha` and name the newest ones."""
    repository = find_repository(folder)
    if repository is None or not _SHA.fullmatch(sha) or until.startswith("-"):
        return CommitsSince()
    both_sides = ("rev-list", "--left-right", "--count", f"{sha}...{until}", "--")
    counts = _answer(folder, repository, *both_sides)
    if counts is None:
        return CommitsSince()
    lost, gained = (int(word) for word in counts.split())
    newest = (*_LOG, f"--max-count={limit}", f"{sha}..{until}", "--")
    return CommitsSince(
        count=gained,
        subjects=parse_log(_records(folder, repository, *newest)) if gained else [],
        known=lost == 0,
        diverged=lost > 0,
    )


def changed_between(
    folder: Path, old_sha: str, new_sha: str, *, limit: int = MAX_PATHS
) -> list[str]:
    """Return the paths that differ between two commits; none when either is unknown."""
    repository = find_repository(folder)
    if repository is None or not (_SHA.fullmatch(old_sha) and _SHA.fullmatch(new_sha)):
        return []
    records = _records(folder, repository, *_CHANGED, old_sha, new_sha)
    return [path_text(record) for record, _ in zip(records, range(limit), strict=False)]


def _inspect(
    folder: Path, repository: Repository, *, deadline: float, limit: int
) -> GitState | Unreadable:
    # Both run at once: together they take hardly longer than the status alone.
    with (
        _Git(folder, repository, *_LOG, "--max-count=1", deadline=deadline) as log,
        _Git(folder, repository, *_STATUS, deadline=deadline) as status,
    ):
        headers, changes = parse_status(status.records(), limit)
        trouble = None if len(changes) > limit else status.trouble()
        newest = parse_log(log.records())
    if trouble and "dubious ownership" in trouble:
        return Unreadable(trouble)
    if trouble and "must be run in a work tree" in trouble:
        return _inspect_bare(folder, repository, deadline=deadline)
    is_answered = "branch.oid" in headers and "branch.head" in headers
    branch = printable(headers["branch.head"]) if is_answered else current_branch(folder)
    head = headers["branch.oid"] if is_answered else head_sha(folder)
    return GitState(
        worktree=repository.worktree,
        branch=None if branch == "(detached)" else branch,
        head=None if head == "(initial)" else head,
        changes=changes[:limit],
        last_commit=newest[0] if newest else None,
        operation=operation_in_progress(repository),
        is_truncated=len(changes) > limit,
        trouble=trouble,
    )


def _inspect_bare(folder: Path, repository: Repository, *, deadline: float) -> GitState:
    """Tell what there is to tell of a repository without files checked out."""
    with _Git(folder, repository, *_LOG, "--max-count=1", deadline=deadline) as log:
        newest = parse_log(log.records())
    return GitState(
        worktree=None,
        branch=current_branch(folder),
        head=newest[0].sha if newest else head_sha(folder),
        last_commit=newest[0] if newest else None,
    )


def _answer(folder: Path, repository: Repository, *arguments: str) -> str | None:
    """Return git's one line, or None when it has nothing to say."""
    try:
        with _Git(folder, repository, *arguments) as git:
            text = path_text(b"".join(git.chunks())).strip()
            return text if text and git.trouble() is None else None
    except OSError:
        return None


def _records(folder: Path, repository: Repository, *arguments: str) -> Iterator[bytes]:
    with contextlib.suppress(OSError), _Git(folder, repository, *arguments) as git:
        yield from git.records()


def _environment() -> dict[str, str]:
    inherited = paths.child_environment()
    kept = {name: inherited[name] for name in _KEPT_VARIABLES if name in inherited}
    return paths.child_environment(drop_prefix="GIT_", **kept, **_SET_VARIABLES)


class _Git:
    """One running git, read piece by piece and ended at its deadline at the latest."""

    def __init__(
        self, folder: Path, repository: Repository, *arguments: str, deadline: float | None = None
    ) -> None:
        self._deadline = time.monotonic() + TIMEOUT_SECONDS if deadline is None else deadline
        self._is_late = False
        self._errors = b""
        where = () if repository.worktree else (f"--git-dir={repository.git_dir}",)
        self._process = subprocess.Popen(
            (*_GIT, *where, *arguments),
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Its own group, so that the helpers it starts end with it.
            process_group=0,
            bufsize=0,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in self._pipes():
            pipe.close()

    def records(self) -> Iterator[bytes]:
        """Read what stands before each NUL; a torn last record is dropped."""
        rest = b""
        for chunk in self.chunks():
            *records, rest = (rest + chunk).split(b"\0")
            yield from records

    def chunks(self) -> Iterator[bytes]:
        """Read what git prints until it ends or is late."""
        stdout, stderr = self._pipes()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(self._seconds_left())
                if not ready:
                    self._is_late = True
                    return
                for key, _ in ready:
                    data = os.read(key.fd, _CHUNK_BYTES)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is stdout:
                        yield data
                    else:
                        self._errors = (self._errors + data)[:_MAX_ERROR_BYTES]

    def trouble(self) -> str | None:
        """Say in one line what went wrong, once everything has been read."""
        try:
            code = self._process.wait(0 if self._is_late else self._seconds_left())
        except subprocess.TimeoutExpired:
            return "git did not answer in time."
        if code == 0:
            return None
        lines = self._errors.decode("utf-8", "replace").splitlines()
        telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
        return telling[0] if telling else "git ended without an answer."

    def _seconds_left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        stdout, stderr = self._process.stdout, self._process.stderr
        if stdout is None or stderr is None:  # pragma: no cover
            raise AssertionError
        return stdout, stderr
