"""Measure the MCP server beside one that only echoes, relative to a bare start of Python.

Agents start the server with every session, and some leave out the tools of a server that answers
late. So the first answer counts most.
"""

import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import stage, venv
from bench.harness import (
    CACHE,
    Case,
    Figure,
    Program,
    Sample,
    compare,
    interleave,
    peak_megabytes,
    run,
)
from bench.stage import Stage

ROUNDS = 40
_BUSY_ROUNDS = 15
_PYTHON = "python -c pass"
# What a server needs at least: read a line, decode it, answer.
_ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
        sys.stdout.write(json.dumps(answer) + "\\n")
        sys.stdout.flush()
"""
_BUSY = "while True: pass"
_HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("save", {"name": "csv-export", "summary": "Export orders", "next_action": "Write app.py"}),
    ("resume", {"accept": True}),
    ("list", {}),
    ("show", {}),
    ("search", {"words": "orders"}),
    ("remember", {"kind": "rule", "text": "No abbreviations"}),
    ("recall", {"words": "abbrev"}),
    ("status", {}),
)


class _Server:
    """A running server, and the time it takes to answer."""

    def __init__(self, program: Program) -> None:
        self._process = subprocess.Popen(
            program.arguments,
            cwd=program.folder,
            env=dict(program.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, method: str, **params: object) -> None:
        """Send a request and wait for its answer."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "result" in answer, answer
        assert not answer["result"].get("isError"), answer

    def close(self) -> float:
        """End the server and return the CPU time it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        _, status, use = os.wait4(self._process.pid, 0)
        self._process.stdout.close()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        assert self._process.returncode == 0
        return use.ru_utime + use.ru_stime


def figures() -> list[Figure]:
    """Measure the start, the calls and the memory."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="mcp-") as folder:
        here = Stage(home=Path(folder), project=stage.new_project(Path(folder) / "shop"))
        return [*_measure_starts(here), *_measure_calls(here), _measure_memory(here)]


def _program(here: Stage, *arguments: str) -> Program:
    return here.program(*arguments, given=Path(os.devnull))


def _ours(here: Stage) -> Program:
    return _program(here, str(venv.leftoff()), "mcp")


def _echo(here: Stage) -> Program:
    return _program(here, str(venv.python()), "-c", _ECHO)


def _measure_starts(here: Stage) -> list[Figure]:
    cases: dict[str, Case] = {
        _PYTHON: lambda: run(_program(here, str(venv.python()), "-c", "pass")),
        "first answer": _start(_ours(here), ()),
        "handshake": _start(_ours(here), ("tools/list", "prompts/list", "resources/list")),
        "first call": _start(_ours(here), ("tools/call",)),
        "echo": _start(_echo(here), ()),
    }
    samples = interleave(cases, ROUNDS)
    with _busy():
        loaded = interleave({name: cases[name] for name in (_PYTHON, "first answer")}, _BUSY_ROUNDS)
    start = f"/ {_PYTHON}"
    return [
        compare(f"first answer {start}", samples, ("first answer", _PYTHON), 4.0),
        compare("  with four busy loops beside it", loaded, ("first answer", _PYTHON), 4.0),
        compare("  / first answer of an echo server", samples, ("first answer", "echo"), 2.0),
        compare(f"handshake with all lists {start}", samples, ("handshake", _PYTHON), 4.0),
        compare(f"start and first call {start}", samples, ("first call", _PYTHON), 14.0),
    ]


def _start(program: Program, methods: tuple[str, ...]) -> Case:
    """Measure from the start of a server to the last of its first answers."""

    def measure() -> Sample:
        began = time.perf_counter()
        server = _Server(program)
        server.ask("initialize", **_HELLO)
        for method in methods:
            server.ask(method, name="list", arguments={})
        wall = time.perf_counter() - began
        return Sample(wall, server.close())

    return measure


@contextlib.contextmanager
def _busy() -> Iterator[None]:
    loops = [subprocess.Popen([venv.python(), "-c", _BUSY]) for _ in range(4)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


def _measure_calls(here: Stage) -> list[Figure]:
    """Measure calls of a server that has run each tool before."""
    server, echo = _Server(_ours(here)), _Server(_echo(here))
    for name, arguments in _CALLS:
        server.ask("tools/call", name=name, arguments=arguments)

    def measure(which: _Server, name: str) -> Callable[[], Sample]:
        def call() -> Sample:
            began = time.perf_counter()
            which.ask("tools/call", name=name, arguments={})
            wall = time.perf_counter() - began
            return Sample(wall, wall)

        return call

    cases: dict[str, Case] = {
        _PYTHON: lambda: run(_program(here, str(venv.python()), "-c", "pass")),
        "list": measure(server, "list"),
        "resume": measure(server, "resume"),
        "echo": measure(echo, "list"),
    }
    samples = interleave(cases, ROUNDS)
    server.close()
    echo.close()
    os.chdir(CACHE)
    return [
        compare(f"a call of `list` / {_PYTHON}", samples, ("list", _PYTHON), 1.0),
        compare(f"a call of `resume` / {_PYTHON}", samples, ("resume", _PYTHON), 3.0),
        compare(f"a call of an echo server / {_PYTHON}", samples, ("echo", _PYTHON)),
    ]


def _measure_memory(here: Stage) -> Figure:
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO}]
    calls = [("save", {**_CALLS[0][1], "overwrite": True}), *_CALLS[1:]]
    for name, arguments in calls:
        params = {"name": name, "arguments": arguments}
        lines.append({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    given = here.home / "all-tools.jsonl"
    given.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    program = here.program(str(venv.leftoff()), "mcp", given=given)
    value = peak_megabytes(program, venv.python())
    return Figure(what="peak memory after every tool", value=value, unit="MB", limit=30.0)
