"""What a part of the torture has to do, and what it reports."""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec


class TorturePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to try, and for how long: a total time in seconds, or a number of rounds per part."""

    parts: Sequence[str]
    seed: int
    seconds: float = 0.0
    rounds: int = 0
    workers: int = 2


class WorkerTask(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker has to do, limited by time, or in tests by a number of rounds."""

    part: str
    folder: str
    seed: int
    number: int = 0
    """The number of this worker. Together the workers go through everything once per lap."""
    workers: int = 1
    seconds: float = 0.0
    rounds: int = 0


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """Something that must never happen, and how to reproduce it."""

    what: str
    where: str


class TortureReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried, how often, and what was found; reports of several workers are added up."""

    part: str
    tried: dict[str, int] = {}
    lost: list[Loss] = []
    broken: list[Loss] = []
    skipped: list[str] = []
    is_final: bool = False

    @property
    def failures(self) -> int:
        """The number of problems."""
        return len(self.lost) + len(self.broken)


class Tally:
    """Counts what one worker tries and finds, and reports it from time to time."""

    def __init__(self, task: WorkerTask, emit: Callable[[TortureReport], None]) -> None:
        self.task = task
        self._emit = emit
        self._tried: dict[str, int] = {}
        self._lost: list[Loss] = []
        self._broken: list[Loss] = []
        self._skipped: list[str] = []
        self.begin()
        self._emitted_at = 0.0

    def begin(self) -> None:
        """Start the clock."""
        self._ends_at = time.monotonic() + self.task.seconds

    def count(self, what: str, number: int = 1) -> None:
        """Count something that was tried."""
        self._tried[what] = self._tried.get(what, 0) + number
        # A report every half second is enough for the progress line.
        if time.monotonic() - self._emitted_at > 0.5:
            self._emitted_at = time.monotonic()
            self.report()

    def note_lost(self, what: str, where: str) -> None:
        """Record that something acknowledged is gone, or that half of something is visible."""
        self._lost.append(Loss(what=what, where=where))

    def note_broken(self, what: str, where: str) -> None:
        """Record that a command hung or crashed, or that it read or ran what it must not."""
        self._broken.append(Loss(what=what, where=where))

    def skip(self, why: str) -> None:
        """Record what could not be tried here."""
        if why not in self._skipped:
            self._skipped.append(why)

    @property
    def failures(self) -> int:
        """The number of problems so far."""
        return len(self._lost) + len(self._broken)

    def has_time(self) -> bool:
        """Return whether there is time left; a task limited by rounds always has some."""
        return bool(self.task.rounds) or time.monotonic() < self._ends_at

    def rounds(self) -> Iterator[int]:
        """Yield round numbers until the rounds or the time are used up."""
        number = 0
        while number < self.task.rounds if self.task.rounds else self.has_time():
            yield number
            number += 1

    def report(self, *, is_final: bool = False) -> TortureReport:
        """Emit the counts so far."""
        report = TortureReport(
            part=self.task.part,
            tried=dict(self._tried),
            lost=[*self._lost],
            broken=[*self._broken],
            skipped=[*self._skipped],
            is_final=is_final,
        )
        self._emit(report)
        return report


def merge(reports: list[TortureReport]) -> TortureReport:
    """Add up the reports of several workers of one part."""
    tried: dict[str, int] = {}
    for report in reports:
        for what, number in report.tried.items():
            tried[what] = tried.get(what, 0) + number
    return TortureReport(
        part=reports[0].part,
        tried=tried,
        lost=[loss for report in reports for loss in report.lost],
        broken=[loss for report in reports for loss in report.broken],
        skipped=[*dict.fromkeys(why for report in reports for why in report.skipped)],
        is_final=all(report.is_final for report in reports),
    )
