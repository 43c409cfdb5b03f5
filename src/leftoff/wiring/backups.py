"""Backups: every file of others as it was before we changed it, with where it came from."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.store import disk, log
from leftoff.wiring import foreign_files


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was made: which file, what it was before, and the hash of what it became."""

    at: datetime
    path: str
    before: str | None
    """The name of the backup; None if there was no file."""
    after: str
    folders: list[str] = []
    """Folders that were made for the file."""


class Original(msgspec.Struct, frozen=True, kw_only=True):
    """What a file was before leftoff first changed it; without data there was none."""

    data: bytes | None
    folders: list[Path] = []


_decoder = msgspec.json.Decoder(Receipt)


def keep(state: Path, path: Path, data: bytes) -> Path:
    """Keep a copy of a file's content."""
    folder = state / "backups"
    disk.ensure_folder(folder)
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    backup = folder / f"{stamp}-{path.name}"
    disk.write_new(backup, data, temps=folder)
    return backup


def note(
    state: Path, change: foreign_files.FileChange, backup: Path | None, folders: list[Path]
) -> None:
    """Note that a file was changed."""
    receipt = Receipt(
        at=datetime.now(UTC),
        path=str(change.path),
        before=backup.name if backup else None,
        after=_hash(change.after or b""),
        folders=[str(folder) for folder in folders],
    )
    disk.ensure_folder(state / "backups")
    log.append(state / "backups" / "log.jsonl", receipt)


def receipts(state: Path) -> list[Receipt]:
    """Return all changes that were made, oldest first."""
    return log.read_small(state / "backups" / "log.jsonl", _decoder.decode)


def original(state: Path, path: Path, current: bytes) -> Original | None:
    """Follow the changes back from what a file is now; None if somebody else has changed it."""
    data: bytes | None = current
    folders: list[Path] = []
    for receipt in reversed([each for each in receipts(state) if each.path == str(path)]):
        if data is None or receipt.after != _hash(data):
            continue
        folders = [*map(Path, receipt.folders), *folders]
        data = foreign_files.read(state / "backups" / receipt.before) if receipt.before else None
        if data is None and receipt.before:
            return None
    return None if data is current else Original(data=data, folders=folders)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
