"""Kills: every deed is killed before each step that changes the disk, and writers at any moment."""

import itertools
from collections.abc import Iterator

from leftoff.torture import storms
from leftoff.torture.deeds import DEEDS
from leftoff.torture.inject import CHANGES, Injection
from leftoff.torture.trials import Arena, attempt, prepared

# No deed takes so many steps; one that did would never come to an end here.
_MOST_STEPS = 400
_FULL_LOOK_EVERY = 25


def run(arena: Arena) -> None:
    """Kill until the time is up: each deed at every step, then a storm of writers."""
    for name in arena.in_turn(["", *DEEDS]):
        if name:
            kill_at_every_step(arena, name)
        else:
            storms.run(arena)


def kill_at_every_step(arena: Arena, name: str) -> int:
    """Repeat a deed, killed one step later each time, until it comes through; count the kills."""
    kills = 0
    for action in ("kill", "half"):
        bench = arena.bench()
        for injection in _injections(action):
            if not arena.tally.has_time():
                return kills
            told = (name, injection)
            if (deed := prepared(arena, bench, DEEDS[name], *told)) is None:
                return kills
            ended, is_struck = attempt(bench, deed, injection)
            if ended.has_crashed or (ended.code and not is_struck):
                what = f"it ended with {ended.code}: {ended.last_line}"
                arena.tally.broken(what, arena.where(*told))
            kills += is_struck
            arena.tally.count("kills", int(is_struck))
            is_sound = arena.check(bench, *told)
            if not is_sound or not is_struck:
                break
            if injection.at % _FULL_LOOK_EVERY == 0:
                arena.check(bench, *told, rebuilt=True)
        arena.check(bench, name, f"all steps ({action})", rebuilt=True)
        arena.tally.count("acknowledged records found", bench.ledger.count())
        arena.release(bench)
    return kills


def _injections(action: str) -> Iterator[Injection]:
    for at in itertools.islice(itertools.count(1), _MOST_STEPS):
        if action == "half":
            yield Injection(kinds=("write",), at=at, action="half")
        else:
            yield Injection(kinds=CHANGES, at=at)
