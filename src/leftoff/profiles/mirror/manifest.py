"""Notes: what a mirror wrote where, so that a file changed by someone else is noticed.

An append-only log in the store. It is not synced: without a note a file counts as somebody's own,
is taken into the store before it is replaced, and nothing is lost.
"""

from pathlib import Path

import msgspec

from leftoff.store import disk

_COMPACT_BYTES = 256 * 1024


class Note(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One native file as we left it; without a hash it is gone."""

    path: str
    sha256: str = ""
    size: int = 0
    mtime: int = 0
    of: str = ""
    """The checkpoint it shows."""
    key: str = ""
    """The event whose lines were about to be added when the file had this size."""


_decoder = msgspec.json.Decoder(Note)


class Notes:
    """The notes on one folder of native files."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._files: dict[str, Note] = {}
        self._is_read = False
        self._appends: dict[str, Note] = {}

    @property
    def files(self) -> dict[str, Note]:
        """The files we wrote and that were there when we last looked, by path."""
        return self._read()

    def appended(self, path: str, key: str) -> Note | None:
        """Return the note on an addition that was begun."""
        self._read()
        return self._appends.get(f"{path}\n{key}")

    def add(self, note: Note) -> None:
        """Write a note down."""
        disk.append(self._log, msgspec.json.encode(note), durable=False)
        if self._is_read:
            self._take(note)

    def _read(self) -> dict[str, Note]:
        if not self._is_read:
            self._is_read = True
            data = disk.read_from(self._log, 0, limit=disk.MOST_LOG_BYTES)
            for line in data.splitlines():
                try:
                    self._take(_decoder.decode(line))
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    continue
            if len(data) > _COMPACT_BYTES and len(data) > 2 * self._needed():
                self._compact()
        return self._files

    def _take(self, note: Note) -> None:
        if note.key:
            self._appends[f"{note.path}\n{note.key}"] = note
        elif note.sha256:
            self._files[note.path] = note
        else:
            self._files.pop(note.path, None)

    def _needed(self) -> int:
        return sum(len(msgspec.json.encode(note)) + 1 for note in self._files.values())

    def _compact(self) -> None:
        # Additions are told twice only right after a crash, and then by the newest events.
        recent = [*self._appends.values()][-100:]
        lines = [msgspec.json.encode(note) for note in [*self._files.values(), *recent]]
        disk.replace(self._log, b"".join(line + b"\n" for line in lines), temps=self._log.parent)
