"""Run git for queries: stream its output, and never let it prompt, page or run programs.

A repository's settings and attributes can name programs to run, and an unpacked or copied folder
brings its own. Git has a switch for each of these except filters, so the filters that the
repository defines are overridden by name. Filters in the user's own settings, such as git-lfs, run
as usual.
"""

import contextlib
import errno
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Self

from leftoff import processes
from leftoff.git.repository import Repository, own_settings
from leftoff.processes import copy_for_child

TIMEOUT_SECONDS = 10.0
_MAX_ERROR_BYTES = 4096
_CHUNK_BYTES = 65536
# After this long without output, check whether git is stuck.
_LOOK_SECONDS = 0.2
_STUCK = "git is waiting for a FIFO in this repository."
# Repositories where git was stuck on a FIFO, so that no other query waits there again.
_stuck: set[Path] = set()

# All options but the last keep git from running the repository's programs, and from using a
# repository other than the one that was found.
_GIT = (
    "git --no-pager -c core.fsmonitor=false -c log.showSignature=false -c core.hooksPath=/dev/null"
    " -c safe.bareRepository=explicit -c core.quotePath=false"
).split()
# git accepts a section name only in one piece, directly after its bracket.
_MAY_NAME_FILTERS = re.compile(rb"\[(?:filter|include|lfs[^]])", re.IGNORECASE)
# Included settings can define one, too.
_NAMES_WORKTREE = re.compile(rb"\bworktree\s*=|\[include", re.IGNORECASE)
_LFS = {b"filter.lfs.clean", b"filter.lfs.process", b"filter.lfs.required"}
_SETTINGS = "config --list --show-scope -z".split()
_SET_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch missing objects. Older versions of git know only the second way to
    # forbid it.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Inside a git hook, the other variables point at the hook's repository, not at this folder.
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}


def _build_environment(repository: Repository, settings: bytes) -> dict[str, str]:
    inherited = copy_for_child()
    kept = {name: inherited[name] for name in _KEPT_VARIABLES if name in inherited}
    if repository.worktree is not None:
        kept["GIT_CEILING_DIRECTORIES"] = str(repository.worktree.parent)
        # A setting could point git at any folder of the user.
        if _NAMES_WORKTREE.search(settings):
            kept["GIT_WORK_TREE"] = str(repository.worktree)
    return copy_for_child(drop_prefix="GIT_", **kept, **_SET_VARIABLES)


def ask(
    folder: Path, repository: Repository, *arguments: str, deadline: float | None = None
) -> "Git":
    """Prepare git for a query about a folder; nothing from the repository is executed."""
    folder.stat()  # raises if the folder does not exist
    if repository.git_dir in _stuck:
        raise OSError(errno.EPERM, _STUCK)
    settings = own_settings(repository)
    _insist_on(repository, settings, deadline)
    overrides = _filter_overrides(repository, settings, deadline)
    return Git(repository, settings, *overrides, *arguments, deadline=deadline)


def _insist_on(repository: Repository, settings: bytes, deadline: float | None) -> None:
    """Raise if git does not see the repository and nothing keeps it from one further up."""
    # The list of ceiling directories is split at colons, so such a path cannot be listed.
    if repository.worktree is None or ":" not in str(repository.worktree):
        return
    with Git(repository, settings, "rev-parse", "--absolute-git-dir", deadline=deadline) as git:
        seen = b"".join(git.chunks()).rstrip(b"\n")
    if os.path.realpath(seen) != os.fsencode(repository.git_dir):
        raise OSError(errno.EPERM, f"git does not see the repository at {repository.worktree}")


def _filter_overrides(
    repository: Repository, settings: bytes, deadline: float | None
) -> list[str | bytes]:
    """Reset every filter setting of the repository to the user's value, or to nothing."""
    if not _MAY_NAME_FILTERS.search(settings):
        return []
    with Git(repository, settings, *_SETTINGS, deadline=deadline) as git:
        fields = list(git.records())
        trouble = git.trouble()
    # `-c` ends the setting's name at the first equals sign.
    brought, users = _split_filters(zip(fields[::2], fields[1::2], strict=False))
    if trouble or any(b"=" in name for name in brought):
        raise OSError(errno.EPERM, "this repository's filters cannot be switched off")
    return [word for name in sorted(brought) for word in ("-c", name + b"=" + users.get(name, b""))]


def _split_filters(
    settings: Iterable[tuple[bytes, bytes]],
) -> tuple[set[bytes], dict[bytes, bytes]]:
    """Return the filter settings of the repository, and those of the user."""
    brought: set[bytes] = set()
    users: dict[bytes, bytes] = {}
    is_extended = False
    for scope, setting in settings:
        name, is_given, value = setting.partition(b"\n")
        is_brought = scope in {b"local", b"worktree"}
        is_extended = is_extended or (is_brought and name.startswith(b"lfs.extension."))
        if name.startswith(b"filter.") and is_brought:
            brought.add(name)
        elif name.startswith(b"filter."):
            users[name] = value if is_given else b"true"
    # git-lfs runs programs that these settings name, so even the user's own git-lfs must not run.
    if is_extended:
        # Overriding these with nothing disables git-lfs for this query.
        brought |= _LFS
        users = {name: value for name, value in users.items() if name not in _LFS}
    return brought, users


class Git:
    """A git that runs inside `with`; its output is streamed, and its deadline kills it."""

    def __init__(
        self,
        repository: Repository,
        settings: bytes,
        *arguments: str | bytes,
        deadline: float | None = None,
    ) -> None:
        self._deadline = time.monotonic() + TIMEOUT_SECONDS if deadline is None else deadline
        self._is_late = False
        self._is_stuck = False
        self._git_dir = repository.git_dir
        self._errors = b""
        self._interrupt = processes.HeldInterrupt()
        where = () if repository.worktree else (f"--git-dir={repository.git_dir}",)
        self._arguments = (*_GIT, *where, *arguments)
        # Not the folder itself: git might see a repository there that leftoff does not.
        self._folder = repository.worktree or repository.git_dir
        self._environment = _build_environment(repository, settings)

    def __enter__(self) -> Self:
        # Until `chunks`: an interrupt before the block begins would leave git running.
        self._interrupt.hold()
        try:
            self._process = self._start()
        except BaseException:
            self._interrupt.release()
            raise
        return self

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._arguments,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # In its own process group, so that the helpers it starts are killed with it.
            process_group=0,
            bufsize=0,
        )

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in self._pipes():
            pipe.close()
        self._interrupt.release()

    def records(self) -> Iterator[bytes]:
        """Yield the records before each NUL byte; a torn last record is dropped."""
        rest = b""
        for chunk in self.chunks():
            *records, rest = (rest + chunk).split(b"\0")
            yield from records

    def chunks(self) -> Iterator[bytes]:
        """Yield git's output until it ends or the deadline passes."""
        self._interrupt.release()
        stdout, stderr = self._pipes()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(min(_LOOK_SECONDS, self._seconds_left()))
                if not ready and self._is_hopeless():
                    return
                for key, _ in ready:
                    data = os.read(key.fd, _CHUNK_BYTES)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is stdout:
                        yield data
                    else:
                        self._errors = (self._errors + data)[:_MAX_ERROR_BYTES]

    def _is_hopeless(self) -> bool:
        """Return whether git is past its deadline or stuck on a FIFO."""
        self._is_stuck = processes.waits_for_fifo(self._process.pid)
        if self._is_stuck:
            _stuck.add(self._git_dir)
        self._is_late = self._is_stuck or self._seconds_left() <= 0
        return self._is_late

    def trouble(self) -> str | None:
        """Return one line about what went wrong, once all output was read; None if nothing did."""
        if self._is_stuck:
            return _STUCK
        try:
            code = self._process.wait(0 if self._is_late else self._seconds_left())
        except subprocess.TimeoutExpired:
            return "git did not answer in time."
        if code == 0:
            return None
        lines = self._errors.decode("utf-8", "replace").splitlines()
        errors = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
        return errors[0] if errors else "git failed without a message."

    def _seconds_left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        stdout, stderr = self._process.stdout, self._process.stderr
        if stdout is None or stderr is None:  # pragma: no cover
            raise AssertionError
        return stdout, stderr
