"""Make every file operation of every workload fail once, with each error that it may return."""

import errno
import itertools
from collections.abc import Iterator, Sequence

import msgspec

from leftoff.torture import shim
from leftoff.torture.inject import Injection, Kind
from leftoff.torture.trials import Arena, PreparedWorkload, prepare_stage
from leftoff.torture.workloads import TOGETHER, WORKLOADS

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
# A full disk stays full, and a lost file system stays lost.
_STICKY: dict[Kind, tuple[int, ...]] = {
    "create": (errno.ENOSPC, errno.EROFS),
    "write": (errno.ENOSPC, errno.EIO),
    "sync": (errno.EIO,),
    "link": (errno.EPERM,),
}
# A task limited by rounds, as in tests, lets only the first calls of each kind fail.
_MOST_CALLS, _FEW_CALLS = 200, 12


def run(arena: Arena) -> None:
    """Make calls fail until the time is up."""
    if shim.find_library() is None:
        arena.tally.skip("faults in SQLite's own file operations")
    for lap, name in arena.in_turn([*WORKLOADS]):
        # Every call of every workload fails once before any call fails in a second way.
        history, rank = divmod(lap, _MOST_WAYS)
        fail_every_call(arena, name, rank, arena.choose(TOGETHER, history))


def fail_every_call(arena: Arena, name: str, rank: int, earlier: Sequence[str] = ()) -> int:
    """Repeat a workload with each call failing in one way, and return the number of faults."""
    stage = prepare_stage(arena, name, WORKLOADS[name], [WORKLOADS[each] for each in earlier])
    if stage is None:
        return 0
    ways = [way for kind in _ERRORS for way in _ways(kind)[rank : rank + 1]]
    faults = sum(_fail_each(arena, stage, name, way) for way in ways)
    arena.release(stage.bench)
    return faults


def _ways(kind: Kind) -> list[Injection]:
    ways = [
        *(Injection(kinds=(kind,), at=1, action="fail", error=error) for error in _ERRORS[kind]),
        *(
            Injection(kinds=(kind,), at=1, action="fail", error=error, is_sticky=True)
            for error in _STICKY.get(kind, ())
        ),
    ]
    if kind == "write":
        short = Injection(kinds=("write",), at=1, action="short")
        ways += [short, msgspec.structs.replace(short, is_sticky=True)]
    return ways


_MOST_WAYS = max(len(_ways(kind)) for kind in _ERRORS)


def _fail_each(arena: Arena, stage: PreparedWorkload, name: str, way: Injection) -> int:
    """Make the first, second, … call fail until the workload makes no more calls of this kind."""
    faults = 0
    most = _FEW_CALLS if arena.tally.task.rounds else _MOST_CALLS
    for injection in itertools.islice(_later(way), most):
        if not arena.tally.has_time():
            break
        trial = (name, injection)
        ended, is_struck = stage.attempt(injection)
        if not is_struck:
            break
        faults += 1
        arena.tally.count("faults")
        if ended.has_crashed:
            arena.tally.note_broken(
                _format_ending(ended.code, ended.last_line), arena.where(*trial)
            )
        arena.check_trial(stage.bench, *trial)
    return faults


def _later(way: Injection) -> Iterator[Injection]:
    for at in itertools.count(1):
        yield msgspec.structs.replace(way, at=at)


def _format_ending(code: int | None, line: str) -> str:
    return f"it ended with {code}: {line}" if code is not None else "it hung"
