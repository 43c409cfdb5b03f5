"""Back up the files of other programs before leftoff changes them, to restore them later."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.digests import sha256
from leftoff.store import disk, log
from leftoff.wiring import foreign_files


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A change to a file: its path, the backup of the old content, the hash of the new one."""

    at: datetime
    path: str
    before: str | None
    """The name of the backup; None if the file did not exist."""
    after: str | None = None
    """The hash of the new content; None if the file was removed."""
    folders: list[str] = []
    """The folders that were created for the file."""


class Original(msgspec.Struct, frozen=True, kw_only=True):
    """A file's content before leftoff first changed it; None if it did not exist."""

    data: bytes | None
    folders: list[Path] = []


_decoder = msgspec.json.Decoder(Receipt)


def keep(state: Path, path: Path, data: bytes) -> Path:
    """Back up a file's content; return the path of the copy."""
    folder = state / "backups"
    disk.ensure_folder(folder)
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    backup = folder / f"{stamp}-{path.name}"
    disk.write_new(backup, data, temps=folder)
    return backup


def note(
    state: Path, change: foreign_files.FileChange, backup: Path | None, folders: list[Path]
) -> None:
    """Record a change in the log of backups."""
    receipt = Receipt(
        at=datetime.now(UTC),
        path=str(change.path),
        before=backup.name if backup else None,
        after=_hash(change.after) if change.after is not None else None,
        folders=[str(folder) for folder in folders],
    )
    disk.ensure_folder(state / "backups")
    log.append(state / "backups" / "log.jsonl", receipt)


def receipts(state: Path) -> list[Receipt]:
    """Return all recorded changes, oldest first."""
    return log.read_small(state / "backups" / "log.jsonl", _decoder.decode)


def original(state: Path, path: Path, current: bytes) -> Original | None:
    """Trace a file's content back to the original; None if someone else changed it since."""
    data: bytes | None = current
    folders: list[Path] = []
    for receipt in reversed([each for each in receipts(state) if each.path == str(path)]):
        # Skip changes that did not produce this content.
        if data is None or receipt.after != _hash(data):
            continue
        folders = [*map(Path, receipt.folders), *folders]
        data = foreign_files.read(state / "backups" / receipt.before) if receipt.before else None
        # The backup itself is missing.
        if data is None and receipt.before:
            return None
    return None if data is current else Original(data=data, folders=folders)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
