"""Run other programs to check whether they work, and capture all their output."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec


class ProgramAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A program's exit code and output; `code` is None if it did not start or timed out."""

    code: int | None
    out: bytes = b""
    err: bytes = b""
    seconds: float = 0.0

    @property
    def line(self) -> str:
        """The first line of its output, or of its errors if it printed nothing."""
        lines = (self.out or self.err).decode("utf-8", "replace").strip().splitlines()
        return lines[0] if lines else ""

    @property
    def last_line(self) -> str:
        """The last line of its errors, which names the exception of a traceback."""
        lines = (self.err or self.out).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


def ask(
    command: Sequence[str],
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = 20.0,
) -> ProgramAnswer:
    """Run a program and wait for it, up to a time limit."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            input=stdin,
            cwd=cwd,
            env=env,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ProgramAnswer(code=None, err=f"no answer within {seconds:.0f} seconds".encode())
    except OSError as error:
        return ProgramAnswer(code=None, err=str(error).encode())
    return ProgramAnswer(
        code=done.returncode, out=done.stdout, err=done.stderr, seconds=time.monotonic() - began
    )
