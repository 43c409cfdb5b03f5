"""The spool: raw hook events on disk, one file each, until settle has turned them into state."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent, decode
from leftoff.store import disk

# So often an event is tried before it is set aside. A file still being written fails to parse
# and is whole at the next try.
_TRIES = 3
_LARGEST = 64 * 1024 * 1024
_STRAY_SECONDS = 3600.0


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it lies in the spool."""

    path: Path
    agent: str
    event: str
    at: float
    tries: int = 0


def letters(state: Path) -> list[Letter]:
    """Return the events that wait, in the order they came."""
    return sorted(_letters(state / "spool"), key=lambda letter: (letter.at, letter.path.name))


def _letters(spool: Path) -> Iterator[Letter]:
    if not disk.is_own_folder(spool):
        return
    with os.scandir(spool) as entries:
        for entry in entries:
            parts = entry.name.split(".")
            if len(parts) < 4 or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                yield Letter(
                    path=Path(entry.path),
                    agent=parts[0],
                    event=parts[1],
                    at=entry.stat(follow_symlinks=False).st_mtime,
                    tries=int(parts[4][1:]) if len(parts) > 4 and parts[4][1:].isdigit() else 0,
                )


def keep(state: Path, agent: str, event: str, data: bytes, *, durable: bool = False) -> Letter:
    """Put an event into the spool, as the letterbox does."""
    folder = state / "spool"
    disk.ensure_folder(folder)
    path = folder / f"{agent}.{event}.{os.getpid()}.{time.monotonic_ns()}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open already
        file.write(data)
        if durable:
            file.flush()
            os.fsync(descriptor)
    return Letter(path=path, agent=agent, event=event, at=time.time())


def read(letter: Letter) -> HookEvent | None:
    """Read an event; None for one that tells nothing. DecodeError for a garbled one."""
    dialect = DIALECTS.get(letter.agent)
    if dialect is None or letter.path.stat().st_size > _LARGEST:
        return None
    payload = decode(letter.path.read_bytes())
    if not isinstance(payload, dict):
        return None
    return dialect.translate(letter.event, payload, at=letter.at)


def sweep(state: Path) -> None:
    """Remove what letterboxes that were killed left half-read: files named by their process."""
    with contextlib.suppress(OSError), os.scandir(state / "spool") as entries:
        for entry in entries:
            if entry.name.isdigit() and _age(entry) > _STRAY_SECONDS:
                Path(entry.path).unlink()


def _age(entry: os.DirEntry[str]) -> float:
    return time.time() - entry.stat(follow_symlinks=False).st_mtime


def done(letter: Letter) -> None:
    """Let go of an event that was settled."""
    letter.path.unlink(missing_ok=True)


def put_back(letter: Letter, state: Path) -> bool:
    """Keep an event that could not be settled for another try; say whether it was the last."""
    tries = letter.tries + 1
    stem = ".".join(letter.path.name.split(".")[:4])
    with contextlib.suppress(OSError):
        if tries >= _TRIES:
            disk.ensure_folder(state / "poison")
            letter.path.replace(state / "poison" / stem)
        else:
            letter.path.replace(letter.path.with_name(f"{stem}.t{tries}"))
    return tries >= _TRIES
