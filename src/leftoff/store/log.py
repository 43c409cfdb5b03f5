"""Read and append to logs: one JSON line per record, read in chunks to limit memory use.

A line counts once its newline is on disk. A torn last line is left for the next read. A line that
cannot be decoded, or that is too long for a record, is skipped.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from leftoff.store import disk

LogRecord = TypeVar("LogRecord")
Decode = Callable[[bytes], LogRecord | None]
"""Decodes a line. Returns None to skip a line from a newer version, which is not damaged."""

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors that a decoder raises for a damaged line."""

_CHUNK_BYTES = 1 << 20
# The longest record names every checkpoint of a large store; 64 MB is far beyond that.
_LONGEST_LINE_BYTES = 64 << 20
_NO_END = 1 << 62
# Compared on each read, to notice a log that was rewritten in the same file.
_TAIL_BYTES = 64
_FIRST_SKIPPED = 5
# Replaces a line that is too long to hold in memory; no decoder accepts it.
_TOO_LONG = b"\0"


class LogMark(msgspec.Struct, frozen=True):
    """How far a log was read, and how to recognize that it is still the same log."""

    inode: int = 0
    offset: int = 0
    tail: bytes = b""
    """The last bytes before the offset."""


class LogNews(msgspec.Struct, frozen=True):
    """The part of a log beyond a mark."""

    inode: int
    start: int
    end: int
    is_another: bool
    """Whether another log replaced the one that was marked."""


class SkippedLines(msgspec.Struct, kw_only=True):
    """The number of undecodable lines in a log, and the first line numbers."""

    count: int = 0
    first: list[int] = []


def append(log: Path, record: msgspec.Struct, *, durable: bool = True) -> tuple[int, int]:
    """Append a record to a log; return where its line begins and ends."""
    return disk.append(log, msgspec.json.encode(record), durable=durable)


def read(
    log: Path, decode: Decode[LogRecord], offset: int = 0, *, end: int = _NO_END
) -> tuple[list[LogRecord], int]:
    """Read the records from an offset on; return them and the offset after the last line."""
    records: list[LogRecord] = []
    after = offset
    for lines, after in read_lines(log, offset, end):  # noqa: B007 - the last one is returned
        records += [record for _, record in decode_lines(lines, decode)]
    return records, after


def read_small(log: Path, decode: Decode[LogRecord]) -> list[LogRecord]:
    """Read all records of a log that stays small, such as the trash; the size is limited."""
    return read(log, decode, end=disk.MOST_LOG_BYTES)[0]


def decode_lines(
    lines: Iterable[bytes], decode: Decode[LogRecord]
) -> Iterator[tuple[bytes, LogRecord]]:
    """Yield each line that can be decoded, with its record."""
    for line in lines:
        try:
            record = decode(line) if line.strip() else None
        except UNREADABLE:
            continue
        if record is not None:
            yield line, record


def count_skipped(log: Path, decode: Decode[LogRecord]) -> SkippedLines:
    """Count the lines that `read` skips because they are damaged."""
    skipped = SkippedLines()
    number = 0
    for lines, _ in read_lines(log, 0, identify(log)[1]):
        for number, line in enumerate(lines, number + 1):  # noqa: B020 - continues the count
            try:
                decode(line) if line.strip() else None
            except UNREADABLE:
                skipped.count += 1
                skipped.first += [number] if skipped.count <= _FIRST_SKIPPED else []
    return skipped


def read_lines(log: Path, offset: int = 0, end: int = _NO_END) -> Iterator[tuple[list[bytes], int]]:
    """Yield the complete lines between two offsets in chunks, with the offset after each chunk.

    A line that is too long for a record is never held in memory.
    """
    size = _CHUNK_BYTES
    while offset < end:
        data = disk.read_from(log, offset, limit=min(size, end - offset))
        last = data.rfind(b"\n")
        if last >= 0:
            offset, size = offset + last + 1, _CHUNK_BYTES
            yield data[:last].split(b"\n"), offset
        elif len(data) < size:
            return  # a torn last line
        elif size < _LONGEST_LINE_BYTES:
            size *= 2  # a line that names thousands of checkpoints
        else:
            # Free the chunk before reading on; it has reached the size limit.
            del data
            after = _find_line_end(log, offset + size, end)
            if after is None:
                return  # a torn last line
            offset, size = after, _CHUNK_BYTES
            yield [_TOO_LONG], offset


def _find_line_end(log: Path, offset: int, end: int) -> int | None:
    """Return where the next line begins; None if the current one is not complete."""
    while offset < end:
        data = disk.read_from(log, offset, limit=min(_CHUNK_BYTES, end - offset))
        found = data.find(b"\n")
        if found >= 0:
            return offset + found + 1
        if not data:
            return None
        offset += len(data)
    return None


def find_news(log: Path, mark: LogMark | None) -> LogNews | None:
    """Return the part of a log beyond a mark; None if it holds no complete line."""
    inode, size = identify(log)
    mark = mark or LogMark(inode)
    # The usual case costs one stat and no read.
    if (inode, size) == (mark.inode, mark.offset):
        return None
    if inode != mark.inode or size < mark.offset or not is_marked(log, mark):
        return LogNews(inode, 0, size, is_another=mark.offset > 0)
    if not any(True for _ in read_lines(log, mark.offset, size)):
        return None
    return LogNews(inode, mark.offset, size, is_another=False)


def mark_at(log: Path, inode: int, offset: int) -> LogMark:
    """Return a mark for a log that was read up to an offset."""
    return LogMark(inode, offset, _read_tail(log, offset))


def is_marked(log: Path, mark: LogMark) -> bool:
    """Return whether a log still has the bytes that precede the mark."""
    return _read_tail(log, mark.offset) == mark.tail


def _read_tail(log: Path, offset: int) -> bytes:
    start = max(0, offset - _TAIL_BYTES)
    return disk.read_from(log, start, limit=offset - start) if offset else b""


def identify(log: Path) -> tuple[int, int]:
    """Return the inode and size of a log; zeros if it is missing or not a regular file."""
    try:
        found = os.lstat(log)
    # Other errors are raised: a disk that does not respond is not an empty log.
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return 0, 0
    return (found.st_ino, found.st_size) if disk.is_regular_file(found) else (0, 0)
