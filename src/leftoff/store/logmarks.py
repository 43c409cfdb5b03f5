"""Log marks: how far a log was read, and what it holds beyond."""

import os
from pathlib import Path

import msgspec

from leftoff.store import disk, events
from leftoff.store.database import LogReplaced

_TAIL_BYTES = 64


class LogMark(msgspec.Struct, frozen=True):
    """How far a log was read, and what tells that it is still the same log."""

    inode: int
    offset: int
    tail: bytes
    """The last bytes read, up to the offset."""


class LogNews(msgspec.Struct, frozen=True):
    """Which part of a log is not in the index."""

    area: int
    inode: int
    start: int
    end: int


def news_of(number: int, log: Path, mark: LogMark | None) -> LogNews | None:
    """Tell which part of a log is not in the index; None if it has it all."""
    inode, size = identity(log)
    mark = mark or LogMark(inode, 0, b"")
    if (inode, size) == (mark.inode, mark.offset):
        return None
    goes_on = inode == mark.inode and size >= mark.offset and tail(log, mark.offset) == mark.tail
    # The fallback's log is gone once the store's log has taken it in; another log in place of the
    # store's own tells another story, for which nothing read so far can stand.
    if not goes_on and number == 0 and mark.offset:
        raise LogReplaced(f"{log} was replaced")
    start = mark.offset if goes_on else 0
    if goes_on and not _has_line(log, start, size):
        return None
    return LogNews(number, inode, start, size)


def _has_line(log: Path, start: int, end: int) -> bool:
    """Say whether a part of a log holds a whole line; a torn last one waits."""
    return any(True for _ in events.chunks(log, start, end))


def tail(log: Path, offset: int) -> bytes:
    """Return the last bytes before a place in a log."""
    start = max(0, offset - _TAIL_BYTES)
    return disk.read_from(log, start, limit=offset - start)


def identity(log: Path) -> tuple[int, int]:
    """Return what tells a log apart and how long it is."""
    try:
        found = os.lstat(log)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return 0, 0
    # A log that must not be read, for what it is, holds nothing.
    if not disk.is_regular_file(found):
        return 0, 0
    return found.st_ino, found.st_size
