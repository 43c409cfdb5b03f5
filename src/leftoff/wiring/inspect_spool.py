"""Checks of the way from a hook to a checkpoint: the spool, settle, events set aside, troubles."""

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

# A settle that no longer advances is killed by the one that we start, after a few seconds.
_PATIENCE_SECONDS = 8.0
# Settle takes a second or two. An event that waits longer was left behind.
_LATE_SECONDS = 60.0
_SHOWN = 3
_FOLDERS = (
    "spool", "poison", "ready", "live", "usage", "locks", "folders", "fallback", "projects",
    "allowed",
)  # fmt: skip
_FILES = ("python", "settling", "trying", "settle.lock", "trouble.jsonl", "lost", "full", "key")


def check_places(world: World) -> Iterator[DoctorFinding]:
    """Check that nothing strange lies where hooks read and write: a link, a FIFO, a device."""
    state = world.places.state
    strange = [
        *(state / name for name in _FOLDERS if _is_strange(state / name, is_folder=True)),
        *(state / name for name in _FILES if _is_strange(state / name, is_folder=False)),
    ]
    for path in strange:
        what = "a folder of yours" if path.name in _FOLDERS else "a regular file"
        yield fault(
            "state",
            f"{path} is not {what}",
            why="leftoff neither follows links there nor reads from anything else.",
            do=f"Move {path} away.",
        )


def check_spool(world: World) -> Iterator[DoctorFinding]:
    """Check that no event waits, after giving settle a chance to process those that do."""
    state = world.places.state
    waiting = spool.letters(state)
    late = [letter for letter in waiting if time.time() - letter.at > _LATE_SECONDS]
    had_mark = _has_stale_mark(state)
    is_settled = settle.run_apart(state, wait_seconds=_PATIENCE_SECONDS)
    left = spool.letters(state)
    if is_settled:
        yield _report_settled(late, left=len(left))
    else:
        yield _report_waiting(state, left=left, done=len(waiting) - len(left))
    if had_mark and not waiting:
        settle.run(state)
        yield warning(
            "spool",
            "A settle process died and left its mark, which is now removed",
            why="Hooks may have taken it for a running one.",
            do="Nothing, unless it happens again.",
        )


def _report_waiting(state: Path, *, left: Sequence[spool.Letter], done: int) -> DoctorFinding:
    """Tell what settle is doing while events wait."""
    told = lease.words_of(f"{state}/trying")
    seconds = time.time() - int(told[1]) if len(told) > 1 and told[1].isdecimal() else 0.0
    waits = f"{format_count(len(left), 'event')} {'waits' if len(left) == 1 else 'wait'}"
    if done > 0 and seconds < settle.EVENT_SECONDS:
        return warning(
            "spool",
            f"{waits}, and settle is processing them right now",
            why="They are in no checkpoint yet.",
            do="Run `leftoff doctor` again in a minute.",
        )
    at_work = "nobody settles"
    if told:
        at_work = f"settle has been at {told[0]} for {seconds:.0f} seconds"
    return fault(
        "spool",
        f"{waits}, and {at_work}",
        why="Nothing new is saved until it goes on. An event that takes too long is set aside.",
        do="Run `leftoff doctor` again in a minute; if it stays so, please report it.",
    )


def _report_settled(late: Sequence[spool.Letter], *, left: int) -> DoctorFinding:
    if left:
        return fault(
            "spool",
            f"{format_count(left, 'event')} could not be settled",
            why="What they tell is in no checkpoint yet.",
            do="See the troubles below; the events are kept and tried again.",
        )
    if not late:
        return ok("spool", "No event waits")
    age = times.age(time.time() - late[0].at)
    return warning(
        "spool",
        f"{format_count(len(late), 'event')} waited, the oldest since {age}; settled just now",
        why="Settle did not run after the hook: the Python of the hooks may have been gone.",
        do="Nothing, unless it happens again.",
    )


def check_poison(world: World) -> Iterator[DoctorFinding]:
    """Tell of events that were set aside because they could not be settled."""
    folder = world.places.state / "poison"
    found = list(folder.iterdir()) if disk.is_own_folder(folder) else []
    if found:
        yield warning(
            "events set aside",
            f"{format_count(len(found), 'event')} could not be settled, in {folder}",
            why="What they tell is in no checkpoint; the session's transcript still has it.",
            do="`leftoff doctor --clear` removes them. They hold raw text: look before you share.",
        )


def check_trouble(world: World) -> Iterator[DoctorFinding]:
    """Tell what went wrong in hooks."""
    found = trouble.recent(world.places.state)
    if not found:
        yield ok("troubles", "Nothing went wrong in hooks")
        return
    lines = [
        f"{times.age(time.time() - each.at)}, {each.where}: {each.what}" for each in found[-_SHOWN:]
    ]
    yield warning(
        "troubles",
        f"{len(found)} in hooks; the newest: {'; '.join(reversed(lines))}",
        why="The agent went on, but something may not have been saved.",
        do="When dealt with, `leftoff doctor --clear` forgets them.",
    )


def clear(world: World) -> None:
    """Forget troubles, and remove the events that were set aside."""
    trouble.clear(world.places.state)
    folder = world.places.state / "poison"
    for path in folder.iterdir() if disk.is_own_folder(folder) else []:
        path.unlink(missing_ok=True)


def _has_stale_mark(state: Path) -> bool:
    return disk.is_regular(state / "settling") and not lease.is_held(str(state))


def _is_strange(path: Path, *, is_folder: bool) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if is_folder:
        return not disk.is_own_folder(path)
    return not stat.S_ISREG(found.st_mode)
