"""Running other programs to see whether they work; nothing they print reaches a person."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended; `code` is None if it never did."""

    code: int | None
    out: bytes = b""
    err: bytes = b""
    seconds: float = 0.0

    @property
    def line(self) -> str:
        """The first line it printed, or complained."""
        lines = (self.out or self.err).decode("utf-8", "replace").strip().splitlines()
        return lines[0] if lines else ""

    @property
    def last_line(self) -> str:
        """The last line it complained, which says what a traceback is about."""
        lines = (self.err or self.out).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


def ask(
    command: Sequence[str],
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = 20.0,
) -> Answer:
    """Run a program to its end, or to the end of our patience."""
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
        return Answer(code=None, err=f"no answer within {seconds:.0f} seconds".encode())
    except OSError as error:
        return Answer(code=None, err=str(error).encode())
    return Answer(
        code=done.returncode, out=done.stdout, err=done.stderr, seconds=time.monotonic() - began
    )
