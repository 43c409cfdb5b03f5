"""Fork children from a warmed-up process: a fork takes milliseconds, a Python start takes 50.

A child runs its work and exits without the parent's clean-up. Its output goes to a file.
"""

import contextlib
import mmap
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

# The exit code of a child that could not run its work, as opposed to a command that failed.
EXIT_CRASHED = 99
PATIENCE_SECONDS = 60.0


class ChildExit(msgspec.Struct, frozen=True, kw_only=True):
    """How a child ended: with a code, by a signal, or not in time."""

    code: int | None = None
    signal: int = 0
    output: bytes = b""
    complaints: bytes = b""
    seconds: float = 0.0
    megabytes: int = 0
    """Its peak memory."""

    @property
    def is_killed(self) -> bool:
        """Whether it was killed, as intended."""
        return self.signal == signal.SIGKILL

    @property
    def hung(self) -> bool:
        """Whether it was stopped because it did not end in time."""
        return self.code is None and not self.signal

    @property
    def has_crashed(self) -> bool:
        """Whether it ended in a way that no command may end."""
        return self.hung or self.code in {70, EXIT_CRASHED} or b"Traceback (most" in self.all_output

    @property
    def all_output(self) -> bytes:
        """Everything it printed."""
        return self.output + self.complaints

    @property
    def last_line(self) -> str:
        """The last line it printed."""
        lines = self.all_output.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""


class Counter:
    """A number in shared memory, through which a child reports how far it got."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    @property
    def value(self) -> int:
        """The number."""
        return int.from_bytes(self._memory[:8], "little", signed=True)

    @value.setter
    def value(self, number: int) -> None:
        self._memory[:8] = number.to_bytes(8, "little", signed=True)


def run(
    work: Callable[[], int | None],
    *,
    cwd: Path,
    stdin: Path | None = None,
    seconds: float = PATIENCE_SECONDS,
) -> ChildExit:
    """Run the work in a child until it ends or times out."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        streams = (output.fileno(), errors.fileno())
        child = start(work, cwd=cwd, stdin=stdin, streams=streams)
        status, megabytes = _wait(child, seconds)
        elapsed = time.monotonic() - began
        printed = (_content(output), _content(errors))
    ending = _ending(status, printed)
    return msgspec.structs.replace(ending, seconds=elapsed, megabytes=megabytes)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _ending(status: int | None, printed: tuple[bytes, bytes]) -> ChildExit:
    output, complaints = printed
    code, number = None, 0
    if status is not None and os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
    elif status is not None:
        code = os.WEXITSTATUS(status)
    return ChildExit(code=code, signal=number, output=output, complaints=complaints)


def start(
    work: Callable[[], int | None],
    *,
    cwd: Path,
    streams: tuple[int, int],
    stdin: Path | None = None,
) -> int:
    """Start the work in a child and return its process id."""
    child = os.fork()
    if child:
        return child
    code = EXIT_CRASHED
    try:
        _redirect(stdin, *streams)
        os.chdir(cwd)
        code = work() or 0
    except BaseException as error:  # noqa: BLE001 - a child must never run the parent's code
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        # `os._exit` skips the parent's clean-up, such as exit handlers and buffered output.
        os._exit(code)


def _redirect(stdin: Path | None, output: int, errors: int) -> None:
    source = os.open(stdin or os.devnull, os.O_RDONLY)
    os.dup2(source, 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(source)


def _wait(child: int, seconds: float) -> tuple[int | None, int]:
    """Return how a child ended, or None if it was stopped, and its peak memory in MB."""
    is_over = _ends_within(child, seconds)
    if not is_over:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    return status if is_over else None, used.ru_maxrss >> 10


def _ends_within(child: int, seconds: float) -> bool:
    with _descriptor(child) as descriptor:
        if descriptor is not None:
            return bool(select.select([descriptor], [], [], seconds)[0])
    deadline = time.monotonic() + seconds
    while not _has_ended(child):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def _has_ended(child: int) -> bool:
    # WNOWAIT leaves the child to `wait4`, which also returns its memory.
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@contextlib.contextmanager
def _descriptor(child: int) -> Iterator[int | None]:
    """Open a descriptor that becomes readable when the child ends; only Linux has it."""
    try:
        descriptor = os.pidfd_open(child)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
