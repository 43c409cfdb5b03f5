"""Kill this process, or make a call fail, at its n-th file operation.

With the C library of `shim`, every call below a folder counts, including SQLite's. Without it, only
the calls that Python code makes through `os` count.
"""

import builtins
import ctypes
import errno
import fcntl
import io
import itertools
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from leftoff.torture import shim

Kind = Literal[
    "open", "create", "read", "write", "sync", "link", "rename", "unlink", "mkdir", "truncate",
    "lock", "list",
]  # fmt: skip
Action = Literal["kill", "half", "fail", "short"]

KINDS: tuple[Kind, ...] = (
    "open", "create", "read", "write", "sync", "link", "rename", "unlink", "mkdir", "truncate",
    "lock", "list",
)  # fmt: skip
# The calls that change a disk. A kill between two others leaves the same state behind.
CHANGES: tuple[Kind, ...] = (
    "create", "write", "sync", "link", "rename", "unlink", "mkdir", "truncate", "lock",
)  # fmt: skip

_BITS = {kind: 1 << place for place, kind in enumerate(KINDS)}
_ACTIONS: dict[Action, int] = {"kill": 1, "half": 2, "fail": 3, "short": 4}
# The Python functions for each kind. For `open`, the flags decide between open and create.
_FUNCTIONS: dict[Kind, tuple[str, ...]] = {
    "read": ("read", "pread"),
    "write": ("write",),
    "sync": ("fsync", "fdatasync"),
    "link": ("link",),
    "rename": ("rename", "replace"),
    "unlink": ("unlink", "remove", "rmdir"),
    "mkdir": ("mkdir",),
    "truncate": ("ftruncate",),
    "list": ("scandir", "listdir"),
}


class Injection(msgspec.Struct, frozen=True, kw_only=True):
    """What happens, and at which call."""

    kinds: tuple[Kind, ...]
    at: int
    action: Action = "kill"
    error: int = 0
    is_sticky: bool = False
    """Whether all later calls fail as well, as on a disk that stays full."""

    def __str__(self) -> str:
        what = f" {errno.errorcode.get(self.error, self.error)}" if self.error else ""
        kinds = "any change" if self.kinds == CHANGES else "/".join(self.kinds)
        return f"{self.action}{what} at {kinds} {self.at}{' and later' if self.is_sticky else ''}"


def arm(injection: Injection, folder: Path) -> None:
    """Arm the injection in this process, for files below a folder."""
    library = shim.find_library()
    if library is None:
        _Wrapped(injection, folder).install()
        return
    library.leftoff_torture_arm(
        os.fsencode(folder),
        _mask(injection.kinds),
        _long(injection.at),
        _ACTIONS[injection.action],
        injection.error,
        int(injection.is_sticky),
    )


def in_environment(injection: Injection, folder: Path, mark: Path) -> dict[str, str]:
    """Return the variable that arms a program with the C library, and every process it starts.

    The file `mark` appears when one of their calls was hit.
    """
    values = (
        str(folder), _mask(injection.kinds), injection.at, _ACTIONS[injection.action],
        injection.error, int(injection.is_sticky), str(mark),
    )  # fmt: skip
    return {"LEFTOFF_TORTURE": "|".join(map(str, values))}


def calls() -> int:
    """Return how many matching calls this process has made since it was armed."""
    library = shim.find_library()
    return int(library.leftoff_torture_count()) if library is not None else _Wrapped.seen


def _mask(kinds: Iterable[Kind]) -> int:
    return sum(_BITS[kind] for kind in kinds)


def _long(number: int) -> Any:
    return ctypes.c_long(number)


class _Wrapped:
    """The functions of `os`, counted."""

    seen = 0

    def __init__(self, injection: Injection, folder: Path) -> None:
        self._injection = injection
        self._folder = os.fspath(folder)
        self._ours: set[int] = set()
        self._count = itertools.count(1)
        self._write = os.write

    def install(self) -> None:
        """Replace each function with one that counts."""
        type(self).seen = 0
        kinds = self._injection.kinds
        self._wrap_open()
        for kind, names in _FUNCTIONS.items():
            for name in names if kind in kinds else ():
                setattr(os, name, self._count_calls(getattr(os, name)))
        if "lock" in kinds:
            # The type stubs declare flock as overloaded, so a plain assignment does not type-check.
            setattr(fcntl, "flock", self._count_calls(fcntl.flock))  # noqa: B010

    def _wrap_open(self) -> None:
        real, close = os.open, os.close

        def open_tracked(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            kind: Kind = "create" if flags & (os.O_CREAT | os.O_TRUNC) else "open"
            is_ours = self._is_ours(path) or named.get("dir_fd") in self._ours
            if is_ours and kind in self._injection.kinds:
                self._step()
            descriptor = real(path, flags, *rest, **named)
            if is_ours:
                self._ours.add(descriptor)
            return descriptor

        def close_tracked(fd: int) -> None:
            self._ours.discard(fd)
            close(fd)

        os.open, os.close = open_tracked, close_tracked
        # pathlib uses the one in io.
        builtins.open = io.open = self._through(builtins.open)

    def _through(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Make Python open its own files through `os.open`, where calls are counted."""

        def open_through(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
            # A descriptor is already counted, and an opener of its own calls `os.open` itself.
            if isinstance(file, int) or "opener" in named:
                return real(file, mode, *rest, **named)
            return real(file, mode, *rest, opener=os.open, **named)

        return open_through

    def _count_calls(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            action = self._step() if self._concerns(arguments) else None
            if action is None or real is not self._write:
                return real(*arguments, **named)
            data = bytes(arguments[1])
            written = real(arguments[0], data[: max(1, len(data) // 2)])
            if action == "half":
                os.kill(os.getpid(), signal.SIGKILL)
            return written

        return step

    def _concerns(self, arguments: tuple[Any, ...]) -> bool:
        if not arguments:
            return False
        if isinstance(arguments[0], int):
            return arguments[0] in self._ours
        return any(self._is_ours(each) for each in arguments[:2]) or len(arguments) > 1

    def _is_ours(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        full = os.path.join(os.getcwd(), os.fsdecode(path))  # noqa: PTH109, PTH118 - counted calls
        return full.startswith(self._folder)

    def _step(self) -> Action | None:
        """Count a call, then kill, fail, or return what to do with half of the bytes."""
        type(self).seen = number = next(self._count)
        is_due = number == self._injection.at
        if not (is_due or (self._injection.is_sticky and number > self._injection.at)):
            return None
        if self._injection.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._injection.action == "fail":
            raise OSError(self._injection.error, os.strerror(self._injection.error))
        return self._injection.action
