"""The prompts that no session answered, and what happened to the others."""

from typing import Any

from starlette.requests import Request

from leftoff.session import prompt_queue
from leftoff.web.site import Site

_SHOWN = 50


def show(request: Request, site: Site) -> dict[str, Any]:
    """List the waiting prompts, oldest first, and the newest of the others."""
    home = site.find_project(request.query_params.get("project"))
    with site.open(home) as work:
        every = prompt_queue.history(work.store)
    waiting = [each for each in every if each.is_waiting]
    others = [each for each in every if not each.is_waiting and each.fate != "pending"]
    return {
        "home": home,
        "waiting": waiting,
        "others": others[: -_SHOWN - 1 : -1],
        "projects": site.list_projects(),
    }
