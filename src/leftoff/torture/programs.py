"""Programs that the torture starts: its workers, git, the C compiler and the letterbox."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from leftoff.torture.forks import PATIENCE_SECONDS, Ending

Process = subprocess.Popen[bytes]


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float = PATIENCE_SECONDS,
) -> Ending:
    """Run a program to its end, or to the end of our patience."""
    began = time.monotonic()
    process = start(command, cwd=cwd, env=env)
    try:
        output, _ = process.communicate(stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Ending(seconds=time.monotonic() - began)
    code, elapsed = process.returncode, time.monotonic() - began
    if code < 0:
        return Ending(signal=-code, output=output, seconds=elapsed)
    return Ending(code=code, output=output, seconds=elapsed)


def start(command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Process:
    """Start a program whose output and complaints can be read."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder of ours; return what it prints."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    ended = run(["git", *identity, *arguments], cwd=folder)
    if ended.code != 0:
        raise RuntimeError(f"git {arguments}: {ended.last_line}")
    return ended.output.decode("utf-8", "replace")
