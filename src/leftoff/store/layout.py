"""An area: one folder with the store's layout. A project has two, its store and its fallback."""

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

# Letters, digits, dots and dashes, and short enough for any file system.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SHARD = re.compile(r"\d{4}-\d{2}")


class Area(msgspec.Struct, frozen=True, dict=True):
    """Checkpoint files in folders by month, and the event log beside them."""

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
        """Where files are written before they get their name."""
        return self.root / "tmp"

    @cached_property
    def checkpoints(self) -> Path:
        """The folder of the monthly folders."""
        return self.root / "checkpoints"

    def session_file(self, agent: str, session_id: str) -> Path:
        """Tell where what was learnt of a session is kept."""
        return self.root / "sessions" / f"{agent}-{plain_name(session_id)}.json"

    def path_of(self, checkpoint_id: str) -> Path:
        """Tell where a checkpoint's file is, or would be."""
        return self._shard_of(checkpoint_id) / f"{checkpoint_id}.json"

    def _shard_of(self, checkpoint_id: str) -> Path:
        shard = f"{checkpoint_id[:4]}-{checkpoint_id[4:6]}"
        folder = self._shards.get(shard)
        if folder is None:
            folder = self._shards[shard] = self.checkpoints / shard
        return folder

    @cached_property
    def _shards(self) -> dict[str, Path]:
        # A save makes a dozen paths, and each costs as much as a call to the system.
        return {}

    @cached_property
    def _open_folders(self) -> dict[Path, disk.Folder]:
        return {}

    def prepare(self) -> None:
        """Make the folders, or refuse what stands in their place."""
        for folder in (self.root, self.temps, self.checkpoints):
            disk.ensure_folder(folder)

    def write(self, checkpoint: Checkpoint) -> Path:
        """Store a checkpoint durably under its id."""
        return self.write_raw(checkpoint.id, encode(checkpoint))

    def write_raw(self, checkpoint_id: str, data: bytes) -> Path:
        """Store a checkpoint's bytes as they are."""
        name = f"{checkpoint_id}.json"
        shard = self._shard_of(checkpoint_id)
        self._open(shard).write_new(name, data, temps=self.temps)
        return shard / name

    def _open(self, shard: Path) -> disk.Folder:
        """Return a monthly folder that is open; it is opened again if another took its place."""
        found = disk.ensure_folder(shard)
        held = self._open_folders.get(shard)
        if held is None or not held.is_still(found):
            # One at a time: an import of years would hold one for each month.
            self._open_folders.clear()
            held = self._open_folders[shard] = disk.Folder(shard)
        return held

    def read(self, checkpoint_id: str) -> tuple[bytes, os.stat_result]:
        """Read a checkpoint's bytes, with what the file system says of the file."""
        return disk.read(self.path_of(checkpoint_id), temps=self.temps)

    def reader(self, shard: str) -> Callable[[str], tuple[bytes, os.stat_result]]:
        """Return what reads checkpoints of one monthly folder, without a walk to each."""
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
                hint="Make the folder readable again; nothing in it was changed.",
            ) from error
        for entry in entries:
            if _SHARD.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry

    def ids_in(self, shard: str) -> list[str]:
        """List the ids of a monthly folder, whatever else was put there left out."""
        begin, end = shard.replace("-", ""), ".json"
        names = os.listdir(self.checkpoints / shard)  # noqa: PTH208 - 100,000 names: no Path each
        stems = (name[:-5] for name in names if name.startswith(begin) and name.endswith(end))
        return sorted(stem for stem in stems if is_id(stem))

    def append(self, event: events.StoreEvent, *, durable: bool = True) -> tuple[int, int]:
        """Add an event to the log; return where it begins and ends."""
        return log.append(self.log, event, durable=durable)

    def has_anything(self) -> bool:
        """Say whether anything was ever written here."""
        return self.checkpoints.is_dir() or any(self.root.glob("*.jsonl"))


def plain_name(text: str) -> str:
    """Make a file name of an agent's id: the id itself, or its hash if that is no plain name."""
    if _PLAIN.fullmatch(text):
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
