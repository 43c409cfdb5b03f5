"""Run a program to its end, forward its output, and stop it on Ctrl-C."""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import msgspec

from leftoff import processes
from leftoff.processes import copy_for_child

_CHUNK_BYTES = 65536
# How long a program gets to clean up after it was asked to end.
_GRACE_SECONDS = 5.0
_LOOK_SECONDS = 0.5
_FOREVER = float("inf")

# Variables that point git at another repository, as inside a git hook; listed by `git rev-parse
# --local-env-vars`.
_ELSEWHERE = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)

OnLine = Callable[[str], None]
_STUCK = b"It is waiting for a FIFO in this repository. Find it with `find . -type p`."


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program to run, with everything that it can see."""

    arguments: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    given: bytes = b""
    """The data for its standard input."""
    may_ask: bool = False
    """Whether it may use the terminal, so that the user can type a password."""
    seconds: float | None = None
    kept_bytes: int = 1_000_000_000
    """The maximum amount of output to keep; the newest is kept."""
    on_line: OnLine | None = None
    """Called with every line as it arrives."""
    needs_files: bool = False
    """Whether it should open only regular files: if it waits for a FIFO, it is stopped."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended; `code` is None if it ran out of time."""

    code: int | None
    out: bytes
    errors: bytes

    @property
    def is_done(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0

    @property
    def text(self) -> str:
        """Its output as text."""
        return self.out.decode("utf-8", "surrogateescape")

    @property
    def trouble_lines(self) -> list[str]:
        """The lines of its error output or, without any, of its standard output."""
        lines = (self.errors.strip() or self.out.strip()).decode("utf-8", "replace").splitlines()
        return [line.rstrip() for line in lines if line.strip()]


def environment(**values: str) -> dict[str, str]:
    """Return the environment for a program that works on the repository it starts in."""
    inherited = copy_for_child(**values)
    return {name: value for name, value in inherited.items() if name not in _ELSEWHERE}


def run(program: Program) -> Ended:
    """Run a program; an interrupt is forwarded to it, and raised again once it has ended."""
    with processes.HeldInterrupt() as interrupt:
        process = _start_process(program)
        try:
            interrupt.release()
            return _follow(process, program)
        finally:
            _end(process, has_own_group=not program.may_ask)


def _start_process(program: Program) -> subprocess.Popen[bytes]:
    # A file, not a pipe: if leftoff is killed, the program must still get all of its input.
    with tempfile.TemporaryFile() as given:
        given.write(program.given)
        given.seek(0)
        return subprocess.Popen(
            program.arguments,
            cwd=program.folder,
            env=dict(program.environment),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Only the terminal's own process group may read from it; others get their own group, to
            # be killed with their helpers.
            process_group=None if program.may_ask else 0,
            bufsize=0,
        )


def _follow(process: subprocess.Popen[bytes], program: Program) -> Ended:
    kept = _exchange(process, program)
    if program.needs_files and _is_stuck(process):
        return Ended(code=None, out=bytes(kept[0]), errors=_STUCK)
    # A program that closed its pipes may still be running.
    is_done = _ends(process, program.seconds)
    code = process.returncode if is_done else None
    return Ended(code=code, out=bytes(kept[0]), errors=bytes(kept[1]))


def _exchange(process: subprocess.Popen[bytes], program: Program) -> tuple[bytearray, bytearray]:
    """Read both outputs of a program, so that it never blocks on a full pipe."""
    out, errors = _Stream(program), _Stream(program)
    deadline = time.monotonic() + (program.seconds or _FOREVER)
    with selectors.DefaultSelector() as selector:
        for pipe, stream in ((process.stdout, out), (process.stderr, errors)):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ, stream)
        while selector.get_map():
            ready = selector.select(_LOOK_SECONDS)
            # A helper left in the background can hold the pipes open for as long as it lives.
            if not ready and (process.poll() is not None or time.monotonic() > deadline):
                break
            if not ready and program.needs_files and _is_stuck(process):
                break
            for key, _ in ready:
                if not key.data.moves(key.fd):
                    selector.unregister(key.fileobj)
    return out.kept, errors.kept


def _is_stuck(process: subprocess.Popen[bytes]) -> bool:
    # Programs that it runs for the user, such as hooks, may wait for whatever they like.
    return processes.waits_for_fifo(process.pid, with_children=False)


class _Stream:
    """The newest data that came through a pipe, and its lines as they arrive."""

    def __init__(self, program: Program) -> None:
        self.kept = bytearray()
        self._limit = program.kept_bytes
        self._on_line = program.on_line
        self._line = b""

    def moves(self, fd: int) -> bool:
        """Read what is available; return whether there may be more."""
        data = os.read(fd, _CHUNK_BYTES)
        self._take(data)
        return bool(data)

    def _take(self, data: bytes) -> None:
        self.kept += data
        # The newest output explains a failure best.
        del self.kept[: -self._limit]
        if self._on_line is None:
            return
        *lines, self._line = (self._line + data).split(b"\n")
        # End of the stream: the last line may have no newline.
        if not data and self._line:
            lines, self._line = [self._line], b""
        for line in lines:
            self._on_line(line.decode("utf-8", "replace").rstrip("\r"))


def _ends(process: subprocess.Popen[bytes], seconds: float | None) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes], *, has_own_group: bool) -> None:
    """Interrupt a running program so that it can clean up (git its locks); kill it if needed."""
    if process.poll() is None:
        send = partial(os.killpg, process.pid) if has_own_group else process.send_signal
        try:
            with contextlib.suppress(OSError):
                send(signal.SIGINT)
                _ends(process, _GRACE_SECONDS)
        # Also if you press Ctrl-C again, because you do not want to wait.
        finally:
            with contextlib.suppress(OSError):
                # Helpers that a shell started in the background ignore an interrupt.
                send(signal.SIGKILL)
            process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def become(program: str, words: Sequence[str], folder: Path, *, has_input: bool = True) -> NoReturn:
    """Run a program in place of this process, in a folder; without input it reads nothing."""
    os.chdir(folder)
    if not has_input:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
    os.execv(program, [*words])  # noqa: S606 - the user named the program
