"""List what differs from HEAD in a worktree, with the blobs that the index holds.

A snapshot needs more than the state of a worktree: which paths are staged, under which blob, and
with which mode. Reading this takes no lock and writes nothing.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.git.repository import (
    Repository,
    ask_git,
    ask_line,
    decode_path,
    find_readable_repository,
    is_full_sha,
)

# Renames are listed as a deleted and a new path: both must come back.
_STATUS = (
    "status --porcelain=v2 --branch -z --no-ahead-behind --untracked-files=all --no-renames"
    " --ignored=no --ignore-submodules=dirty"
).split()
_SUBMODULE = "160000"
_SECONDS = 60.0
# `1 XY sub mH mI mW hH hI path` and `u XY sub m1 m2 m3 mW h1 h2 h3 path`
_CHANGED_FIELDS, _UNMERGED_FIELDS = 8, 10


class UncommittedPath(msgspec.Struct, frozen=True, kw_only=True):
    """A path that differs from HEAD."""

    path: str
    is_untracked: bool = False
    is_submodule: bool = False
    staged_mode: str | None = None
    """The mode in the index, if the index differs from HEAD and from the worktree."""
    staged_blob: str | None = None
    """The blob in the index, in the same case."""


class Uncommitted(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from HEAD; `trouble` says why the list is incomplete, if it is."""

    head: str | None = None
    branch: str | None = None
    paths: list[UncommittedPath] = []
    trouble: str | None = None


def list_uncommitted(repository: Repository, *, seconds: float) -> Uncommitted:
    """List the paths of a worktree that differ from HEAD, untracked ones included."""
    worktree = repository.worktree
    if worktree is None:
        return Uncommitted(trouble="A bare repository has no files.")
    deadline = time.monotonic() + seconds
    with ask_git(worktree, repository, *_STATUS, deadline=deadline) as git:
        headers, paths = _parse(git.records())
        trouble = git.trouble()
    head, branch = headers.get("branch.oid"), headers.get("branch.head")
    return Uncommitted(
        head=None if head == "(initial)" else head,
        branch=None if branch == "(detached)" else branch,
        paths=paths,
        trouble=trouble,
    )


def _parse(records: Iterator[bytes]) -> tuple[dict[str, str], list[UncommittedPath]]:
    headers: dict[str, str] = {}
    paths: list[UncommittedPath] = []
    for record in records:
        kind, _, rest = record.partition(b" ")
        if kind == b"#":
            name, _, value = decode_path(rest).partition(" ")
            headers[name] = value
        elif kind == b"?":
            paths.append(UncommittedPath(path=decode_path(rest), is_untracked=True))
        elif kind == b"1":
            paths.append(_parse_changed(rest))
        elif kind == b"u":
            paths.append(
                UncommittedPath(path=decode_path(rest.split(b" ", _UNMERGED_FIELDS - 1)[-1]))
            )
    return headers, paths


def _parse_changed(rest: bytes) -> UncommittedPath:
    code, _, _, in_index, in_worktree, _, blob, path = decode_path(rest).split(
        " ", _CHANGED_FIELDS - 1
    )
    # If the worktree equals the index, the file itself has what is staged.
    is_own = code[0] != "." and code[1] != "." and blob.strip("0") != ""
    return UncommittedPath(
        path=path,
        is_submodule=_SUBMODULE in {in_index, in_worktree},
        staged_mode=in_index if is_own else None,
        staged_blob=blob if is_own else None,
    )


def read_staged(
    repository: Repository, blobs: list[str], *, limit: int, seconds: float
) -> list[bytes | None]:
    """Return the contents of blobs in the user's repository; None for a missing or large one."""
    worktree = repository.worktree or repository.git_dir
    deadline = time.monotonic() + seconds
    return [_read_blob(worktree, repository, blob, limit, deadline) for blob in blobs]


def has_commit(folder: Path, sha: str) -> bool:
    """Return whether the repository around a folder has a commit; nothing is fetched for it."""
    repository = find_readable_repository(folder)
    if repository is None or not is_full_sha(sha):
        return False
    return ask_line(folder, repository, "cat-file", "-t", f"{sha}^{{commit}}") == "commit"


def read_committed(folder: Path, revision: str, path: str, *, limit: int) -> bytes | None:
    """Return a file's content in a commit; None if it is missing there or too large."""
    repository = find_readable_repository(folder)
    if repository is None:
        return None
    deadline = time.monotonic() + _SECONDS
    return _read_blob(folder, repository, f"{revision}:{path}", limit, deadline)


def _read_blob(
    worktree: Path, repository: Repository, blob: str, limit: int, deadline: float
) -> bytes | None:
    content = bytearray()
    with ask_git(worktree, repository, "cat-file", "blob", blob, deadline=deadline) as git:
        for chunk in git.chunks():
            content += chunk
            if len(content) > limit:
                return None
        return None if git.trouble() else bytes(content)


# A stash is a merge, so its paths are listed for each of its parents.
_RAW = "--raw -z --no-abbrev --no-renames --no-ext-diff --no-textconv --ignore-submodules".split()
_COMMITS = ("log", "--all", "-m", "--format=", "--max-count=1000", *_RAW)
_BETWEEN = ("diff-tree", "-r", *_RAW)


_RECORD = re.compile(rb"\n?:\d{6} \d{6} [0-9a-f]+ ([0-9a-f]+) [A-Z]")


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """What branches and stashes have that a commit has not."""

    recent: set[str]
    """The paths that any of them changed since a time."""
    here: set[str]
    """The paths in which HEAD differs from the commit."""
    blobs: set[str]


def list_committed(
    repository: Repository, base: str | None, *, since: int, seconds: float
) -> Committed | None:
    """List what branches and stashes have that a commit has not; None if git cannot tell.

    Dates alone prove little, as a rebase may keep them.
    """
    # The value comes from a record, which anyone may have written; it must not act as an option.
    if base is not None and not is_full_sha(base):
        return None
    worktree = repository.worktree or repository.git_dir
    deadline = time.monotonic() + seconds
    questions: list[tuple[str, ...]] = [(*_COMMITS, f"--since={since}")]
    if base is not None:
        questions += [(*_BETWEEN, base, "HEAD"), (*_COMMITS, "--not", base)]
    paths: list[set[str]] = [set(), set(), set()]
    blobs: set[str] = set()
    for question, named in zip(questions, paths, strict=False):
        with ask_git(worktree, repository, *question, deadline=deadline) as git:
            for record in git.records():
                if found := _RECORD.fullmatch(record):
                    blobs.add(found[1].decode("ascii"))
                else:
                    named.add(decode_path(record))
            if git.trouble() is not None:
                return None
    return Committed(recent=paths[0], here=paths[1], blobs=blobs)
