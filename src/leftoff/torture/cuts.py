"""Simulate power cuts: record the file operations of workloads, and check what a cut may leave."""

import os
import random
from functools import partial
from typing import NamedTuple

from leftoff.torture import forks, shim, trace
from leftoff.torture.claims_ledger import Ledger
from leftoff.torture.disks import MODELS, Disk, Model
from leftoff.torture.snapshot import TreeState
from leftoff.torture.trace import Call
from leftoff.torture.trials import Arena, Prepare
from leftoff.torture.workload import Workload
from leftoff.torture.workloads import WORKLOADS
from leftoff.torture.world import Bench, Unprepared

# Only forked processes can be recorded, so what git and sh write cannot.
_NOT_RECORDED = frozenset(
    {
        "ship",
        "hook",
        "snapshot",
        "snapshot, in git",
        "restore code",
        "restore code, in git",
        "undo a restore of code",
        "pack snapshots",
        "pack snapshots, in git",
    }
)
# Workloads without preconditions, performed after the workload under test.
_AFTERWARDS = ("save", "save over a name", "memory add", "wal add", "save with a decision")
_CUTS = 60


class Recording(NamedTuple):
    """The state before, and every file operation after it."""

    before: TreeState
    calls: list[Call]
    workloads_done: str


def run(arena: Arena) -> None:
    """Simulate power cuts until the time is up."""
    if shim.find_library() is None:
        arena.tally.skip("power cuts")
        return
    for _, name in arena.in_turn([each for each in WORKLOADS if each not in _NOT_RECORDED]):
        cut_everywhere(arena, name)


def cut_everywhere(arena: Arena, name: str) -> None:
    """Record a workload and two after it, and cut the power between any two of their calls."""
    bench = arena.bench()
    chance = random.Random(f"{arena.seed}-{name}")  # noqa: S311 - no secret
    order = [name, *chance.sample(_AFTERWARDS, 2)]
    try:
        workloads = [_prepare(bench, WORKLOADS[each]) for each in order]
    except Unprepared as error:
        arena.tally.note_broken(str(error), arena.where(name))
        return
    before = TreeState([bench.home, bench.project])
    recording = Recording(
        before=before, calls=record(bench, workloads), workloads_done=", ".join(order)
    )
    points = [*range(len(recording.calls) + 1)]
    rounds = 12 if arena.tally.task.rounds else _CUTS
    for point in chance.sample(points, min(rounds, len(points))):
        for model in MODELS:
            if arena.tally.has_time():
                _cut(arena, bench, recording, point, model)
    arena.release(bench)


def _prepare(bench: Bench, prepare: Prepare) -> Workload:
    workload = prepare(bench)
    bench.ledger.try_(workload.claims)
    bench.ledger.destroy(workload.destroys, is_done=False)
    return workload


def record(bench: Bench, workloads: list[Workload]) -> list[Call]:
    """Run workloads one after the other; return their file operations and when each was done."""
    path = bench.root / "trace"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        for workload in workloads:
            work = partial(_record_workload, bench, workload, descriptor)
            ended = forks.run(work, cwd=bench.project)
            if ended.code == 0:
                os.write(descriptor, trace.mark(workload.claims))
    finally:
        os.close(descriptor)
    return trace.read(path)


def _record_workload(bench: Bench, workload: Workload, descriptor: int) -> int | None:
    library = shim.find_library()
    if library is not None:
        library.leftoff_torture_record(os.fsencode(bench.root), descriptor)
    return workload.work()


def _cut(arena: Arena, bench: Bench, recording: Recording, point: int, model: Model) -> None:
    calls, workloads_done = recording.calls, recording.workloads_done
    chance = random.Random(f"{arena.seed}-{workloads_done}-{point}-{model}")  # noqa: S311 - no secret
    folders, files = Disk(recording.before, calls[:point]).state(model, chance)
    recording.before.write(folders, files)
    known = bench.ledger
    bench.ledger = _build_expected(known, calls, point)
    arena.tally.count("power cuts")
    arena.tally.count("acknowledged records found", bench.ledger.count())
    arena.check(
        bench, workloads_done, f"power cut before call {point} of {len(calls)}, {model} disk"
    )
    bench.ledger = known


def _build_expected(known: Ledger, calls: list[Call], point: int) -> Ledger:
    """Return what must be found after a cut at this point."""
    ledger = known.copy()
    for at, call in enumerate(calls):
        if call.name == "done":
            (ledger.acknowledge if at < point else ledger.try_)(call.claims)
    return ledger
