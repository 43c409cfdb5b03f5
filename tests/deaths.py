"""Kill a process at every step it takes on disk, or at any moment, and check what is left.

This is the only harness for kills. A trial says what was there before, what is done, and what must
hold afterwards; the harness does the killing. It forks, so it runs in a program of its own: modules
named `dying` contain the trials and call `main`, and tests call `count_kills`.
"""

import contextlib
import fcntl
import importlib
import itertools
import json
import os
import random
import shutil
import signal
import sys
import termios
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from programs import run_module

# All that leftoff does to the disk, apart from SQLite's own work on the derived index.
STEPS = (
    *((os, name) for name in ("open", "write", "fsync", "link", "unlink", "replace", "rename")),
    *((os, name) for name in ("mkdir", "rmdir", "pread", "read", "close", "scandir", "listdir")),
    (fcntl, "flock"),
)
_PATIENCE_SECONDS = 120


class Fuse:
    """Counts the steps of this process and kills it at one of them."""

    def __init__(self, at: int) -> None:
        self._left = at

    def is_last(self) -> bool:
        """Count a step; say whether it is the one to die at."""
        self._left -= 1
        return self._left == 0

    def step(self) -> None:
        """Count a step, and die if it is the one."""
        if self.is_last():
            die()

    def run_beside(self) -> None:
        """Count a step at which a program of another process runs, which a kill does not end."""
        self.step()


class Lookout(Fuse):
    """Lets this process live, and notes the steps at which a kill would leave something new.

    A process that is killed leaves nothing but its files. If none of them has changed since the
    step before, as before a read or a sync, a kill leaves what the kill before left.
    """

    def __init__(self, place: Path) -> None:
        super().__init__(0)
        self._place = place
        self._seen = 0
        self._running: list[int] = []
        self.count = 0
        self.new: list[int] = []

    def is_last(self) -> bool:
        """Note a step at which a kill always leaves something new."""
        self.count += 1
        self.new.append(self.count)
        return False

    def step(self) -> None:
        """Note a step if the files differ from those at the step before."""
        seen = _fingerprint(self._place)
        if seen == self._seen:
            self.count += 1
            # The programs since then have only read.
            self.new = [each for each in self.new if each not in self._running]
        else:
            self.is_last()
        self._running, self._seen = [], seen

    def run_beside(self) -> None:
        """Note a step while a program runs, unless that turns out to change nothing."""
        self.is_last()
        self._running.append(self.count)


# Bound here, because `Lookout` looks while the steps of this process are counted.
_scandir = os.scandir


def _fingerprint(place: Path) -> int:
    """Return a number that differs if any file below a folder does."""
    return zlib.crc32(repr([*_list_files(os.fspath(place))]).encode())


def _list_files(folder: str) -> Iterator[tuple[object, ...]]:
    with _scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        about = entry.stat(follow_symlinks=False)
        held = 0
        if entry.is_dir(follow_symlinks=False):
            yield from _list_files(entry.path)
        elif entry.is_file(follow_symlinks=False):
            with open(entry.path, "rb") as file:  # noqa: PTH123 - takes no step that is counted
                held = zlib.crc32(file.read())
        yield entry.path, about.st_ino, about.st_mode, about.st_nlink, about.st_mtime_ns, held


Arm = Callable[[Fuse], None]


def die() -> None:
    """End this process as a power cut would: at once, with nothing tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)


def before_each_step(fuse: Fuse) -> None:
    """Let this process die before a step on disk."""
    for module, name in STEPS:
        setattr(module, name, wrap(getattr(module, name), fuse))


def within_each_write(fuse: Fuse) -> None:
    """Let this process die in the middle of a write."""
    real = os.write

    def write(descriptor: int, data: Any) -> int:
        if fuse.is_last():
            real(descriptor, bytes(data)[: len(data) // 2])
            die()
        return real(descriptor, data)

    os.write = write


def wrap(real: Callable[..., Any], fuse: Fuse) -> Callable[..., Any]:
    """Return a function that counts as a step before it does its work."""

    def step(*arguments: Any, **options: Any) -> Any:
        fuse.step()
        return real(*arguments, **options)

    return step


# --- at every step ---


class Death(NamedTuple):
    """How an attempt ended, and what is seen where nobody dies."""

    at: int
    lived: bool
    before: Any
    after: Any


class Trial(NamedTuple):
    """Something that is done in a folder and killed.

    `look` returns what a reader sees, and `check` tests what must hold after each attempt. What was
    prepared is copied for each attempt, unless `anew` says to prepare it again: mirrors know a file
    by its inode, and a copy looks to them as if somebody had edited it. `every` is more than 1
    where another trial takes the same steps: then only one in so many is tried.
    """

    prepare: Callable[[Path], object]
    act: Callable[[Path], object]
    look: Callable[[Path], Any]
    check: Callable[[Path, Death], object]
    anew: bool = False
    every: int = 1
    arms: Mapping[str, Arm] = {"steps": before_each_step, "writes": within_each_write}


def kill_at_every_step(trial: Trial, folder: Path, arm: Arm) -> int:
    """Repeat an act and kill it one step later each time, until it ends; return the kills.

    Steps before which nothing on disk has changed are left out.
    """
    begin = partial(_begin, trial, folder / "place", folder / "template")
    before = trial.look(begin())
    new, count = _find_steps(trial, begin(), arm, folder / "steps")
    after = trial.look(folder / "place")

    def attempt(at: int) -> bool:
        place = begin()
        lived = lives(partial(_act, trial, place, arm, at))
        trial.check(place, Death(at, lived, before, after))
        return lived

    chosen = new[:: trial.every]
    for at in chosen:
        # On a busy machine, an act may take fewer steps than at first and end before the kill.
        attempt(at)
    for at in itertools.count(count + 1):
        if attempt(at):
            return len(chosen)
    raise AssertionError


def _find_steps(trial: Trial, place: Path, arm: Arm, report: Path) -> tuple[list[int], int]:
    """Act to the end; return the steps at which a kill leaves something new, and the last."""

    def act() -> None:
        lookout = Lookout(place)
        arm(lookout)
        trial.act(place)
        report.write_text(json.dumps([lookout.new, lookout.count, [*sys.modules]]))

    assert lives(act)
    new, count, modules = json.loads(report.read_text())
    import_all(modules)
    return new, count


def import_all(modules: Iterable[str]) -> None:
    """Import what the first child imported, so that no later child has to."""
    for name in modules:
        # A module that was run as a program cannot be imported by its name.
        if name not in sys.modules:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def _begin(trial: Trial, place: Path, template: Path) -> Path:
    """Make the folder of an attempt what it was before; always the same one.

    Some things are known by the path they were begun in.
    """
    if template.exists():
        return renew(place, template)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    assert lives(partial(trial.prepare, place))
    if trial.anew:
        return place
    place.rename(template)
    return renew(place, template)


def _act(trial: Trial, place: Path, arm: Arm, at: int) -> None:
    arm(Fuse(at))
    trial.act(place)
    # Returned, hence acknowledged: from here on no step may undo it.


def lives(work: Callable[[], object]) -> bool:
    """Run the work in a child; say whether it lived to the end."""
    child = os.fork()
    if child == 0:
        _run_to_the_end(work)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, "the work failed by itself"
    return True


def _run_to_the_end(work: Callable[[], object]) -> None:
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - a child must never run the parent's code
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os._exit(0)


def renew(place: Path, template: Path) -> Path:
    """Make a folder a copy of another one."""
    shutil.rmtree(place, ignore_errors=True)
    if template.exists():
        shutil.copytree(template, place, symlinks=True)
    return place


# --- at any moment ---


class Worker:
    """A process that works until it is killed, and acknowledges each thing done with a line."""

    def __init__(self, work: Callable[[Callable[[str], None]], object]) -> None:
        self._reader, writer = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            _run_to_the_end(lambda: work(lambda line: _tell(writer, line)))
        os.close(writer)

    def wait_for(self, size: int) -> None:
        """Wait until it has acknowledged so many bytes, however slow the machine is."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._waiting_bytes() < size:
            assert time.monotonic() < deadline, "a child printed nothing"
            time.sleep(0.001)

    def _waiting_bytes(self) -> int:
        count = fcntl.ioctl(self._reader, termios.FIONREAD, b"\0\0\0\0")
        return int.from_bytes(count, sys.byteorder)

    def kill(self) -> list[str]:
        """Kill it and return what it had acknowledged."""
        os.kill(self._child, signal.SIGKILL)
        _, status = os.waitpid(self._child, 0)
        assert os.WIFSIGNALED(status), "a child failed by itself"
        with os.fdopen(self._reader, "rb") as pipe:
            return [line.decode() for line in pipe if line.endswith(b"\n")]


def _tell(pipe: int, line: str) -> None:
    os.write(pipe, f"{line}\n".encode())


Work = Callable[[int, Callable[[str], None]], object]


def kill_at_any_moment(
    work: Work, check: Callable[[list[str]], object], *, kills: int, together: int, several: int
) -> list[str]:
    """Kill groups of workers at random moments; return all they acknowledged.

    Half of them die early, while they begin; the others once they acknowledged `several` bytes.
    """
    rng = random.Random(kills)  # noqa: S311 - no secret
    acknowledged: list[str] = []
    for number in range(0, kills, together):
        seeds = range(number, number + together)
        for worker in [Worker(partial(work, seed)) for seed in seeds]:
            if rng.random() < 0.5:
                worker.wait_for(several)
            time.sleep(rng.uniform(0, 0.01))
            found = worker.kill()
            check(found)
            acknowledged += found
    return acknowledged


# --- as a program ---


def main(trials: Mapping[str, Trial]) -> None:
    """Try what the command line names, `FOLDER TRIAL …`, and print the number of kills."""
    folder, *names = sys.argv[1:]
    kills = {name: _try(name, trials[name], Path(folder) / name) for name in names}
    sys.stdout.write(json.dumps(kills))


def _try(name: str, trial: Trial, folder: Path) -> dict[str, int]:
    try:
        return {
            way: kill_at_every_step(trial, folder / way, arm) for way, arm in trial.arms.items()
        }
    except BaseException as error:
        error.add_note(f"in the trial {name}")
        raise


def count_kills(module: ModuleType, trial: str, folder: Path) -> dict[str, int]:
    """Run a trial of a module in a program of its own; return the number of kills."""
    return count_all_kills(module, [trial], folder)[trial]


def count_all_kills(
    module: ModuleType, trials: Sequence[str], folder: Path
) -> dict[str, dict[str, int]]:
    """Run some trials of a module in one program; return the number of kills of each.

    A program takes longer to start than most trials take.
    """
    kills: dict[str, dict[str, int]] = json.loads(
        run_module(module, str(folder), *trials, seconds=1800)
    )
    assert [*kills] == [*trials]
    return kills


def split(trials: Iterable[str], parts: int) -> list[list[str]]:
    """Split trials into so many parts, each of which is one test."""
    names = [*trials]
    return [names[part::parts] for part in range(parts)]
