"""A model on loopback that answers what a test scripts, and keeps every request."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from e2e import wire
from e2e.turns import DEFAULTS, Kind, Turn
from e2e.waiting import until
from e2e.wire import Request


class Model:
    """A stand-in for a model's API; a request takes the first turn left that fits it."""

    def __init__(self, handler: "type[ModelHandler] | None" = None) -> None:
        self._turns: list[Turn] = []
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._released = threading.Event()
        self.watch: Callable[[Request], None] = lambda _: None
        """Called with each request before it is answered: how the world looks at that moment."""
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(handler or MessagesHandler, self)
        )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where the program under test finds the model."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    # --- script ---

    def will(self, *turns: Turn) -> None:
        """Give the model its next turns; those it has not used are forgotten."""
        with self._lock:
            self._turns = list(turns)

    def release(self) -> None:
        """Let all turns that stall go on, and every later one."""
        self._released.set()

    @property
    def turns_left(self) -> int:
        """How many turns no request has taken."""
        with self._lock:
            return len(self._turns)

    def take(self, request: Request) -> Turn:
        """Keep the request; return the turn that answers it."""
        self.watch(request)
        with self._lock:
            self._requests.append(request)
            for turn in self._turns:
                if _fits(turn, request):
                    if not turn.lasts:
                        self._turns.remove(turn)
                    return turn
        return DEFAULTS[request.kind]

    def stall(self) -> None:
        """Wait until the test lets go."""
        self._released.wait()

    # --- what it saw ---

    def requests(self, kind: Kind = "main") -> list[Request]:
        """Return the requests of one kind, oldest first."""
        with self._lock:
            return [request for request in self._requests if request.kind == kind]

    def seen_text(self, index: int = -1, kind: Kind = "main") -> str:
        """Return everything that one request showed the model."""
        return self.requests(kind)[index].text

    def wait_for(self, words: str, kind: Kind = "main") -> Request:
        """Wait for a request whose new messages hold these words."""

        def found() -> Request | None:
            return next((one for one in self.requests(kind) if words in one.news), None)

        request = until(found, f"a {kind} request with {words!r}")
        assert request is not None
        return request


def _fits(turn: Turn, request: Request) -> bool:
    if turn.kind != request.kind or turn.when not in request.news:
        return False
    return turn.at is None or turn.at == request.folder


class ModelHandler(BaseHTTPRequestHandler):
    """Answers the requests of an agent with the turns of a model."""

    protocol_version = "HTTP/1.1"

    def __init__(self, model: Model, *arguments: Any) -> None:
        self.model = model
        super().__init__(*arguments)

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        """Answer one request."""
        raise NotImplementedError

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parent's name
        """Say nothing: the test looks at the requests."""

    def do_HEAD(self) -> None:
        self.send(200, {})

    def do_GET(self) -> None:
        self.send(200, {"data": [], "models": [], "has_more": False})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        # A client that was killed no longer listens.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.answer(self.path.partition("?")[0], body, headers)
            return
        self.close_connection = True

    def stream(self, *, stall: bool, opening: Iterable[bytes], closing: Iterable[bytes]) -> None:
        """Send events; between the opening and the closing ones, wait if the turn stalls."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._chunks(opening)
        if stall:
            self.model.stall()
        self._chunks(closing)
        self.wfile.write(b"0\r\n\r\n")

    def _chunks(self, events: Iterable[bytes]) -> None:
        for event in events:
            self.wfile.write(b"%X\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()

    def refuse(self, turn: Turn, problem: dict[str, Any]) -> None:
        """Send the error of a turn; this one if the turn does not name any."""
        self.send(turn.status, turn.problem or problem, turn.headers)

    def send(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Send one JSON document."""
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, header in (headers or {}).items():
            self.send_header(name, header)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class MessagesHandler(ModelHandler):
    """The Messages API, for Claude Code."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        """Answer one request."""
        if path == "/v1/messages":
            self._answer(body, headers)
        elif path == "/v1/messages/count_tokens":
            self.send(200, {"input_tokens": 1000})
        else:
            self.send(200, {})

    def _answer(self, body: dict[str, Any], headers: dict[str, str]) -> None:
        session_id = headers.get("x-claude-code-session-id", "")
        kind = wire.kind_of(body, headers)
        turn = self.model.take(Request(kind=kind, session_id=session_id, body=body))
        if turn.status != 200:
            problem = {"type": "invalid_request_error", "message": "scripted error"}
            self.refuse(turn, {"type": "error", "error": problem})
            return
        message = wire.answer(turn, body.get("model", "fake-model"))
        if body.get("stream"):
            opening, closing = wire.opening(message), wire.closing(message)
            self.stream(stall=turn.stall, opening=opening, closing=closing)
        else:
            self.send(200, message)
