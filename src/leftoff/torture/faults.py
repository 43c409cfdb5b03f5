"""Faults: every call of every kind fails once, with every error that it may fail with."""

import errno
import itertools
from collections.abc import Iterator

from leftoff.torture import shim
from leftoff.torture.deeds import DEEDS
from leftoff.torture.inject import Injection, Kind
from leftoff.torture.trials import Arena, Stage, staged

_ERRORS: dict[Kind, tuple[int, ...]] = {
    "open": (errno.EIO, errno.EACCES, errno.EMFILE),
    "create": (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS),
    "read": (errno.EIO, errno.EINTR),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR),
    "sync": (errno.EIO, errno.ENOSPC, errno.EINTR),
    "link": (errno.ENOSPC, errno.EPERM, errno.EIO),
    "rename": (errno.ENOSPC, errno.EIO, errno.EACCES),
    "unlink": (errno.EACCES, errno.EIO),
    "mkdir": (errno.ENOSPC, errno.EACCES),
    "truncate": (errno.EIO, errno.ENOSPC),
    "lock": (errno.ENOLCK, errno.EINTR, errno.EIO),
    "list": (errno.EIO, errno.EACCES),
}
# A disk that is full stays full, and a lost file system stays lost.
_STICKY: dict[Kind, tuple[int, ...]] = {
    "create": (errno.ENOSPC, errno.EROFS),
    "write": (errno.ENOSPC, errno.EIO),
    "sync": (errno.EIO,),
    "link": (errno.EPERM,),
}
_MOST_CALLS = 200
_FULL_LOOK_EVERY = 10


def run(arena: Arena) -> None:
    """Let calls fail until the time is up."""
    if shim.loaded() is None:
        arena.tally.skip("faults in SQLite's own file operations")
    for name in arena.in_turn([*DEEDS]):
        fail_every_call(arena, name)


def fail_every_call(arena: Arena, name: str) -> int:
    """Repeat a deed with each call failing in each way; count the faults."""
    stage = staged(arena, name, DEEDS[name])
    if stage is None:
        return 0
    faults = 0
    for kind in _ERRORS:
        # A run bounded by rounds is short: one error stands for all.
        ways = [*_ways(kind)][: 1 if arena.tally.task.rounds else None]
        faults += sum(_fail_each(arena, stage, name, way) for way in ways)
    arena.release(stage.bench)
    return faults


def _ways(kind: Kind) -> Iterator[Injection]:
    for error in _ERRORS[kind]:
        yield Injection(kinds=(kind,), at=1, action="fail", error=error)
    for error in _STICKY.get(kind, ()):
        yield Injection(kinds=(kind,), at=1, action="fail", error=error, is_sticky=True)
    if kind == "write":
        yield Injection(kinds=("write",), at=1, action="short")
        yield Injection(kinds=("write",), at=1, action="short", is_sticky=True)


def _fail_each(arena: Arena, stage: Stage, name: str, way: Injection) -> int:
    """Let the first, second, … call fail until the deed makes no more calls of this kind."""
    faults = 0
    for injection in itertools.islice(_later(way), _MOST_CALLS):
        if not arena.tally.has_time():
            break
        told = (name, injection)
        ended, is_struck = stage.attempt(injection)
        if not is_struck:
            break
        faults += 1
        arena.tally.count("faults")
        arena.tally.count("acknowledged records found", stage.bench.ledger.count())
        if ended.has_crashed:
            arena.tally.broken(_described(ended.code, ended.last_line), arena.where(*told))
        if arena.check(stage.bench, *told) and injection.at % _FULL_LOOK_EVERY == 0:
            arena.check(stage.bench, *told, rebuilt=True)
            arena.check_works_on(stage.bench, *told)
    return faults


def _later(way: Injection) -> Iterator[Injection]:
    for at in itertools.count(1):
        yield Injection(
            kinds=way.kinds, at=at, action=way.action, error=way.error, is_sticky=way.is_sticky
        )


def _described(code: int | None, line: str) -> str:
    return f"it ended with {code}: {line}" if code is not None else "it hung"
