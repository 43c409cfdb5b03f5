"""Put the pages, the changes and the files together as one application."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from leftoff.errors import LeftoffError
from leftoff.web import (
    attention_part,
    changes_part,
    doctor_page,
    features_page,
    memory_page,
    overview_page,
    prompts_page,
    search_page,
    settings_page,
    thread_page,
)
from leftoff.web.access import HEADERS, Access
from leftoff.web.act import ActRoute
from leftoff.web.guard_requests import OPENING, RequestGuard
from leftoff.web.live_updates import LiveUpdates
from leftoff.web.notices import NoticeBoard
from leftoff.web.render import ASSETS, Renderer, read_asset, render
from leftoff.web.site import Site

Show = Callable[[Request, Site], dict[str, Any]]
PAGES: dict[str, tuple[str, Show]] = {
    "/": ("overview.html", overview_page.show),
    "/attention": ("attention.html", attention_part.show),
    "/changes": ("changes.html", changes_part.show),
    "/thread": ("thread.html", thread_page.show),
    "/search": ("search.html", search_page.show),
    "/memory": ("memory.html", memory_page.show),
    "/prompts": ("prompts.html", prompts_page.show),
    "/features": ("features.html", features_page.show),
    "/doctor": ("doctor.html", doctor_page.show),
    "/findings": ("findings.html", doctor_page.show_findings),
    "/settings": ("settings.html", settings_page.show),
}
_YEAR = "private, max-age=31536000, immutable"


def build_app(site: Site, access: Access) -> Starlette:
    """Return the application that answers every request of the page."""
    notices = NoticeBoard()
    renderer = Renderer(site, access, notices)
    routes = [
        Route(path, _make_page(site, renderer, template, show), methods=["GET"])
        for path, (template, show) in PAGES.items()
    ]
    routes += [
        Route(OPENING, _make_opening(access), methods=["GET"]),
        Route("/act/{verb}", ActRoute(site, access, notices).answer, methods=["POST"]),
        Route("/events", LiveUpdates(site).answer, methods=["GET"]),
        Route("/assets/{name}", _send_asset, methods=["GET"]),
    ]
    guard = Middleware(RequestGuard, access=access, site=site, refuse=_refuse)
    return Starlette(routes=routes, middleware=[guard], exception_handlers=_PROBLEMS)


def _make_page(
    site: Site, renderer: Renderer, template: str, show: Show
) -> Callable[[Request], Response]:
    # Not a coroutine: the store is read in a thread, so that one slow page holds up no other.
    def answer(request: Request) -> Response:
        try:
            values = show(request, site)
        except (LeftoffError, OSError) as error:
            problem = {"title": str(error), "text": getattr(error, "hint", "")}
            return renderer.page(request, "problem.html", problem, status=404)
        return renderer.page(request, template, values)

    return answer


def _make_opening(access: Access) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        # Some browsers fetch an address while it is typed, which must not use up the link.
        is_early = "prefetch" in request.headers.get("sec-purpose", "")
        token = request.query_params.get("token", "")
        value = None if is_early or request.method != "GET" else access.take_link(token)
        if value is None:
            return _refuse(
                "This link was already used, or it is incomplete.",
                "Run `leftoff ui` again for a new one.",
            )
        # Not a redirect: after a link on another web site, browsers would not send the cookie.
        response = HTMLResponse(render({}, "opening.html"))
        response.set_cookie(access.cookie, value, httponly=True, samesite="strict", path="/")
        return response

    return answer


def _refuse(title: str, text: str) -> Response:
    problem = {"title": title, "text": text, "has_way_back": False}
    return HTMLResponse(render(problem, "refused.html"), status_code=403)


async def _say_not_found(_request: Request, _error: Exception) -> Response:
    title, text = "This page does not exist.", "Check the address, or go back."
    problem = {"title": title, "text": text, "has_way_back": True}
    return HTMLResponse(render(problem, "refused.html"), status_code=404)


async def _say_bug(_request: Request, _error: Exception) -> Response:
    title, text = "This is a bug in leftoff.", "Go back, and use the command line."
    problem = {"title": title, "text": text, "has_way_back": True}
    # Starlette answers this outside the guard, which adds the headers to all other answers.
    return HTMLResponse(render(problem, "refused.html"), status_code=500, headers=HEADERS)


_PROBLEMS = {404: _say_not_found, 500: _say_bug}


async def _send_asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return await _say_not_found(request, KeyError(name))
    kind = ASSETS[name]
    return Response(read_asset(name), media_type=kind, headers={"Cache-Control": _YEAR})
