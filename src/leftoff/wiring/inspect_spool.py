"""Check that events get from the hooks into checkpoints: spool, skipped events, hook errors."""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from leftoff.hooks import lease, settle, spool, trouble
from leftoff.store import disk
from leftoff.text import times
from leftoff.text.plural import format_count
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning

# The settle process that this check starts kills one that hangs, after a few seconds.
_PATIENCE_SECONDS = 8.0
# Settle takes a second or two; if an event waits longer, settle did not run after the hook.
_LATE_SECONDS = 60.0
_SHOWN = 3
_FOLDERS = (
    "spool", "poison", "ready", "live", "usage", "locks", "folders", "fallback", "projects",
    "allowed", "owed",
)  # fmt: skip
_FILES = ("python", "trying", "settle.lock", "trouble.jsonl", "lost", "full", "key")
# The session start removes a larger one, and no command needs one so large.
_MOST_PYTHON_BYTES = 32 * 1024


def check_places(world: World) -> Iterator[DoctorFinding]:
    """Check that no link, FIFO or device is in the place of a file that hooks use."""
    state = world.places.state
    strange = [
        *(state / name for name in _FOLDERS if _is_strange(state / name, is_folder=True)),
        *(state / name for name in _FILES if _is_strange(state / name, is_folder=False)),
    ]
    for path in strange:
        what = "a folder that you own" if path.name in _FOLDERS else "a regular file"
        yield fault(
            "state",
            f"{path} is not {what}",
            why="leftoff refuses links and special files there.",
            do=f"Move {path} away.",
        )
    path = state / "python"
    if not strange and disk.is_regular(path) and path.stat().st_size > _MOST_PYTHON_BYTES:
        yield fault(
            "state",
            f"{path} is too large, so it is damaged",
            why="The hooks hang while they read it.",
            do=f"Remove {path}, then run `leftoff init`.",
        )


def check_spool(world: World) -> Iterator[DoctorFinding]:
    """Process the waiting events, and report those that are left or waited too long."""
    state = world.places.state
    waiting = spool.list_letters(state)
    late = [letter for letter in waiting if time.time() - letter.at > _LATE_SECONDS]
    # Look before settle runs, because it removes the mark.
    had_mark = _has_stale_mark(state)
    is_settled = settle.run_apart(state, wait_seconds=_PATIENCE_SECONDS)
    left = spool.list_letters(state)
    if is_settled:
        yield _report_settled(late, left=len(left))
    else:
        yield _report_waiting(state, left=left, done=len(waiting) - len(left))
    if had_mark and not waiting:
        settle.run(state)
        yield warning(
            "spool",
            "A settle process died and left its mark; the mark is now removed",
            why="Because of the mark, hooks may not have started a new process.",
            do="Nothing, unless it happens again.",
        )


def _report_waiting(state: Path, *, left: Sequence[spool.Letter], done: int) -> DoctorFinding:
    """Report the waiting events and what settle is doing."""
    words = lease.words_of(f"{state}/trying")
    seconds = time.time() - int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0.0
    waits = f"{format_count(len(left), 'event')} {'is' if len(left) == 1 else 'are'} waiting"
    if done > 0 and seconds < settle.EVENT_SECONDS:
        return warning(
            "spool",
            f"{waits}; events are being processed right now",
            why="They are in no checkpoint yet.",
            do="Run `leftoff doctor` again in a minute.",
        )
    at_work = "settle is not running"
    if words:
        at_work = f"settle has been processing {words[0]} for {seconds:.0f} seconds"
    return fault(
        "spool",
        f"{waits}, but {at_work}",
        why="leftoff saves nothing new until then. It sets aside an event that takes too long.",
        do="Run `leftoff doctor` again in a minute. If nothing changes, please report it.",
    )


def _report_settled(late: Sequence[spool.Letter], *, left: int) -> DoctorFinding:
    if left:
        return fault(
            "spool",
            f"{format_count(left, 'event')} could not be processed",
            why="Their content is in no checkpoint yet.",
            do="See the problems below. leftoff keeps the events and retries them.",
        )
    if not late:
        return ok("spool", "No event is waiting")
    age = times.age(time.time() - late[0].at)
    return warning(
        "spool",
        f"{format_count(len(late), 'event')} waited too long (oldest: {age}); now processed",
        why="Settle did not run after the hook; the hooks' Python may have been missing.",
        do="Nothing, unless it happens again.",
    )


def check_poison(world: World) -> Iterator[DoctorFinding]:
    """Report events that were set aside because they could not be processed."""
    folder = world.places.state / "poison"
    found = list(folder.iterdir()) if disk.is_own_folder(folder) else []
    if found:
        yield warning(
            "events set aside",
            f"{format_count(len(found), 'event')} in {folder} could not be processed",
            why="Their content is in no checkpoint; the session's transcript still has it.",
            do="Run `leftoff doctor --clear` to remove them. They contain raw, unredacted text.",
        )


def check_trouble(world: World) -> Iterator[DoctorFinding]:
    """Report errors that happened in hooks."""
    found = trouble.list_recent(world.places.state)
    if not found:
        yield ok("troubles", "No hook failed")
        return
    lines = [
        f"{times.age(time.time() - each.at)}, {each.where}: {each.what}" for each in found[-_SHOWN:]
    ]
    yield warning(
        "troubles",
        f"{format_count(len(found), 'hook error')}; newest: {'; '.join(reversed(lines))}",
        why="The agent was not affected, but some work may not be saved.",
        do="After you fix the cause, run `leftoff doctor --clear`.",
    )


def check_native_files(world: World) -> Iterator[DoctorFinding]:
    """Report mirrored files of this project that could not be read or written."""
    found = trouble.list_of_files(world.project) if world.project is not None else []
    if found:
        yield warning(
            "native files",
            "; ".join(reversed(found[-_SHOWN:])),
            why="leftoff leaves these files as they are, and they are in no checkpoint.",
            do="Correct or remove them, then run `leftoff doctor --clear`.",
        )


def clear(world: World) -> None:
    """Clear past hook errors and remove the events that were set aside."""
    trouble.clear(world.places.state)
    folder = world.places.state / "poison"
    for path in folder.iterdir() if disk.is_own_folder(folder) else []:
        path.unlink(missing_ok=True)


def _has_stale_mark(state: Path) -> bool:
    return bool(lease.list_marks(str(state))) and not lease.is_held(str(state))


def _is_strange(path: Path, *, is_folder: bool) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if is_folder:
        return not disk.is_own_folder(path)
    return not stat.S_ISREG(found.st_mode)
