"""Run one workload with an injection, and check everything that is left."""

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from leftoff.torture import forks, inject, probe
from leftoff.torture.checkpoint_workloads import save
from leftoff.torture.forks import ChildExit, Counter
from leftoff.torture.inject import Injection
from leftoff.torture.inspector import Inspector
from leftoff.torture.orders import Tally
from leftoff.torture.snapshot import TreeState
from leftoff.torture.workload import Workload, list_acknowledged
from leftoff.torture.world import Bench, Program, Unprepared

# The share of trials that are checked twice, which takes three times as long.
_THOROUGH_SHARE = 0.1
_LONGEST_HISTORY = 4

Prepare = Callable[[Bench], Workload]


class Arena:
    """The projects of one worker, in which its trials run one after the other."""

    def __init__(self, tally: Tally, program: Program) -> None:
        self.tally = tally
        self.program = program
        self.root = Path(tally.task.folder)
        # Each worker has its own seed, so no two of them do the same.
        self.seed = f"{tally.task.seed}-{tally.task.number}"
        self._chance = random.Random(self.seed)  # noqa: S311 - no secret
        self._looker = Inspector(probe.answer, self.root)
        self._made = 0

    def in_turn(self, names: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield this worker's share of the names in random order with the lap, while time lasts.

        The workers share each lap: at its end they have gone through all names together.
        """
        task = self.tally.task
        order = list(names)
        random.Random(task.seed).shuffle(order)  # noqa: S311 - no secret
        for number in self.tally.rounds():
            lap, place = divmod(number * task.workers + task.number, len(order))
            yield lap, order[place]

    def choose(self, names: Sequence[str], lap: int) -> list[str]:
        """Choose the history of a project: nothing in the first lap, then more."""
        return self._chance.choices(names, k=min(lap, _LONGEST_HISTORY))

    def bench(self) -> Bench:
        """Create an empty project."""
        self._made += 1
        return Bench(self.root, self.program, self.seed, self._made)

    def close(self) -> None:
        """End the process that inspects the projects."""
        self._looker.stop()

    def release(self, bench: Bench) -> None:
        """Remove a project in which no problem was found."""
        if not self.tally.failures:
            shutil.rmtree(bench.project, ignore_errors=True)

    def where(self, *trial: object) -> str:
        """Describe how to reproduce this trial."""
        return ", ".join([*map(str, trial), f"seed {self.tally.task.seed}"])

    def check_trial(self, bench: Bench, *trial: object) -> bool:
        """Check after a trial; one time in ten, also rebuild the indexes and save again."""
        self.tally.count("acknowledged records found", bench.ledger.count())
        is_sound = self.check(bench, *trial)
        # Chosen at random, because every n-th trial would always be the same call.
        if is_sound and self._chance.random() < _THOROUGH_SHARE:
            is_sound = self.check(bench, *trial, rebuilt=True)
            self.check_works_on(bench, *trial)
        return is_sound

    def check(self, bench: Bench, *trial: object, rebuilt: bool = False) -> bool:
        """Compare a project with its ledger, record losses, and return whether all is well."""
        seen = probe.look_rebuilt(bench) if rebuilt else probe.look(bench, self._looker)
        differences = bench.ledger.differences(seen)
        how = ("after the indexes were deleted",) if rebuilt else ()
        for difference in differences[:3]:
            self.tally.note_lost(difference, self.where(*trial, *how, bench.project))
        return not differences

    def check_works_on(self, bench: Bench, *trial: object) -> None:
        """Check that another save works, with a process that did not see the trial."""
        ended, _ = attempt(bench, save(bench), None)
        if ended.code != 0:
            what = f"the next save ended with {ended.code}: {ended.last_line}"
            self.tally.note_broken(what, self.where(*trial))
        self.check(bench, *trial, "and a save after it")


def attempt(
    bench: Bench, workload: Workload, injection: Injection | None
) -> tuple[ChildExit, bool]:
    """Run a workload in a child; return how it ended, and whether the injection was reached."""
    counter = Counter()
    mark = bench.root / "struck"
    mark.unlink(missing_ok=True)

    def work() -> int:
        if workload.program is not None:
            workload.program(
                inject.in_environment(injection, bench.root, mark) if injection else {}
            )
        if injection is not None:
            inject.arm(injection, bench.root)
        try:
            return workload.work() or 0
        finally:
            # Count even if the work raises, because the next call must be tried as well.
            counter.value = inject.calls() if injection is not None else 0

    bench.ledger.try_(workload.claims)
    bench.ledger.destroy(workload.destroys, is_done=False)
    ended = forks.run(work, cwd=bench.project)
    is_marked = mark.exists()
    # A hook never fails, so its exit code proves nothing once one of its calls was hit.
    if ended.code == 0 and not is_marked:
        bench.ledger.acknowledge(list_acknowledged(workload, ended.all_output))
        bench.ledger.destroy(workload.destroys, is_done=True)
    is_reached = injection is not None and counter.value >= injection.at
    return ended, ended.is_killed or is_marked or is_reached


class PreparedWorkload:
    """A prepared workload that can be attempted many times from the same state."""

    def __init__(self, bench: Bench, workload: Workload) -> None:
        self._workload = workload
        self.bench = bench
        self._ledger = bench.ledger
        self._before = TreeState([bench.home, bench.project])

    def attempt(self, injection: Injection) -> tuple[ChildExit, bool]:
        """Restore the state before the workload, and run the workload with an injection."""
        self._before.restore()
        self.bench.ledger = self._ledger.copy()
        return attempt(self.bench, self._workload, injection)


def prepare_stage(
    arena: Arena, name: str, prepare: Prepare, earlier: Sequence[Prepare] = ()
) -> PreparedWorkload | None:
    """Prepare a workload in a project with a history; if that fails, record it and return None."""
    bench = arena.bench()
    try:
        for each in earlier:
            attempt(bench, each(bench), None)
        return PreparedWorkload(bench, prepare(bench))
    except Unprepared as error:
        arena.tally.note_broken(f"the project could not be prepared: {error}", arena.where(name))
        return None
