"""Store raw hook events on disk, one file each, until settle has processed them.

A file is named AGENT.EVENT.PID.NUMBER, followed by the session if the hook knows it. The tries come
after a `~`: a `t` for each failure, a `k` for each time settle was killed while processing it.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent, decode
from leftoff.errors import StoreRefused
from leftoff.hooks import lease
from leftoff.store import disk

# An event is set aside after this many tries. A killed settle counts less than a failure, because
# the cause may be a reboot, a lack of memory or an impatient user.
_FAILURES = 3
_DEATHS = 40
_LARGEST = 64 * 1024 * 1024
_STRAY_SECONDS = 3600.0
# The agent gives a hook five seconds. A writer that is not visible may be in another container.
_WRITING_SECONDS = 10.0
_UNSEEN_SECONDS = 1.0


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the spool."""

    path: Path
    agent: str
    event: str
    at: float
    writer: int = 0
    """The process that wrote it, or is still writing it."""
    session: str = ""
    """The session, if the hook knew it."""
    failures: int = 0
    deaths: int = 0

    @property
    def is_new(self) -> bool:
        """Whether it was never tried."""
        return not (self.failures or self.deaths)

    @property
    def is_hopeless(self) -> bool:
        """Whether it was tried often enough."""
        return self.failures >= _FAILURES or self.deaths >= _DEATHS


def list_letters(state: Path) -> list[Letter]:
    """Return the waiting events in the order they came; those that failed before come last."""
    order = sorted(_list_letters(state / "spool"), key=lambda letter: (letter.at, letter.path.name))
    return sorted(order, key=lambda letter: (letter.failures, letter.deaths))


def read_times(state: Path) -> Iterator[float]:
    """Yield when each waiting event came."""
    with contextlib.suppress(OSError), os.scandir(state / "spool") as entries:
        for entry in entries:
            if entry.name.count(".") >= 3 and entry.is_file(follow_symlinks=False):
                yield entry.stat(follow_symlinks=False).st_mtime


def _list_letters(spool: Path) -> Iterator[Letter]:
    if not disk.is_own_folder(spool):
        return
    with os.scandir(spool) as entries:
        for entry in entries:
            if entry.name.count(".") < 3:
                continue
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    yield _read_letter(entry.name, entry)
                else:
                    _remove_stray(Path(entry.path))


def _read_letter(name: str, entry: os.DirEntry[str]) -> Letter:
    stem, _, tries = name.partition(lease.TRIED)
    agent, event, writer, _, *rest = stem.split(".")
    session = rest[0] if rest else ""
    # Version 0.1 counted failures after a dot.
    old = int(session[1:]) if session[:1] == "t" and session[1:].isdecimal() else 0
    return Letter(
        path=Path(entry.path),
        agent=agent,
        event=event,
        at=entry.stat(follow_symlinks=False).st_mtime,
        writer=int(writer) if lease.is_pid(writer) else 0,
        session="" if old else session,
        failures=tries.count("t") + old,
        deaths=tries.count("k"),
    )


def _remove_stray(path: Path) -> None:
    """Remove something that has the name of an event but is not a file."""
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name("odd"))
    else:
        path.unlink()


def keep(state: Path, agent: str, event: str, data: bytes, *, durable: bool = False) -> Letter:
    """Write an event to the spool, as the letterbox does."""
    folder = state / "spool"
    disk.ensure_folder(folder)
    path = folder / f"{agent}.{event}.{os.getpid()}.{time.monotonic_ns()}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open already
            file.write(data)
            if durable:
                file.flush()
                os.fsync(descriptor)
    except OSError:
        # Half an event does not show what was asked.
        path.unlink(missing_ok=True)
        raise
    return Letter(path=path, agent=agent, event=event, at=time.time(), writer=os.getpid())


def read(letter: Letter) -> HookEvent | None:
    """Read an event; None if it has no content. Raises DecodeError for a garbled one."""
    dialect = DIALECTS.get(letter.agent)
    if dialect is None or letter.path.stat().st_size > _LARGEST:
        return None
    payload = decode(letter.path.read_bytes())
    if not isinstance(payload, dict):
        return None
    return dialect.translate(letter.event, payload, at=letter.at)


def is_being_written(letter: Letter) -> bool:
    """Return whether an incomplete event may still become complete."""
    try:
        age = time.time() - letter.path.stat().st_mtime
    except OSError:
        return False
    patience = _WRITING_SECONDS if lease.is_there(letter.writer) else _UNSEEN_SECONDS
    return -_UNSEEN_SECONDS < age < patience


def sweep(state: Path) -> None:
    """Remove temporary files of letterboxes that were killed; they are named after the pid."""
    with contextlib.suppress(OSError), os.scandir(state / "spool") as entries:
        for entry in entries:
            if entry.name.isdigit() and _measure_age(entry) > _STRAY_SECONDS:
                Path(entry.path).unlink()


def _measure_age(entry: os.DirEntry[str]) -> float:
    return time.time() - entry.stat(follow_symlinks=False).st_mtime


def remove_letter(letter: Letter) -> None:
    """Remove an event that was processed."""
    letter.path.unlink(missing_ok=True)


def put_back(letter: Letter) -> None:
    """Keep a failed event for another try by the next settle."""
    with contextlib.suppress(OSError):
        letter.path.replace(letter.path.with_name(lease.next_name(letter.path.name, "t")))


def set_aside(letter: Letter, state: Path) -> None:
    """Move an event to `poison`, where it is not tried again; if that fails, it stays."""
    stem = letter.path.name.partition(lease.TRIED)[0]
    with contextlib.suppress(OSError):
        try:
            disk.ensure_folder(state / "poison")
            letter.path.replace(state / "poison" / stem)
        except (OSError, StoreRefused):
            letter.path.replace(letter.path.with_name(f"{stem}{lease.TRIED}{'t' * _FAILURES}"))
