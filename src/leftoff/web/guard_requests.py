"""Refuse every request that is not the user's, and send the headers that protect the page."""

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leftoff.web.access import HEADERS, Access
from leftoff.web.site import Site

_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
OPENING = "/open"

RefusedPage = Callable[[str, str], Response]


class RequestGuard:
    """Check the host, the origin and the cookie before a page sees the request."""

    def __init__(self, app: ASGIApp, access: Access, site: Site, refuse: RefusedPage) -> None:
        self._app = app
        self._access = access
        self._site = site
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._find_refusal(Request(scope))
        answer = self._app if refusal is None else refusal
        await answer(scope, receive, send_with_headers)

    def _find_refusal(self, request: Request) -> Response | None:
        is_change = request.method in _CHANGES
        why = self._access.refuse_origin(request.headers, is_change=is_change)
        if why:
            return self._refuse(why, "Open the address that `leftoff ui` printed.")
        # The link comes before the cookie. The style sheet is in the package, and no secret.
        if request.url.path == OPENING or request.url.path.startswith("/assets/"):
            return None
        if not self._access.is_known(request):
            return self._refuse(
                "This browser has not opened the page yet.",
                "Open the link that `leftoff ui` printed. It works once; run `leftoff ui` again "
                "for a new one.",
            )
        if is_change and self._site.is_read_only:
            return self._refuse(
                "This page is read-only.", "Run `leftoff ui` without --read-only to change things."
            )
        self._site.touch()
        return None
