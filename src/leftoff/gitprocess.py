"""One running git: read piece by piece, and never let to ask, page or run what it finds."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

from leftoff import paths
from leftoff.repository import Repository, named_worktree

TIMEOUT_SECONDS = 10.0
_MAX_ERROR_BYTES = 4096
_CHUNK_BYTES = 65536

# The first two settings would let a repository have programs of its own run.
_GIT = (
    "git --no-pager -c core.fsmonitor=false -c log.showSignature=false -c core.quotePath=false"
).split()
_SET_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch what it lacks; older gits know only the second way to forbid it.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Inside a git hook the others point at the repository of the hook, not at the folder asked about.
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}


def _environment() -> dict[str, str]:
    inherited = paths.child_environment()
    kept = {name: inherited[name] for name in _KEPT_VARIABLES if name in inherited}
    return paths.child_environment(drop_prefix="GIT_", **kept, **_SET_VARIABLES)


def _where(repository: Repository) -> tuple[str, ...]:
    """Tell git which worktree it is about, should the repository's own settings name another."""
    if repository.worktree is None:
        return (f"--git-dir={repository.git_dir}",)
    if named_worktree(repository) in {None, repository.worktree}:
        return ()
    return (f"--work-tree={repository.worktree}",)


class Git:
    """One running git, read piece by piece and ended at its deadline at the latest."""

    def __init__(
        self, folder: Path, repository: Repository, *arguments: str, deadline: float | None = None
    ) -> None:
        self._deadline = time.monotonic() + TIMEOUT_SECONDS if deadline is None else deadline
        self._is_late = False
        self._errors = b""
        # Not in the folder itself: git would take one that looks like a bare repository for one.
        folder.stat()
        where = _where(repository)
        self._process = subprocess.Popen(
            (*_GIT, *where, *arguments),
            cwd=repository.worktree or folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Its own group, so that the helpers it starts end with it.
            process_group=0,
            bufsize=0,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in self._pipes():
            pipe.close()

    def records(self) -> Iterator[bytes]:
        """Read what stands before each NUL; a torn last record is dropped."""
        rest = b""
        for chunk in self.chunks():
            *records, rest = (rest + chunk).split(b"\0")
            yield from records

    def chunks(self) -> Iterator[bytes]:
        """Read what git prints until it ends or is late."""
        stdout, stderr = self._pipes()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(self._seconds_left())
                if not ready:
                    self._is_late = True
                    return
                for key, _ in ready:
                    data = os.read(key.fd, _CHUNK_BYTES)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is stdout:
                        yield data
                    else:
                        self._errors = (self._errors + data)[:_MAX_ERROR_BYTES]

    def trouble(self) -> str | None:
        """Say in one line what went wrong, once everything has been read."""
        try:
            code = self._process.wait(0 if self._is_late else self._seconds_left())
        except subprocess.TimeoutExpired:
            return "git did not answer in time."
        if code == 0:
            return None
        lines = self._errors.decode("utf-8", "replace").splitlines()
        telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
        return telling[0] if telling else "git ended without an answer."

    def _seconds_left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        stdout, stderr = self._process.stdout, self._process.stderr
        if stdout is None or stderr is None:  # pragma: no cover
            raise AssertionError
        return stdout, stderr
