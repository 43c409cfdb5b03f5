"""Start the programs that the torture needs: workers, git, the C compiler and the letterbox."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from leftoff.torture.forks import PATIENCE_SECONDS, ChildExit

Process = subprocess.Popen[bytes]


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float = PATIENCE_SECONDS,
) -> ChildExit:
    """Run a program until it ends or times out."""
    began = time.monotonic()
    process = start(command, cwd=cwd, env=env)
    try:
        output, _ = process.communicate(stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return ChildExit(seconds=time.monotonic() - began)
    code, elapsed = process.returncode, time.monotonic() - began
    if code < 0:
        return ChildExit(signal=-code, output=output, seconds=elapsed)
    return ChildExit(code=code, output=output, seconds=elapsed)


def start(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    is_apart: bool = False,
) -> Process:
    """Start a program with its output in a pipe; if `is_apart`, Ctrl-C does not reach it."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=is_apart,
    )


def end_below(folder: Path) -> None:
    """Kill every process whose home folder is below this folder (Linux only)."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    # A killed process may have started another one meanwhile, so look again until none is left.
    while (found := _processes_below(folder)) and time.monotonic() < deadline:
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def _processes_below(folder: Path) -> list[int]:
    home = b"HOME=" + os.fsencode(folder) + b"/"
    return [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if any(each.startswith(home) for each in _environment_of(process))
    ]


def _environment_of(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder of the torture and return its output."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    ended = run(["git", *identity, *arguments], cwd=folder)
    if ended.code != 0:
        raise RuntimeError(f"git {arguments}: {ended.last_line}")
    return ended.output.decode("utf-8", "replace")
