"""Serve the page on this machine until Ctrl-C, or until nobody has used it for a while."""

import socket
import time
from collections.abc import Callable

import msgspec
import uvicorn

from leftoff.errors import LeftoffError
from leftoff.web.access import Access
from leftoff.web.guard_requests import OPENING
from leftoff.web.site import Site
from leftoff.web.web_app import build_app

_LOOPBACK = "127.0.0.1"
_IDLE_SECONDS = 30 * 60


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """Where the page is; the link works once."""

    address: str
    link: str


class _IdleServer(uvicorn.Server):
    """A server that ends when its page is not used."""

    def __init__(self, settings: uvicorn.Config, site: Site, idle_seconds: float) -> None:
        super().__init__(settings)
        self.is_idle = False
        self._site = site
        self._idle_seconds = idle_seconds
        site.is_stopping = lambda: self.should_exit

    async def on_tick(self, counter: int) -> bool:
        """Look ten times a second whether it is time to end."""
        self.is_idle = time.monotonic() - self._site.used_at > self._idle_seconds
        return self.is_idle or await super().on_tick(counter)


def serve(
    site: Site,
    *,
    port: int = 0,
    announce: Callable[[Serving], None],
    idle_seconds: float = _IDLE_SECONDS,
) -> bool:
    """Serve until it is interrupted or idle; return whether it was idle.

    Port 0 takes any free one. `announce` is called as soon as the page can be opened.
    """
    with _listen(port) as listener:
        found = listener.getsockname()[1]
        access = Access(found)
        settings = uvicorn.Config(
            build_app(site, access),
            http="h11",
            ws="none",
            lifespan="off",
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        server = _IdleServer(settings, site, idle_seconds)
        address = f"http://{_LOOPBACK}:{found}"
        announce(Serving(address=address, link=f"{address}{OPENING}?token={access.link_token}"))
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            # uvicorn raises it again after it has closed the connections.
            return False
        return server.is_idle


def _listen(port: int) -> socket.socket:
    """Open a port on the loopback interface, which no other machine reaches."""
    # With the protocol named, asyncio sends small answers at once; otherwise each waits for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOOPBACK, port))
        # The link is announced before the server runs; a browser that follows it at once waits.
        listener.listen()
    except OSError as error:
        listener.close()
        raise LeftoffError(
            f"Cannot serve on port {port}: {error.strerror}.",
            hint="Pass another one with --port, or none to let the system choose.",
        ) from error
    return listener
