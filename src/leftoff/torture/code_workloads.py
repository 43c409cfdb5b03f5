"""Workloads that keep uncommitted code, bring it back or pack it.

Each function prepares what its workload needs on a bench, and returns the workload without running
it. Git does much of the work in processes of its own, so there is a second workload in which these
are hit.
"""

import os
from collections.abc import Callable, Mapping
from typing import NoReturn

import msgspec

from leftoff.context import find_project
from leftoff.errors import LeftoffError
from leftoff.snapshots.retention import OpenThreads, tidy
from leftoff.snapshots.take import Reason, take_snapshot
from leftoff.torture.claims_ledger import Claim, Kind, text_of
from leftoff.torture.workload import Workload, workload
from leftoff.torture.world import Bench, Unprepared

# A file that cannot be read is named and left out.
_LEFT_OUT: Mapping[bytes, Kind] = {b"is not in the snapshot": "code"}


def take(bench: Bench) -> Workload:
    """Take a snapshot of a new file."""
    done = workload(bench, ("snapshot",), Claim("code", _write_work(bench)))
    return msgspec.structs.replace(done, takes_back=_LEFT_OUT)


def restore(bench: Bench) -> Workload:
    """Restore a file that has newer work, which must not be lost."""
    return workload(bench, _prepare_restore(bench))


def undo_restore(bench: Bench) -> Workload:
    """Take a restore back."""
    bench.do(*_prepare_restore(bench))
    return workload(bench, ("undo",))


def pack(bench: Bench) -> Workload:
    """Pack the snapshots and drop one; the newest of each open thread stays."""
    _take(bench, "one")
    _take(bench, "two", is_last=False)
    _take(bench, "two")

    def work() -> int:
        try:
            tidy(
                find_project(bench.project), limit=1, open_threads=OpenThreads(slots={"one", "two"})
            )
        except (LeftoffError, OSError) as error:
            os.write(2, f"{error}\n".encode())
            return 1
        return 0

    return Workload(work=work)


def in_git(prepare: Callable[[Bench], Workload]) -> Callable[[Bench], Workload]:
    """Return the same workload with the faults in the programs that it starts."""

    def prepare_programs(bench: Bench) -> Workload:
        done = prepare(bench)

        def program(more: Mapping[str, str]) -> NoReturn:
            os.environ.update(more)
            os._exit(done.work() or 0)

        return msgspec.structs.replace(done, program=program)

    return prepare_programs


def _prepare_restore(bench: Bench) -> tuple[str, ...]:
    kept = _take(bench, "one")
    # Nobody took a snapshot of this yet.
    bench.ledger.acknowledge([Claim("code", _write_work(bench))])
    return ("snapshot", "restore", kept, "--here", "--yes")


def _write_work(bench: Bench) -> str:
    token = bench.ledger.new_token()
    (bench.project / "work.txt").write_text(text_of(token), encoding="utf-8")
    return token


def _take(bench: Bench, thread: str, *, is_last: bool = True) -> str:
    """Take a snapshot of new work; the last one of a thread must stay."""
    claim = Claim("code", _write_work(bench))
    taken = take_snapshot(find_project(bench.project), Reason(trigger="turn", thread=thread))
    if taken is None:
        raise Unprepared("nothing was uncommitted")
    bench.ledger.try_([claim])
    if is_last:
        bench.ledger.acknowledge([claim])
    return taken.short_id
