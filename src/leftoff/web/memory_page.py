"""The memory: what waits for a review, and what later sessions are given."""

from typing import Any

from starlette.requests import Request

from leftoff.knowledge import memory
from leftoff.web.site import Site

_SHOWN = 200
TITLES = {
    "decision": "Decisions",
    "failure": "Failed approaches",
    "rule": "Rules",
    "success": "What worked",
    "pattern": "Patterns",
    "entity": "Entities",
    "structure": "Structure",
}


def show(request: Request, site: Site) -> dict[str, Any]:
    """List the entries to review, then the active ones of a kind, or all that match some words."""
    given = request.query_params
    home = site.find_project(given.get("project"))
    kind = next((each for each in memory.KINDS if each == given.get("kind")), None)
    statuses = memory.STATUSES if given.get("all") == "1" else ("active",)
    words = given.get("q", "").strip()
    with site.open(home) as work:
        kinds = [kind] if kind is not None else None
        queued = memory.entries(work.store, statuses=("queued",), limit=_SHOWN)
        if words:
            entries = memory.search(work.store, words, kinds=kinds, statuses=statuses, limit=_SHOWN)
        else:
            entries = memory.entries(work.store, kinds=kinds, statuses=statuses, limit=_SHOWN)
    return {
        "home": home,
        "queued": queued,
        "entries": [each for each in entries if each.status != "queued"],
        "kind": kind,
        "has_more": len(entries) == _SHOWN,
        "titles": TITLES,
        "words": words,
        "with_all": len(statuses) > 1,
        "projects": site.list_projects(),
    }
