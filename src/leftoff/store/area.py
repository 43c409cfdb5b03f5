"""An area: one folder with the store's layout. A project has two, its store and its fallback."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint, encode, is_id
from leftoff.store import disk, events

# Letters, digits, dots and dashes, and short enough for any file system.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SHARD = re.compile(r"\d{4}-\d{2}")


class Area(msgspec.Struct, frozen=True):
    """Checkpoint files in folders by month, and the event log beside them."""

    root: Path

    @property
    def log(self) -> Path:
        """The event log."""
        return self.root / "events.jsonl"

    @property
    def lock(self) -> Path:
        """The file whose lock orders writers."""
        return self.root / "lock"

    @property
    def temps(self) -> Path:
        """Where files are written before they get their name."""
        return self.root / "tmp"

    @property
    def checkpoints(self) -> Path:
        """The folder of the monthly folders."""
        return self.root / "checkpoints"

    @property
    def sessions(self) -> Path:
        """The folder of what was learnt of each session."""
        return self.root / "sessions"

    def session_path(self, agent: str, session_id: str) -> Path:
        """Tell where a session's memory is kept; an id that is no plain name goes by its hash."""
        plain = session_id if _PLAIN.fullmatch(session_id) else _digest(session_id)
        return self.sessions / f"{agent}-{plain}.json"

    def path_of(self, checkpoint_id: str) -> Path:
        """Tell where a checkpoint's file is, or would be."""
        shard = f"{checkpoint_id[:4]}-{checkpoint_id[4:6]}"
        return self.checkpoints / shard / f"{checkpoint_id}.json"

    def prepare(self) -> None:
        """Make the folders, or refuse what stands in their place."""
        for folder in (self.root, self.temps, self.checkpoints):
            disk.ensure_folder(folder)

    def write(self, checkpoint: Checkpoint) -> Path:
        """Store a checkpoint durably under its id."""
        return self.write_raw(checkpoint.id, encode(checkpoint))

    def write_raw(self, checkpoint_id: str, data: bytes) -> Path:
        """Store a checkpoint's bytes as they are."""
        path = self.path_of(checkpoint_id)
        disk.ensure_folder(path.parent)
        disk.write_new(path, data, temps=self.temps)
        return path

    def read(self, checkpoint_id: str) -> tuple[bytes, os.stat_result]:
        """Read a checkpoint's bytes, with what the file system says of the file."""
        return disk.read(self.path_of(checkpoint_id), temps=self.temps)

    def shards(self) -> Iterator[os.DirEntry[str]]:
        """Yield the monthly folders."""
        try:
            entries = list(os.scandir(self.checkpoints))
        except FileNotFoundError:
            return
        for entry in entries:
            if _SHARD.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry

    def ids_in(self, shard: str) -> list[str]:
        """List the ids of a monthly folder, whatever else was put there left out."""
        names = os.listdir(self.checkpoints / shard)  # noqa: PTH208 - 100,000 names: no Path each
        stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return sorted(stem for stem in stems if is_id(stem))

    def append(self, event: events.Event, *, durable: bool = True) -> None:
        """Add an event to the log."""
        events.append(self.log, event, durable=durable)

    def has_anything(self) -> bool:
        """Say whether anything was ever written here."""
        return self.checkpoints.is_dir() or self.log.exists()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
