"""The manifest of a mirror: the files it wrote, their content, and its position in the log.

None of it is synced to disk. A file without an entry counts as somebody else's and is imported
before it is replaced. Without a cursor everything is written again, which changes nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from leftoff.errors import StoreRefused
from leftoff.store import disk, log

# Above this size the manifest is rewritten without outdated entries.
_COMPACT_BYTES = 256 * 1024


class ManifestEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One native file as we left it; without a hash it is gone."""

    path: str
    sha256: str = ""
    size: int = 0
    mtime: int = 0
    of: str = ""
    """The checkpoint it shows."""
    key: str = ""
    """The event whose lines were about to be appended when the file had this size."""


# The range that the operating system accepts as a position in a file.
Natural = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class MirrorCursor(msgspec.Struct, frozen=True):
    """The position up to which the event log was processed."""

    inode: Natural
    offset: Natural
    folder_mtime: int = 0
    """When the folder had last changed at the last check."""
    knowledge: str = ""
    """The state of features and memory that was last written."""
    files: dict[str, str] = {}
    """The files that show them, as we left them."""
    prompts: int = 0
    """The length of the prompt log at that time."""


NOWHERE = MirrorCursor(0, 0)
"""The cursor of a mirror that was never written."""

_entry_decoder = msgspec.json.Decoder(ManifestEntry)
_cursor_decoder = msgspec.json.Decoder(MirrorCursor)
_shown_decoder = msgspec.json.Decoder(dict[str, list[str]])
_removed_decoder = msgspec.json.Decoder(list[str])
# More names that are long gone are never looked up.
_MOST_REMOVED = 100
_ODD = (OSError, StoreRefused, msgspec.MsgspecError, UnicodeDecodeError)


class Manifest:
    """What a mirror stores in its folder of the store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "files.jsonl"
        self._files: dict[str, ManifestEntry] = {}
        self._is_read = False
        self._appends: dict[str, ManifestEntry] = {}

    @property
    def files(self) -> dict[str, ManifestEntry]:
        """The files we wrote that existed when we last looked, by path."""
        return self._read()

    def find_append(self, path: str, key: str) -> ManifestEntry | None:
        """Return the entry of an append that was begun."""
        self._read()
        return self._appends.get(f"{path}\n{key}")

    def add(self, entry: ManifestEntry) -> None:
        """Append an entry to the manifest file."""
        log.append(self._log, entry, durable=False)
        if self._is_read:
            self._take(entry)

    def read_cursor(self) -> MirrorCursor | None:
        """Return the position in the log; None if it is unknown or there is none."""
        try:
            return _cursor_decoder.decode(disk.read(self._folder / "cursor.json")[0])
        except _ODD:
            return None

    def write_cursor(self, cursor: MirrorCursor) -> None:
        """Store the position in the log."""
        self._replace("cursor.json", msgspec.json.encode(cursor))

    def read_shown(self) -> dict[str, list[str]]:
        """Return the features and memory that each file showed, as hashes."""
        try:
            return _shown_decoder.decode(disk.read(self._folder / "shown.json")[0])
        except _ODD:
            return {}

    def write_shown(self, shown: Mapping[str, Sequence[str]]) -> None:
        """Store what each file shows; without it a file is imported whole, which adds nothing."""
        self._replace("shown.json", msgspec.json.encode(shown))

    def read_removed(self) -> set[str]:
        """Return the names that the layout's index listed although they had no file."""
        return {*self._read_removed()}

    def add_removed(self, name: str) -> None:
        """Remember that the layout's index listed a name without a file."""
        names = [each for each in self._read_removed() if each != name]
        self._replace("removed.json", msgspec.json.encode([*names, name][-_MOST_REMOVED:]))

    def _read_removed(self) -> list[str]:
        try:
            return _removed_decoder.decode(disk.read(self._folder / "removed.json")[0])
        except _ODD:
            return []

    def _replace(self, name: str, data: bytes) -> None:
        disk.replace(self._folder / name, data, temps=self._folder, durable=False)

    def _read(self) -> dict[str, ManifestEntry]:
        if not self._is_read:
            self._is_read = True
            for entry in log.read_small(self._log, _entry_decoder.decode):
                self._take(entry)
            _, size = log.identify(self._log)
            if size > _COMPACT_BYTES and size > 2 * self._count_bytes():
                self._compact()
        return self._files

    def _take(self, entry: ManifestEntry) -> None:
        if entry.key:
            self._appends[f"{entry.path}\n{entry.key}"] = entry
        elif entry.sha256:
            self._files[entry.path] = entry
        else:
            self._files.pop(entry.path, None)

    def _count_bytes(self) -> int:
        return sum(len(msgspec.json.encode(entry)) + 1 for entry in self._files.values())

    def _compact(self) -> None:
        # Only the newest events are repeated after a crash, so older appends can be forgotten.
        recent = [*self._appends.values()][-100:]
        lines = [msgspec.json.encode(entry) for entry in [*self._files.values(), *recent]]
        disk.replace(self._log, b"".join(line + b"\n" for line in lines), temps=self._log.parent)
