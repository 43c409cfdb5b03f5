"""Record what went wrong in hooks, for `leftoff doctor` and the next session start."""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from leftoff import hooks
from leftoff.errors import LeftoffError, StoreRefused
from leftoff.projects.project import Project
from leftoff.store import disk, log
from leftoff.text.plural import format_count

_KEPT = 200
_MOST_BYTES = 256 * 1024
# Events are normally processed within seconds.
_LATE_SECONDS = 60.0
# With so few events in it, the spool counts as drained.
_DRAINED = 200
# Marks of the letterbox, which is a shell script and cannot write the log.
_STANDING = {
    "full": "The spool is full: hooks store no events until the waiting ones have been processed.",
    "lost": "Events were lost because they could not be written to the spool folder.",
}


_UNCLEAR_FILE = re.compile(r"Could not import (.+?): ")


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One problem: ids, places and kinds of errors, never what a user typed."""

    at: float
    where: str
    what: str
    store: str = ""
    """The store of the project whose files have the problem; empty if leftoff has it."""


_decoder = msgspec.json.Decoder(Trouble)


def note(state: Path, where: str, error: BaseException) -> None:
    """Record a problem; if even that fails, there is nothing left to do."""
    _append(state, Trouble(at=time.time(), where=where, what=_format_error(error)[:500]))


def note_files(project: Project, problems: Iterable[str]) -> None:
    """Record problems with native files, which concern nobody outside their project."""
    for what in problems:
        found = Trouble(at=time.time(), where="files", what=what[:500], store=str(project.store))
        _append(project.state_folder, found)


def _append(state: Path, trouble: Trouble) -> None:
    try:
        disk.ensure_folder(state)
        log.append(_find_path(state), trouble, durable=False)
        _shorten(state)
    except Exception:  # noqa: BLE001 - a hook never fails
        return


def _format_error(error: BaseException) -> str:
    """Describe an error; only a bug is named by its class."""
    if isinstance(error, LeftoffError):
        return error.message
    if isinstance(error, msgspec.DecodeError):
        return f"The agent sent an event that cannot be read: {error}"
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{place}"
    return f"{type(error).__name__}: {error}"


def list_recent(state: Path) -> list[Trouble]:
    """Return the newest problems of leftoff, oldest first, and those that persist."""
    return [*_list_own(state), *list_unresolved(state)]


def list_of_files(project: Project) -> list[str]:
    """Return the newest problems with a project's native files, oldest first."""
    store = str(project.store)
    found = [each for each in _read(project.state_folder) if each.store == store][-_KEPT:]
    return [*dict.fromkeys(each.what for each in found if not _is_over(each))]


def _is_over(trouble: Trouble) -> bool:
    """Return whether the file was changed or removed since; a file still broken is noted again."""
    named = _UNCLEAR_FILE.match(trouble.what)
    if named is None:
        return False
    try:
        # Not the mtime: a copy of a sound file may be older.
        return Path(named[1]).stat().st_ctime > trouble.at
    except OSError:
        return True


def count_recent(state: Path) -> int:
    """Count the newest problems of leftoff; quick, however many events wait."""
    marks = [name for name in _STANDING if disk.is_regular(state / name)]
    is_late = bool(_read_late(state))
    return len(_list_own(state)) + len(marks) + is_late


def list_unresolved(state: Path) -> list[Trouble]:
    """Return the problems that persist until something is done about them."""
    found = []
    for name, what in _STANDING.items():
        with contextlib.suppress(OSError):
            mark = (state / name).lstat()
            if stat.S_ISREG(mark.st_mode):
                found.append(Trouble(at=mark.st_mtime, where="hooks", what=what))
    waiting = _read_late(state)
    if waiting:
        what = (
            f"{format_count(len(waiting), 'event')} waited for more than a minute to be processed"
        )
        found.append(Trouble(at=min(waiting), where="settle", what=what))
    return found


def _read_late(state: Path) -> list[float]:
    """Return when each event came in that should have been processed by now."""
    # `leftoff status` asks, and seldom does an event wait.
    try:
        with os.scandir(state / "spool") as found:
            is_empty = next(found, None) is None
    except OSError:
        return []
    late = time.time() - _LATE_SECONDS
    return [] if is_empty else [at for at in hooks.spool.read_times(state) if at < late]


def forget_full(state: Path) -> None:
    """Let hooks store events again once the spool is drained, and note that some were lost."""
    full = state / "full"
    _remove_stray_mark(full)
    if os.path.lexists(full) and len(hooks.spool.list_letters(state)) < _DRAINED:
        with contextlib.suppress(OSError):
            (state / "lost").touch(mode=0o600)
            full.unlink()


def _remove_stray_mark(mark: Path) -> None:
    """Remove what is in the place of a mark; rename a folder, as it may hold somebody's files.

    While anything else is there, the letterbox cannot make the mark.
    """
    with contextlib.suppress(OSError):
        found = mark.lstat()
        if stat.S_ISDIR(found.st_mode):
            mark.rename(mark.with_name(f"{mark.name}-{time.time_ns()}"))
        elif not stat.S_ISREG(found.st_mode):
            mark.unlink()


def clear(state: Path) -> None:
    """Remove the recorded problems."""
    for path in (_find_path(state), state / "lost"):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _list_own(state: Path) -> list[Trouble]:
    return [each for each in _read(state) if not each.store][-_KEPT:]


def _read(state: Path) -> list[Trouble]:
    with contextlib.suppress(OSError, StoreRefused):
        return log.read_small(_find_path(state), _decoder.decode)
    return []


def _shorten(state: Path) -> None:
    """Drop the oldest: a problem at every event must not fill the disk."""
    if _find_path(state).stat().st_size > _MOST_BYTES:
        newest = log.read_small(_find_path(state), _decoder.decode)[-_KEPT:]
        lines = [msgspec.json.encode(trouble) for trouble in newest]
        disk.replace(_find_path(state), b"".join(line + b"\n" for line in lines), temps=state)


def _find_path(state: Path) -> Path:
    return state / "trouble.jsonl"
