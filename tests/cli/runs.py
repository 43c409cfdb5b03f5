"""Run leftoff as its users do: in this process, as a process, and on a terminal."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
import pytest

from leftoff.cli import run
from leftoff.context import find_project
from leftoff.store import Store
from stores import Clock, contents, draft

ANSWER_SECONDS = 120


class Result(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, as JSON."""
        return json.loads(self.out)


class Cli:
    """The command line in a folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: str = "") -> Result:
        """Run in this process, with no terminal."""
        streams = [_stream(stdin.encode()), _stream(), _stream()]
        with self._monkeypatch.context() as patch:
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            code = run(arguments)
            out, err = (_printed(stream) for stream in streams[1:])
        return Result(code, out, err)

    def ok(self, *arguments: str, stdin: str = "") -> Result:
        """Run something that must work."""
        result = self(*arguments, stdin=stdin)
        assert result.code == 0, result
        return result

    def json(self, *arguments: str, stdin: str = "") -> Any:
        """Run something that must work, and return what it answers in JSON."""
        return self.ok(*arguments, "--json", stdin=stdin).json

    def process(
        self,
        *arguments: str | bytes,
        env: Mapping[str, str] | None = None,
        unset: str = "",
        text: bool = True,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """Run as a process of its own."""
        return subprocess.run(
            (sys.executable, "-m", "leftoff", *arguments),
            env=environment(env, unset),
            **{"stdin": subprocess.DEVNULL, "capture_output": True, **options},
            encoding="utf-8" if text else None,
            check=False,
            timeout=ANSWER_SECONDS,
        )

    def shell(
        self, script: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell script in which `leftoff` is the code under test."""
        programs = Path(os.environ["HOME"]) / "bin"
        programs.mkdir(exist_ok=True)
        program = programs / "leftoff"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m leftoff "$@"\n')
        program.chmod(0o700)
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        return subprocess.run(
            ("bash", "-c", script),
            env=environment({"PATH": path, **(env or {})}),
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_SECONDS,
        )

    @contextlib.contextmanager
    def terminal(
        self, *arguments: str, env: Mapping[str, str] | None = None, columns: int = 80
    ) -> Iterator["Terminal"]:
        """Run on a terminal of its own."""
        with spawn(
            *arguments, env={"TERM": "xterm", "PAGER": "cat", **(env or {})}, columns=columns
        ) as child:
            yield Terminal(child)


@contextlib.contextmanager
def spawn(
    *arguments: str, env: Mapping[str, str], rows: int = 40, columns: int
) -> "Iterator[pexpect.spawn[str]]":
    """Run leftoff on a terminal of this size."""
    child: Any = pexpect.spawn(
        sys.executable,
        ["-m", "leftoff", *arguments],
        env=environment(env, _TERMINAL_OFF),
        dimensions=(rows, columns),
        encoding="utf-8",
        timeout=ANSWER_SECONDS,
    )
    # By default, it waits a tenth of a second at the end for a child that has ended long ago.
    child.ptyproc.delayafterclose = 0
    try:
        yield child
    finally:
        child.close(force=True)


# These would change what a terminal shows.
_TERMINAL_OFF = "NO_COLOR COLUMNS LINES LESS"


class Terminal:
    """A terminal on which leftoff runs."""

    def __init__(self, child: Any) -> None:
        self.child = child

    def expect(self, text: str) -> str:
        """Wait for a text; return what came before it."""
        self.child.expect_exact(text)
        return str(self.child.before)

    def answer(self, line: str) -> None:
        """Type a line."""
        self.child.sendline(line)

    def leave(self, key: str) -> str:
        """Press Ctrl and a key until it ends; return what came before the end.

        Python does not notice a signal that comes between its prompt and its reading, so one
        press may not be enough, for people neither.
        """
        ended = False
        while not ended:
            self.child.sendcontrol(key)
            ended = self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=5) == 0
        return self._ended()

    def rest(self) -> str:
        """Wait for the end; return what came before it."""
        self.child.expect(pexpect.EOF)
        return self._ended()

    def _ended(self) -> str:
        self.child.wait()
        return str(self.child.before).replace("\r\n", "\n")

    @property
    def code(self) -> int | None:
        """The exit code, once it has ended."""
        status = self.child.exitstatus
        return None if status is None else int(status)


def environment(extra: Mapping[str, str] | None = None, unset: str = "") -> dict[str, str]:
    """Make the environment of a run: the test's own, and the code under test on the path."""
    kept = {name: value for name, value in os.environ.items() if name not in unset.split()}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(extra or {})}


def save_at(folder: Path, ages: Mapping[str | None, timedelta]) -> None:
    """Save checkpoints of these ages, the eldest first."""
    clock = Clock()
    store = Store(find_project(folder), now=clock)
    now = datetime.now(UTC)
    for name, age in sorted(ages.items(), key=lambda item: -item[1]):
        clock.now = now - age - timedelta(seconds=5)
        store.save(draft(name, f"Work on {name}", branch="main", agent="claude"))
    store.close()


def truth(folder: Path) -> dict[str, str]:
    """Tell what a store holds, without what is derived from it."""
    return {
        path: digest
        for path, digest in contents(folder).items()
        if not path.rpartition("/")[2].startswith("index.sqlite")
    }


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", write_through=True)


def _printed(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
