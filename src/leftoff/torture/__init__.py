"""Try to make leftoff lose data, in a folder of its own, and report what was found.

A *workload* is an operation that writes, as a user, an agent or a hook performs it. A *claim* is
what a workload acknowledges when it ends with 0. A *bench* is the project in which workloads are
tried. After each trial, a process that took no part in it must find everything in the *ledger* of
claims.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from leftoff.torture import crew, shim
from leftoff.torture.orders import Loss, TorturePlan, TortureReport
from leftoff.torture.worker import PARTS

__all__ = ["PARTS", "Loss", "TorturePlan", "TortureReport", "TortureResult", "run"]

# Each part gets this share of the time. Kills and faults have the most cases to go through.
SHARES = {"kills": 12, "faults": 10, "cuts": 1, "files": 2, "repositories": 1, "load": 1}
_NEEDED_BYTES = 1 << 30


class TortureResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a run; the folder is kept if a problem was found."""

    seed: int
    reports: list[TortureReport]
    folder: str | None
    seconds: float

    @property
    def failures(self) -> int:
        """The number of problems."""
        return sum(report.failures for report in self.reports)


def run(plan: TorturePlan, show: Callable[[TortureReport], None]) -> TortureResult:
    """Run all parts of a plan one after the other, and pass each progress report to `show`."""
    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="leftoff-torture-", dir=_roomy_folder()))
    has_failed = False
    try:
        with _interruptible():
            reports = _run_parts(plan, root, show)
        has_failed = any(report.failures for report in reports)
    finally:
        # An interrupted run leaves nothing behind.
        if not has_failed:
            shutil.rmtree(root, ignore_errors=True)
    return TortureResult(
        seed=plan.seed,
        reports=reports,
        folder=str(root) if has_failed else None,
        seconds=time.monotonic() - began,
    )


def _roomy_folder() -> str | None:
    """Return a folder in memory if it has room: kills lose nothing there, and it is faster."""
    with contextlib.suppress(OSError):
        memory = "/dev/shm"  # noqa: S108 - a folder of our own is made in it
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _NEEDED_BYTES:
            return memory
    return None


def _run_parts(
    plan: TorturePlan, root: Path, show: Callable[[TortureReport], None]
) -> list[TortureReport]:
    preload, why = shim.build(root)
    reports = []
    for part in plan.parts:
        report = _run_part(plan, part, root, preload, show)
        skipped = [f"{each} ({why})" if why else each for each in report.skipped]
        reports.append(msgspec.structs.replace(report, skipped=skipped))
    return reports


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Make SIGTERM and SIGHUP interrupt the run as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _run_part(
    plan: TorturePlan,
    part: str,
    root: Path,
    preload: Path | None,
    show: Callable[[TortureReport], None],
) -> TortureReport:
    seconds = plan.seconds * SHARES[part] / sum(SHARES[each] for each in plan.parts)
    started = crew.Crew(crew.tasks(root, part, plan, seconds), preload)
    report = TortureReport(part=part)
    try:
        for report in started.reports():
            show(report)
    finally:
        # This also ends processes that a worker left running.
        started.stop()
    return report
