"""Torture: try to make leftoff lose something, in a world of its own, and say what came of it."""

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

# How the time is shared out among the parts that are run.
SHARES = {"kills": 12, "faults": 10, "cuts": 1, "files": 2, "repositories": 1, "load": 1}
_NEEDED_BYTES = 1 << 30


class TortureResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it; the folder is kept if something was found."""

    seed: int
    reports: list[TortureReport]
    folder: str | None
    seconds: float

    @property
    def failures(self) -> int:
        """How many things went wrong."""
        return sum(report.failures for report in self.reports)


def run(plan: TorturePlan, tell: Callable[[TortureReport], None]) -> TortureResult:
    """Do all parts of a plan, one after the other; `tell` hears how far each is."""
    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="leftoff-torture-", dir=_roomy_folder()))
    has_failed = False
    try:
        with _interruptible():
            reports = _run_parts(plan, root, tell)
        has_failed = any(report.failures for report in reports)
    finally:
        # What was interrupted leaves nothing behind.
        if not has_failed:
            shutil.rmtree(root, ignore_errors=True)
    return TortureResult(
        seed=plan.seed,
        reports=reports,
        folder=str(root) if has_failed else None,
        seconds=time.monotonic() - began,
    )


def _roomy_folder() -> str | None:
    """Return memory, if there is room: a process that is killed leaves its files to the system."""
    with contextlib.suppress(OSError):
        memory = "/dev/shm"  # noqa: S108 - a folder of our own is made in it
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _NEEDED_BYTES:
            return memory
    return None


def _run_parts(
    plan: TorturePlan, root: Path, tell: Callable[[TortureReport], None]
) -> list[TortureReport]:
    preload, why = shim.build(root)
    reports = []
    for part in plan.parts:
        report = _run_part(plan, part, root, preload, tell)
        skipped = [f"{each} ({why})" if why else each for each in report.skipped]
        reports.append(msgspec.structs.replace(report, skipped=skipped))
    return reports


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let the signals that end a program do what Ctrl-C does."""
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
    tell: Callable[[TortureReport], None],
) -> TortureReport:
    seconds = plan.seconds * SHARES[part] / sum(SHARES[each] for each in plan.parts)
    started = crew.Crew(crew.tasks(root, part, plan, seconds), preload)
    report = TortureReport(part=part)
    try:
        for report in started.reports():
            tell(report)
    finally:
        # Also what a worker left behind: nobody waits for it.
        started.stop()
    return report
