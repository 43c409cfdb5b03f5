"""Name, read and write the files of one store folder.

A project has two such folders (areas): its store and its fallback.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint, encode, is_id
from leftoff.errors import StoreRefused
from leftoff.store import disk, events, log

# Letters, digits, dots and dashes, short enough for every file system.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SHARD = re.compile(r"\d{4}-\d{2}")


class Area(msgspec.Struct, frozen=True, dict=True):
    """Checkpoint files in monthly folders, with the event log beside them."""

    root: Path

    @cached_property
    def log(self) -> Path:
        """The event log."""
        return self.root / "events.jsonl"

    @cached_property
    def lock(self) -> Path:
        """The file whose lock orders writers."""
        return self.root / "lock"

    @cached_property
    def temps(self) -> Path:
        """The folder where files are written before they get their final name."""
        return self.root / "tmp"

    @cached_property
    def checkpoints(self) -> Path:
        """The folder that holds the monthly folders."""
        return self.root / "checkpoints"

    def session_file(self, agent: str, session_id: str) -> Path:
        """Return the path of a session's file."""
        return self.root / "sessions" / f"{agent}-{plain_name(session_id)}.json"

    def path_of(self, checkpoint_id: str) -> Path:
        """Return the path of a checkpoint's file, whether it exists or not."""
        return self._shard_of(checkpoint_id) / f"{checkpoint_id}.json"

    def _shard_of(self, checkpoint_id: str) -> Path:
        # Ids begin with the date, so the month needs no lookup.
        shard = f"{checkpoint_id[:4]}-{checkpoint_id[4:6]}"
        folder = self._shards.get(shard)
        if folder is None:
            folder = self._shards[shard] = self.checkpoints / shard
        return folder

    @cached_property
    def _shards(self) -> dict[str, Path]:
        # Cached: a save builds a dozen paths, and each one costs as much as a system call.
        return {}

    @cached_property
    def _open_folders(self) -> dict[Path, disk.Folder]:
        return {}

    def prepare(self) -> None:
        """Create the folders, or refuse if something else has their name."""
        for folder in (self.root, self.temps, self.checkpoints):
            disk.ensure_folder(folder)

    def write(self, checkpoint: Checkpoint) -> Path:
        """Store a checkpoint durably under its id."""
        return self.write_raw(checkpoint.id, encode(checkpoint))

    def write_raw(self, checkpoint_id: str, data: bytes) -> Path:
        """Store a checkpoint's bytes unchanged."""
        name = f"{checkpoint_id}.json"
        shard = self._shard_of(checkpoint_id)
        self._open(shard).write_new(name, data, temps=self.temps)
        return shard / name

    def _open(self, shard: Path) -> disk.Folder:
        """Return the open monthly folder; reopen it if another folder replaced it."""
        found = disk.ensure_folder(shard)
        held = self._open_folders.get(shard)
        if held is None or not held.is_still(found):
            # Only one stays open: importing years of checkpoints would keep one open for each
            # month.
            self._open_folders.clear()
            held = self._open_folders[shard] = disk.Folder(shard)
        return held

    def read(self, checkpoint_id: str) -> tuple[bytes, os.stat_result]:
        """Return a checkpoint's bytes and the file's stat result."""
        return disk.read(self.path_of(checkpoint_id), temps=self.temps)

    def reader(self, shard: str) -> Callable[[str], tuple[bytes, os.stat_result]]:
        """Return a function that reads checkpoints of one month without resolving each path."""
        folder = disk.Folder(self.checkpoints / shard)
        return lambda checkpoint_id: folder.read(f"{checkpoint_id}.json", temps=self.temps)

    def shards(self) -> Iterator[os.DirEntry[str]]:
        """Yield the monthly folders."""
        if not (disk.is_own_folder(self.root) and disk.is_own_folder(self.checkpoints)):
            return
        try:
            entries = list(os.scandir(self.checkpoints))
        except OSError as error:
            raise StoreRefused(
                f"{self.checkpoints} cannot be read: {error.strerror}",
                hint="Make the folder readable again; nothing in it has changed.",
            ) from error
        for entry in entries:
            if _SHARD.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry

    def ids_in(self, shard: str) -> list[str]:
        """List the checkpoint ids in a monthly folder and ignore all other files."""
        begin, end = shard.replace("-", ""), ".json"
        names = os.listdir(self.checkpoints / shard)  # noqa: PTH208 - 100,000 names: no Paths
        stems = (name[:-5] for name in names if name.startswith(begin) and name.endswith(end))
        return sorted(stem for stem in stems if is_id(stem))

    def append(self, event: events.StoreEvent, *, durable: bool = True) -> tuple[int, int]:
        """Append an event to the log; return where its line begins and ends."""
        return log.append(self.log, event, durable=durable)

    def has_anything(self) -> bool:
        """Return whether anything was ever written here."""
        return self.checkpoints.is_dir() or any(self.root.glob("*.jsonl"))


def plain_name(text: str) -> str:
    """Turn an agent's id into a file name: the id itself if it is plain, otherwise its hash."""
    if _PLAIN.fullmatch(text):
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
