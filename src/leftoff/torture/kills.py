"""Kill every workload before each step that changes the disk, and writers at random moments."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

from leftoff.torture import storms
from leftoff.torture.inject import CHANGES, Injection
from leftoff.torture.trials import Arena, PreparedWorkload, prepare_stage
from leftoff.torture.workloads import TOGETHER, WORKLOADS

# No workload takes this many steps; the limit ends a workload that would never finish.
_MOST_STEPS = 1000
_FEW_STEPS = 30
_STORM = "a storm of writers"


def run(arena: Arena) -> None:
    """Kill each workload at every step, with storms of writers in between, until the time is up."""
    for lap, name in arena.in_turn([*WORKLOADS, *storms_between()]):
        if name == _STORM:
            storms.run(arena)
        else:
            kill_at_every_step(arena, name, arena.choose(TOGETHER, lap))


def storms_between() -> list[str]:
    """Return one storm for every few workloads."""
    return [_STORM] * (1 + len(WORKLOADS) // 6)


def kill_at_every_step(arena: Arena, name: str, earlier: Sequence[str] = ()) -> int:
    """Repeat a workload, killed one step later each time, until it succeeds; return the kills."""
    stage = prepare_stage(arena, name, WORKLOADS[name], [WORKLOADS[each] for each in earlier])
    if stage is None:
        return 0
    most = _FEW_STEPS if arena.tally.task.rounds else _MOST_STEPS
    ways = (islice(_whole(), most), islice(_half(), most))
    kills = sum(_kill_each(arena, stage, name, each) for each in ways)
    arena.release(stage.bench)
    return kills


def _kill_each(arena: Arena, stage: PreparedWorkload, name: str, ways: Iterator[Injection]) -> int:
    kills = 0
    for injection in ways:
        if not arena.tally.has_time():
            break
        trial = (name, injection)
        ended, is_struck = stage.attempt(injection)
        if ended.has_crashed or (ended.code and not is_struck):
            what = f"it ended with {ended.code}: {ended.last_line}"
            arena.tally.note_broken(what, arena.where(*trial))
        kills += is_struck
        arena.tally.count("kills", int(is_struck))
        if not arena.check_trial(stage.bench, *trial) or not is_struck:
            break
    return kills


def _whole() -> Iterator[Injection]:
    for at in count(1):
        yield Injection(kinds=CHANGES, at=at)


def _half() -> Iterator[Injection]:
    for at in count(1):
        yield Injection(kinds=("write",), at=at, action="half")
