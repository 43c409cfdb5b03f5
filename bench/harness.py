"""Measure in turns, in shuffled order, and relative to known work in the same run.

A verdict is always a ratio. Milliseconds say as much about the machine and its other users as about
leftoff, so they are shown but never judged.
"""

import os
import random
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Literal

import msgspec

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"

_SEED = 20
_PRINT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
# A fresh, small process starts the program, because the peak memory that the system reports for a
# child begins with the size of its parent.
_LAUNCHER = (
    "import os, sys\n"
    "pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n"
    "_, status, use = os.wait4(pid, 0)\n"
    "sys.stderr.write(f'\\n{use.ru_maxrss}')\n"
    "sys.exit(os.waitstatus_to_exitcode(status))\n"
)

Measure = Literal["wall", "cpu"]


class Sample(msgspec.Struct, frozen=True):
    """The duration of one run in seconds; CPU time includes the program's child processes."""

    wall: float
    cpu: float


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program to start, and everything it can see."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    given: Path = Path(os.devnull)
    """The file on its standard input."""
    printed: Path = Path(os.devnull)
    """The file for its output, which is shown if it fails."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value and its limit; without a limit it is only shown."""

    what: str
    value: float
    unit: str = "x"
    limit: float | None = None
    is_floor: bool = False
    """Whether the limit is the least that must be reached, not the most."""
    note: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether the limit is missed."""
        if self.limit is None:
            return False
        return self.value < self.limit if self.is_floor else self.value > self.limit


Case = Callable[[], Sample]


# --- running ---


def run(program: Program) -> Sample:
    """Start a program, and wait until it succeeds."""
    # posix_spawn runs in the current folder, and unlike fork it does not get slower with our size.
    os.chdir(program.folder)
    environment = {**program.environment, "PWD": str(program.folder)}
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(program.given), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(program.printed), _PRINT_FLAGS, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    path, arguments = program.arguments[0], program.arguments
    started = time.perf_counter()
    pid = os.posix_spawn(path, arguments, environment, file_actions=actions)
    _, status, use = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    assert code == 0, f"{' '.join(arguments)} ended with {code}.\n{program.printed.read_text()}"
    return Sample(wall, use.ru_utime + use.ru_stime)


def call(work: Callable[[], object]) -> Sample:
    """Run a function in this process."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Sample(time.perf_counter() - wall, time.process_time() - cpu)


def interleave(
    cases: Mapping[str, Case],
    rounds: int,
    *,
    between: Callable[[], object] | None = None,
) -> dict[str, list[Sample]]:
    """Run each case once per round, in a new random order; `between` is not measured."""
    chance = random.Random(_SEED)  # noqa: S311 - not a secret
    samples: dict[str, list[Sample]] = {name: [] for name in cases}
    order = list(cases)
    for name in order:
        cases[name]()
    for _ in range(rounds):
        chance.shuffle(order)
        for name in order:
            if between is not None:
                between()
            samples[name].append(cases[name]())
    return samples


def peak_megabytes(program: Program, python: Path) -> float:
    """Return the peak memory of a program."""
    done = subprocess.run(
        [python, "-I", "-S", "-c", _LAUNCHER, *program.arguments],
        cwd=program.folder,
        env=dict(program.environment),
        stdin=program.given.open("rb"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return int(done.stderr.rsplit(b"\n", 1)[-1]) * 1024 / 1e6


# --- comparing ---


def times(samples: Sequence[Sample], measure: Measure = "wall") -> list[float]:
    """Return the seconds of each run."""
    return [getattr(sample, measure) for sample in samples]


def ratio(mine: Sequence[Sample], base: Sequence[Sample], measure: Measure = "wall") -> float:
    """Return the median of the ratios of runs in the same round."""
    pairs = zip(times(mine, measure), times(base, measure), strict=True)
    return median(one / other for one, other in pairs)


def p90(samples: Sequence[Sample]) -> float:
    """Return the 90th percentile of the seconds."""
    return quantiles(times(samples), n=10)[-1]


def compare(
    what: str,
    samples: Mapping[str, Sequence[Sample]],
    names: tuple[str, str],
    limit: float | None = None,
    measure: Measure = "wall",
) -> Figure:
    """Build a figure from the ratio of two cases, with the milliseconds of both as a note."""
    mine, base = (samples[name] for name in names)
    other: Measure = "cpu" if measure == "wall" else "wall"
    note = (
        f"{milliseconds(mine, measure)} against {milliseconds(base, measure)} ms, "
        f"p90 {p90(mine) * 1000:.1f}, {other} {ratio(mine, base, other):.2f}x"
    )
    return Figure(what=what, value=ratio(mine, base, measure), limit=limit, note=note)


def milliseconds(samples: Sequence[Sample], measure: Measure = "wall") -> str:
    """Format the median time."""
    return f"{median(times(samples, measure)) * 1000:.1f}"


# --- showing ---


def table(title: str, figures: Sequence[Figure]) -> str:
    """Format figures with their limits and verdicts."""
    rows = [("", "measured", "limit", "", "")] + [_row(figure) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  "
        f"{row[3]:<{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    return "\n".join([title, *lines, ""])


def _row(figure: Figure) -> tuple[str, str, str, str, str]:
    value = f"{figure.value:,.2f} {figure.unit}"
    if figure.limit is None:
        return figure.what, value, "", "", figure.note
    limit = f"{'≥' if figure.is_floor else '≤'} {figure.limit:g} {figure.unit}"
    missed = "UNDER" if figure.is_floor else "OVER"
    return figure.what, value, limit, missed if figure.is_over else "PASS", figure.note
