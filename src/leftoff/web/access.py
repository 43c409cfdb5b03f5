"""Decide who may use the page: one browser of this user, and no other web site in it.

Any web site that the user visits can send requests to a port of this machine, and a name that
points to 127.0.0.1 makes them look local. So every request must name this host and port, come from
the page itself, and carry a cookie that only the one-time link gives. Every change must also carry
a token that only the page contains.
"""

import hmac
import secrets
from collections.abc import Mapping

from starlette.requests import Request

_TOKEN_BYTES = 32
_OWN_SITES = frozenset({"same-origin", "none"})
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer`, browsers would send `Origin: null` with the forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Access:
    """The link, the cookies and the tokens of one run."""

    def __init__(self, port: int) -> None:
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        # Browsers share cookies between the ports of a host.
        self.cookie = f"leftoff-{port}"
        self.link_token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._is_link_used = False
        self._csrf: dict[str, str] = {}

    def refuse_origin(self, headers: Mapping[str, str], *, is_change: bool) -> str:
        """Say why a request may not come from where it comes; empty if it may."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            return "This address is not the one that leftoff serves."
        if origin is None and is_change:
            return "The request does not say which page it comes from."
        if origin is not None and origin != f"http://{host}":
            return "The request comes from another web site."
        if headers.get("sec-fetch-site", "none") not in _OWN_SITES and not _is_visit(headers):
            return "The request comes from another web site."
        return ""

    def take_link(self, token: str) -> str | None:
        """Exchange the token of the link for the value of a new cookie; it works once."""
        is_right = hmac.compare_digest(token.encode(), self.link_token.encode())
        if not is_right or self._is_link_used:
            return None
        self._is_link_used = True
        value = secrets.token_urlsafe(_TOKEN_BYTES)
        self._csrf[value] = secrets.token_urlsafe(_TOKEN_BYTES)
        return value

    def is_known(self, request: Request) -> bool:
        """Return whether a request carries the cookie that the link gave."""
        return request.cookies.get(self.cookie, "") in self._csrf

    def csrf_of(self, request: Request) -> str:
        """Return the token that the forms of this browser carry."""
        return self._csrf.get(request.cookies.get(self.cookie, ""), "")

    def is_own_form(self, request: Request, token: str) -> bool:
        """Return whether a form came from a page that this browser got."""
        own = self.csrf_of(request)
        return bool(own) and hmac.compare_digest(own.encode(), token.encode())


def _is_visit(headers: Mapping[str, str]) -> bool:
    """Return whether a request follows a link to the page, which changes and reveals nothing."""
    return (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
