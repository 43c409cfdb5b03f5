"""Speak the protocol with a real `leftoff mcp`, line by line."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 120.0


class RawClient:
    """A server process, and the lines to and from it."""

    def __init__(
        self,
        folder: Path,
        *,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = (sys.executable, "-m", "leftoff", "mcp"),
    ) -> None:
        self.process = subprocess.Popen(
            program,
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._rest = b""
        self._ids = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            # What could not be written is lost with the process.
            with contextlib.suppress(BrokenPipeError):
                assert pipe is not None
                pipe.close()
        self.process.wait(PATIENCE)

    # --- lines ---

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: object) -> None:
        """Write messages, one per line, all at once."""
        self.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def receive(self) -> Any:
        """Wait for the next line and decode it."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            assert ready, "the server is silent"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the server closed its output"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def finish(self) -> tuple[int, list[Any], str]:
        """Close the server's input; return its exit code, its last messages and its errors."""
        out, err = self.process.communicate(timeout=PATIENCE)
        rest, self._rest = self._rest + out, b""
        lines = [json.loads(line) for line in rest.splitlines()]
        return self.process.returncode, lines, err.decode()

    def end_by(self, number: signal.Signals) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    # --- requests ---

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its whole answer."""
        self._ids += 1
        self.send(request(self._ids, method, **params))
        answer = self.receive()
        assert answer["id"] == self._ids, answer
        return answer

    def introduce(self, name: str = "test", **capabilities: Any) -> Any:
        """Shake hands, and return what the server says about itself."""
        info = {"name": name, "version": "1"}
        version = "2025-11-25"
        answer = self.ask(
            "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=info
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool that must work; return its values."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        assert "isError" not in result, result
        return result["structuredContent"]

    def tell(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must work; return its text."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        assert "isError" not in result, result
        return str(result["content"][0]["text"])

    def fail(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must refuse; return what it says."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        assert result["isError"] is True
        return str(result["content"][0]["text"])


def request(id_: object, method: str, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def call_of(id_: object, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return a request that calls a tool."""
    return request(id_, "tools/call", name=tool, arguments=arguments)
