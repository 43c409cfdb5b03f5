"""Trouble: what went wrong in a hook, kept for `doctor` and for the next reply to tell."""

import time
from pathlib import Path

import msgspec

from leftoff.store import disk

_KEPT = 200
_MOST_BYTES = 256 * 1024


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that went wrong. Never what a user typed: ids, places and kinds of errors."""

    at: float
    where: str
    what: str


_decoder = msgspec.json.Decoder(Trouble)


def note(state: Path, where: str, error: BaseException) -> None:
    """Keep a trouble; when even that fails there is nothing left to do."""
    trouble = Trouble(at=time.time(), where=where, what=f"{type(error).__name__}: {error}"[:500])
    try:
        disk.ensure_folder(state)
        disk.append(_path(state), msgspec.json.encode(trouble), durable=False)
        _shorten(state)
    except Exception:  # noqa: BLE001 - a hook never fails
        return


def recent(state: Path) -> list[Trouble]:
    """Return the newest troubles, oldest first."""
    found = []
    for line in disk.read_from(_path(state), 0).splitlines()[-_KEPT:]:
        try:
            found.append(_decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return found


def clear(state: Path) -> None:
    """Forget troubles that were dealt with."""
    _path(state).unlink(missing_ok=True)


def _shorten(state: Path) -> None:
    """Let go of the oldest: what goes wrong at every event must not fill the disk."""
    if _path(state).stat().st_size > _MOST_BYTES:
        lines = disk.read_from(_path(state), 0).splitlines(keepends=True)[-_KEPT:]
        disk.replace(_path(state), b"".join(lines), temps=state)


def _path(state: Path) -> Path:
    return state / "trouble.jsonl"
