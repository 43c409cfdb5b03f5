"""Talk to one client: read its messages, answer its requests in order, and ask it for things."""

import os
import select
import sys
import time

from leftoff.mcp import json_rpc
from leftoff.mcp.json_rpc import Notification, Request, Response, RpcError

TYPE_CHECKING = False  # see leftoff/mcp/__init__.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST_BYTES = 4 * 1024 * 1024
"""The longest line that the server accepts. A save has a few kilobytes."""
_CHUNK = 64 * 1024
# What is kept of a longer line: the id of a request is at its beginning or at its end.
_EDGE = 256


class CutLine:
    """The beginning and the end of a line that is too long."""

    __slots__ = ("end", "start")

    def __init__(self, start: bytes, end: bytes) -> None:
        self.start = start
        self.end = end


class StopServing(BaseException):
    """The process was asked to end, and no request is being answered."""


class LineSplitter:
    """Splits what arrives on a descriptor into lines, and cuts lines that are too long."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._rest = bytearray()
        self._start = b""
        """The beginning of a line that is too long; `_rest` has its end."""
        self.is_open = True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for input; return whether there is some."""
        return self.is_open and bool(select.select([self._source], [], [], seconds)[0])

    def read(self) -> list[bytes | CutLine]:
        """Read what has arrived and return its lines.

        At the end of the input, the rest counts as a line.
        """
        try:
            data = os.read(self._source, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if data:
            return self._split(data)
        self.is_open = False
        rest, self._rest = bytes(self._rest), bytearray()
        return [rest] if rest.strip() else []

    def _split(self, data: bytes) -> list[bytes | CutLine]:
        lines: list[bytes | CutLine] = []
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._keep(part)
            line = bytes(self._rest)
            lines.append(CutLine(self._start, line) if self._start else line)
            self._rest.clear()
            self._start = b""
        self._keep(rest)
        return [line for line in lines if isinstance(line, CutLine) or line.strip()]

    def _keep(self, part: bytes) -> None:
        self._rest += part
        if len(self._rest) > MOST_BYTES:
            self._start = self._start or bytes(self._rest[:_EDGE])
        if self._start:
            del self._rest[:-_EDGE]


class Connection:
    """The messages to and from one client.

    Requests are answered one after the other: most take a few milliseconds, and two that write must
    not overlap. A request that is cancelled before its turn is not run. One that is cancelled while
    it runs finishes, because a half save is worth nothing, and its answer is dropped.
    """

    def __init__(
        self,
        source: int,
        sink: int,
        answer: "Callable[[Connection, Request], dict[str, Any]]",
        notice: "Callable[[Notification], None]",
    ) -> None:
        self._reader = LineSplitter(source)
        self._sink = sink
        self._answer = answer
        self._notice = notice
        self._waiting: list[tuple[list[Request], bool]] = []
        self._unanswered: set[str | int] = set()
        self._cancelled: set[str | int] = set()
        self._responses: dict[str | int | None, object] = {}
        self._asked = 0
        self._is_idle = False
        self._is_stopping = False

    def serve(self) -> None:
        """Answer requests until the client closes the connection, or somebody stops the server."""
        while not self._is_stopping:
            if self._waiting:
                self._answer_next()
            elif not self._reader.is_open or not self._wait_for_input():
                return

    def stop(self) -> None:
        """End after the request that is being answered; raise StopServing if there is none."""
        self._is_stopping = True
        if self._is_idle:
            raise StopServing

    def _wait_for_input(self) -> bool:
        # Before the check: a signal in between finds the server idle, and ends it.
        self._is_idle = True
        try:
            if self._is_stopping:
                return False
            self._reader.wait()
            self._receive()
        except StopServing:
            return False
        finally:
            self._is_idle = False
        return True

    # --- requests to the client ---

    def ask(self, method: str, *, seconds: float) -> object:
        """Send the client a request and return its result; None if it gives none in time."""
        self._asked += 1
        id_ = f"leftoff-{self._asked}"
        self._send({"jsonrpc": "2.0", "id": id_, "method": method})
        deadline = time.monotonic() + seconds
        while id_ not in self._responses:
            if not self._reader.wait(max(0.0, deadline - time.monotonic())):
                return None
            self._receive()
        return self._responses.pop(id_)

    # --- requests of the client ---

    def _answer_next(self) -> None:
        requests, is_batch = self._waiting.pop(0)
        answers = [each for each in map(self._answer_one, requests) if each is not None]
        # A cancellation may have arrived in the meantime.
        while self._reader.wait(0.0):
            self._receive()
        kept = [each for each in answers if each["id"] not in self._cancelled]
        for request in requests:
            self._unanswered.discard(request.id)
            self._cancelled.discard(request.id)
        if is_batch and kept:
            self._send(kept)
        for each in [] if is_batch else kept:
            self._send(each)

    def _answer_one(self, request: Request) -> "dict[str, Any] | None":
        if request.id in self._cancelled:
            return None
        try:
            return json_rpc.build_result(request.id, self._answer(self, request))
        except RpcError as error:
            return json_rpc.build_error(request.id, error)
        except Exception as error:  # noqa: BLE001 - a bug must not end the server
            # Prints the traceback; agents keep what their servers print.
            sys.excepthook(type(error), error, error.__traceback__)
            problem = RpcError(json_rpc.INTERNAL_ERROR, f"This is a bug in leftoff ({error!r}).")
            return json_rpc.build_error(request.id, problem)

    def _receive(self) -> None:
        """Read what has arrived; queue the requests and process everything else at once."""
        for line in self._reader.read():
            if isinstance(line, CutLine):
                problem = f"The message is longer than {MOST_BYTES} bytes. Send less text."
                error = RpcError(json_rpc.INVALID_REQUEST, problem)
                # Without its id, the client would wait for the answer for ever.
                id_ = json_rpc.find_cut_id(line.start, line.end)
                self._send(json_rpc.build_error(id_, error))
                continue
            try:
                self._accept(json_rpc.decode(line))
            except RpcError as error:
                self._send(json_rpc.build_error(None, error))

    def _accept(self, value: object) -> None:
        # Version 2025-03-26 has batches, the others do not; a client that sends one gets one back.
        if isinstance(value, list) and not value:
            raise RpcError(json_rpc.INVALID_REQUEST, "The batch is empty.")
        is_batch = isinstance(value, list)
        requests = []
        for each in value if isinstance(value, list) else [value]:
            try:
                message = json_rpc.parse(each)
            except RpcError as error:
                self._send(json_rpc.build_error(json_rpc.find_id(each), error))
                continue
            if isinstance(message, Request):
                requests.append(message)
                self._unanswered.add(message.id)
            else:
                self._process(message)
        if requests:
            self._waiting.append((requests, is_batch))

    def _process(self, message: Notification | Response) -> None:
        if isinstance(message, Response):
            self._responses[message.id] = message.result
        elif message.method == "notifications/cancelled":
            id_ = message.params.get("requestId")
            if isinstance(id_, str | int) and id_ in self._unanswered:
                self._cancelled.add(id_)
        else:
            self._notice(message)

    def _send(self, message: object) -> None:
        data = memoryview(json_rpc.encode(message))
        while data:
            try:
                data = data[os.write(self._sink, data) :]
            except BlockingIOError:
                select.select([], [self._sink], [])
