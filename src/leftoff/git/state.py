"""Define what git reports about a worktree, and parse its output."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from leftoff.checkpoint import Commit
from leftoff.git.repository import Operation

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
    def is_partial(self) -> bool:
        """Whether git could not report everything."""
        return self.trouble is not None

    @property
    def dirty(self) -> list[str]:
        """Every path that differs from HEAD, untracked ones last."""
        return [change.path for change in self.changes]

    @property
    def index_changes(self) -> list[str]:
        """The paths that differ between HEAD and the index."""
        return [change.path for change in self.changes if change.code[0] not in ".?"]

    @property
    def worktree_changes(self) -> list[str]:
        """The tracked paths that differ between the index and the worktree."""
        return [change.path for change in self.changes if change.code[1] not in ".?"]

    @property
    def new_files(self) -> list[str]:
        """The paths git does not know yet and does not ignore."""
        return [change.path for change in self.changes if change.code == "??"]


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


_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(path: str) -> str:
    r"""Return the path as valid text, with each stray byte written as `\xNN`."""
    return _SURROGATE.sub(lambda found: rf"\x{ord(found[0]) & 0xFF:02x}", path)


def parse_status(records: Iterator[bytes], limit: int) -> tuple[dict[str, str], list[PathChange]]:
    """Parse the headers, and at most one change more than the limit."""
    headers: dict[str, str] = {}
    changes: list[PathChange] = []
    for record in records:
        kind, _, rest = record.partition(b" ")
        if kind == b"#":
            name, _, value = path_text(rest).partition(" ")
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
        return PathChange(path=path_text(rest), code="??")
    before_path = _FIELDS_BEFORE_PATH.get(kind)
    if before_path is None:
        return None
    fields = rest.split(b" ", before_path)
    if len(fields) <= before_path:
        return None
    code, path = fields[0], fields[-1]
    from_path = path_text(next(records, b"")) if kind == b"2" else None
    return PathChange(
        path=path_text(path),
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


def path_text(record: bytes) -> str:
    """Decode the bytes of a path to text that can be converted back."""
    return record.decode("utf-8", "surrogateescape")
