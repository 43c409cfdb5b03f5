"""Kills: every deed is killed before each step that changes the disk, and writers at any moment."""

import itertools
from collections.abc import Iterator

from leftoff.torture import storms
from leftoff.torture.deeds import DEEDS
from leftoff.torture.inject import CHANGES, Injection
from leftoff.torture.trials import Arena, Stage, staged

# No deed takes so many steps; one that did would never come to an end here.
_MOST_STEPS = 1000
_FULL_LOOK_EVERY = 10


def run(arena: Arena) -> None:
    """Kill until the time is up: each deed at every step, and storms of writers in between."""
    for name in arena.in_turn(["", *DEEDS]):
        if name:
            kill_at_every_step(arena, name)
        else:
            storms.run(arena)


def kill_at_every_step(arena: Arena, name: str) -> int:
    """Repeat a deed, killed one step later each time, until it comes through; count the kills."""
    stage = staged(arena, name, DEEDS[name])
    if stage is None:
        return 0
    kills = sum(_kill_each(arena, stage, name, ways) for ways in (_whole(), _half()))
    arena.release(stage.bench)
    return kills


def _kill_each(arena: Arena, stage: Stage, name: str, ways: Iterator[Injection]) -> int:
    kills = 0
    for injection in ways:
        if not arena.tally.has_time():
            break
        told = (name, injection)
        ended, is_struck = stage.attempt(injection)
        if ended.has_crashed or (ended.code and not is_struck):
            what = f"it ended with {ended.code}: {ended.last_line}"
            arena.tally.broken(what, arena.where(*told))
        kills += is_struck
        arena.tally.count("kills", int(is_struck))
        arena.tally.count("acknowledged records found", stage.bench.ledger.count())
        is_sound = arena.check(stage.bench, *told)
        if not is_sound or not is_struck:
            break
        if injection.at % _FULL_LOOK_EVERY == 0:
            arena.check(stage.bench, *told, rebuilt=True)
            arena.check_works_on(stage.bench, *told)
    return kills


def _whole() -> Iterator[Injection]:
    for at in itertools.islice(itertools.count(1), _MOST_STEPS):
        yield Injection(kinds=CHANGES, at=at)


def _half() -> Iterator[Injection]:
    for at in itertools.islice(itertools.count(1), _MOST_STEPS):
        yield Injection(kinds=("write",), at=at, action="half")
