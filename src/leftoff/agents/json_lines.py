"""Read new transcript lines and turn them into events.

A cursor records how far a file was read and a fingerprint of the bytes before that point. Only new
bytes are read. A file that was rewritten, truncated or forked no longer matches its cursor, and is
read again from the start.
"""

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
from leftoff.digests import blake2b

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
    """How far a session file was read, and a fingerprint of that part."""

    offset: int = 0
    inode: int = 0
    head: str = ""
    tail: str = ""
    lines: int = 0
    skipped: int = 0


class Reading:
    """One pass over a file: yields batches of events and keeps the cursor up to date."""

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
        """Yield the events of the new complete lines in batches."""
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
        """Yield events in batches, with the number of bytes they came from."""
        feed = self._feed
        events: list[SessionEvent] = []
        size = 0
        # Each line is decoded right away, while it is still in the CPU cache.
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
                # Reading on now could catch the other half while it is written, and lose both
                # halves.
                break
            self._lines += 1
            if size >= CHUNK_BYTES:
                yield events, size
                events, size = [], 0
        if size:
            yield events, size

    def _drop(self, line: bytes, file: IO[bytes]) -> int:
        """Skip a line that is too long to be one, and return its length."""
        size = len(line)
        while line and line[-1] != _NEWLINE:
            line = file.readline(LONGEST_LINE)
            size += len(line)
        self._skipped += 1
        return size

    def _read_last(self, rest: bytes) -> list[SessionEvent] | None:
        """Read a last line that lacks only its newline; a torn one waits for the rest."""
        try:
            events = list(self._feed(rest))
        except msgspec.ValidationError:
            events = []
        except (ValueError, RecursionError):
            return None
        # A reader may skip a line by its first bytes, so a torn line would look complete.
        return events if _is_whole(rest) else None

    def _salvage(self, line: bytes, error: Exception) -> list[SessionEvent]:
        """Read what is readable in a line that is not one clean JSON object."""
        # A blank line is not an entry, so it does not count as skipped.
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
    """Return whether the file still begins with what was read up to the cursor."""
    if cursor.offset <= 0:
        # A negative offset is impossible, so the cursor is corrupt.
        return cursor.offset == 0
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < cursor.offset:
                return False
            return _samples(file, cursor.offset) == (cursor.head, cursor.tail)
    except OSError:
        return False


def _objects(line: bytes) -> Iterator[bytes]:
    """Split a damaged line into the JSON objects it contains."""
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
            # A torn line that was appended to: half an object may be followed by a complete one.
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
        # A power cut can leave zeros where a line was being written.
        return not text.strip(b"\0")
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


def _samples(file: IO[bytes], offset: int) -> tuple[str, str]:
    file.seek(0)
    # Two samples, not a hash of everything: checking must cost less than reading.
    head = file.read(min(_SAMPLE_BYTES, offset))
    file.seek(max(0, offset - _SAMPLE_BYTES))
    tail = file.read(min(_SAMPLE_BYTES, offset))
    return _digest(head), _digest(tail)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
