"""A trial: do one deed with something injected, and look at what is left of everything."""

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from leftoff.torture import forks, inject, probe
from leftoff.torture.checkpoint_deeds import save
from leftoff.torture.deed import Deed
from leftoff.torture.forks import Counter, Ending
from leftoff.torture.inject import Injection
from leftoff.torture.snapshot import Snapshot
from leftoff.torture.values import Tally
from leftoff.torture.world import Bench, Program, Unprepared

Prepare = Callable[[Bench], Deed]


class Arena:
    """Where trials take place: one project after the other in the world of this worker."""

    def __init__(self, tally: Tally, program: Program) -> None:
        self.tally = tally
        self.program = program
        self.root = Path(tally.task.folder)
        self.seed = tally.task.seed
        self._made = 0

    def in_turn(self, names: Sequence[str]) -> Iterator[str]:
        """Yield names in an order that the seed decides, again and again while there is time."""
        order = list(names)
        random.Random(self.seed).shuffle(order)  # noqa: S311 - no secret
        for number in self.tally.rounds():
            yield order[number % len(order)]

    def bench(self) -> Bench:
        """Make a project that has nothing yet."""
        self._made += 1
        return Bench(self.root, self.program, self.seed, self._made)

    def release(self, bench: Bench) -> None:
        """Remove a project where nothing was found."""
        if not self.tally.failures:
            shutil.rmtree(bench.project, ignore_errors=True)

    def where(self, *told: object) -> str:
        """Say how to come here again."""
        return ", ".join([*map(str, told), f"seed {self.seed}"])

    def check(self, bench: Bench, *told: object, rebuilt: bool = False) -> bool:
        """Look with fresh eyes, and note what is lost; say whether all is well."""
        seen = probe.look(bench, rebuilt=rebuilt)
        differences = bench.ledger.differences(seen)
        how = ("after the indexes were deleted",) if rebuilt else ()
        for difference in differences[:3]:
            self.tally.lost(difference, self.where(*told, *how, bench.project))
        return not differences

    def check_works_on(self, bench: Bench, *told: object) -> None:
        """Save once more, with a command that knows nothing of what happened."""
        ended, _ = attempt(bench, save(bench), None)
        if ended.code != 0:
            what = f"the next save ended with {ended.code}: {ended.last_line}"
            self.tally.broken(what, self.where(*told))
        self.check(bench, *told, "and a save after it")


def attempt(bench: Bench, deed: Deed, injection: Injection | None) -> tuple[Ending, bool]:
    """Do a deed in a child; say how it ended, and whether the injection was reached."""
    counter = Counter()
    mark = bench.root / "struck"
    mark.unlink(missing_ok=True)

    def work() -> int:
        if deed.program is not None:
            deed.program(inject.in_environment(injection, bench.root, mark) if injection else {})
        if injection is not None:
            inject.arm(injection, bench.root)
        code = deed.work() or 0
        counter.value = inject.calls() if injection is not None else 0
        return code

    bench.ledger.try_(deed.claims)
    bench.ledger.destroy(deed.destroys, is_done=False)
    ended = forks.run(work, cwd=bench.project)
    is_marked = mark.exists()
    # A hook never fails, so its end says nothing once something in it was struck.
    if ended.code == 0 and not is_marked:
        bench.ledger.acknowledge(deed.claims)
        bench.ledger.destroy(deed.destroys, is_done=True)
    is_reached = injection is not None and counter.value >= injection.at
    return ended, ended.is_killed or is_marked or is_reached


class Stage:
    """A deed that is prepared, and can be attempted again and again from the same state."""

    def __init__(self, arena: Arena, bench: Bench, deed: Deed) -> None:
        self._arena = arena
        self._deed = deed
        self.bench = bench
        self._ledger = bench.ledger
        self._before = Snapshot([bench.home, bench.project])

    def attempt(self, injection: Injection) -> tuple[Ending, bool]:
        """Do the deed with something injected, as if nothing had been done before."""
        self._before.restore()
        self.bench.ledger = self._ledger.copy()
        return attempt(self.bench, self._deed, injection)


def staged(arena: Arena, name: str, prepare: Prepare) -> Stage | None:
    """Prepare a deed in a new project; one that cannot be prepared is noted."""
    bench = arena.bench()
    try:
        return Stage(arena, bench, prepare(bench))
    except Unprepared as error:
        arena.tally.broken(f"the store does not work on: {error}", arena.where(name))
        return None
