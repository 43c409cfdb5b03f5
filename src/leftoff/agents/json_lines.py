"""Incremental reading of a session kept as lines of JSON.

A cursor remembers how far a file was read and what the bytes looked like there. Only new bytes
are read; a file that was rewritten, truncated or forked no longer matches its cursor and is read
again from the start.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

import msgspec

from leftoff.agents.agent import LineReader
from leftoff.agents.stream import SessionEvent

CHUNK_BYTES = 1 << 18
LONGEST_LINE = 16 << 20
_BUFFER_BYTES = 1 << 18
_LONGEST_MENDED = 4 << 20
_NEWLINE = 0x0A
_SAMPLE_BYTES = 1024
_CONTROL = bytes(range(32))
_AS_SPACE = bytes.maketrans(_CONTROL, b" " * len(_CONTROL))
_LONE_SURROGATE = re.compile(
    r"\\u[dD][89aAbB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89aAbB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2}"
)
_ENTRY_START = re.compile(r'\{"(?:type|parentUuid|timestamp|id)":')
_OBJECT_START = re.compile(r'\{\s*"')
_MOST_OBJECTS = 64


class ReadCursor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a session file was read, and a fingerprint of what was read."""

    offset: int = 0
    inode: int = 0
    head: str = ""
    tail: str = ""
    lines: int = 0
    skipped: int = 0


class Reading:
    """One reading of a file: yields batches of events and keeps the cursor up to date."""

    def __init__(self, path: Path, cursor: ReadCursor, reader: LineReader) -> None:
        self._path = path
        self._reader = reader
        self._feed: Callable[[bytes], Sequence[SessionEvent]] = reader.feed
        self._lines = cursor.lines
        self._skipped = cursor.skipped
        self.cursor = cursor

    def batches(
        self, progress: Callable[[int], None] | None = None
    ) -> Iterator[list[SessionEvent]]:
        """Yield the events of the new whole lines, a part of the file at a time."""
        with self._path.open("rb", buffering=_BUFFER_BYTES) as file:
            offset = self.cursor.offset
            file.seek(offset)
            for events, size in self._batches(file):
                offset += size
                yield events
                if progress is not None:
                    progress(offset)
            self.cursor = self._cursor_at(file, offset)

    def _batches(self, file: IO[bytes]) -> Iterator[tuple[list[SessionEvent], int]]:
        """Yield events and the size of the lines that told them, about a chunk at a time."""
        feed = self._feed
        events: list[SessionEvent] = []
        size = 0
        # Each line is decoded at once, while it is still near.
        for line in iter(partial(file.readline, LONGEST_LINE), b""):
            if line[-1] == _NEWLINE:
                size += len(line)
                try:
                    events += feed(line)
                except (ValueError, RecursionError) as error:
                    events += self._salvage(line, error)
            elif len(line) == LONGEST_LINE:
                size += self._drop(line, file)
            elif (last := self._read_last(line)) is not None:
                size += len(line)
                events += last
            else:
                # Were its other half read now, while it is being written, both were lost.
                break
            self._lines += 1
            if size >= CHUNK_BYTES:
                yield events, size
                events, size = [], 0
        if size:
            yield events, size

    def _drop(self, line: bytes, file: IO[bytes]) -> int:
        """Pass over a line beyond any sense and return its length."""
        size = len(line)
        while line and line[-1] != _NEWLINE:
            line = file.readline(LONGEST_LINE)
            size += len(line)
        self._skipped += 1
        return size

    def _read_last(self, rest: bytes) -> list[SessionEvent] | None:
        """Take a last line that lacks only its newline; a torn one waits for its other half."""
        try:
            events = list(self._feed(rest))
        except msgspec.ValidationError:
            events = []
        except (ValueError, RecursionError):
            return None
        # A reader may skip a line by its first bytes, so that a torn one looks whole.
        return events if _is_whole(rest) else None

    def _salvage(self, line: bytes, error: Exception) -> list[SessionEvent]:
        """Read what can be read of a line that is not one clean JSON object."""
        if line.isspace():
            self._lines -= 1
            return []
        if isinstance(error, msgspec.ValidationError | RecursionError) or (
            len(line) > _LONGEST_MENDED
        ):
            self._skipped += 1
            return []
        events: list[SessionEvent] = []
        found = 0
        for part in _objects(line):
            try:
                events.extend(self._feed(part))
                found += 1
            except (ValueError, RecursionError):
                continue
        if not found:
            self._skipped += 1
        return events

    def _cursor_at(self, file: IO[bytes], offset: int) -> ReadCursor:
        head, tail = _samples(file, offset)
        return ReadCursor(
            offset=offset,
            inode=os.fstat(file.fileno()).st_ino,
            head=head,
            tail=tail,
            lines=self._lines,
            skipped=self._skipped,
        )


def still_matches(path: Path, cursor: ReadCursor) -> bool:
    """Tell whether the file still begins with what was read up to the cursor."""
    if cursor.offset <= 0:
        # Nobody can have read less than nothing: such a cursor is garbled.
        return cursor.offset == 0
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < cursor.offset:
                return False
            return _samples(file, cursor.offset) == (cursor.head, cursor.tail)
    except OSError:
        return False


def _objects(line: bytes) -> Iterator[bytes]:
    """Take a damaged line apart into the JSON objects it holds."""
    text = line.translate(_AS_SPACE).decode("utf-8", "replace")
    text = _LONE_SURROGATE.sub(r"\\ufffd", text)
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(_MOST_OBJECTS):
        start = _OBJECT_START.search(text, position)
        if start is None:
            return
        try:
            _, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            # Half an object may be followed by a whole one: a torn line that was appended to.
            position = _next_glued(text, start.start())
            if position < 0:
                return
        else:
            yield text[start.start() : position].encode()


def _next_glued(text: str, start: int) -> int:
    """Find where a new entry begins inside a broken one; -1 if nowhere."""
    found = _ENTRY_START.search(text, start + 1)
    return found.start() if found else -1


def _is_whole(rest: bytes) -> bool:
    text = rest.strip()
    if not text.startswith(b"{"):
        return not text.strip(b"\0")
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


def _samples(file: IO[bytes], offset: int) -> tuple[str, str]:
    file.seek(0)
    head = file.read(min(_SAMPLE_BYTES, offset))
    file.seek(max(0, offset - _SAMPLE_BYTES))
    tail = file.read(min(_SAMPLE_BYTES, offset))
    return _digest(head), _digest(tail)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
