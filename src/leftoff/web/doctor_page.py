"""The page of `leftoff doctor`: every check of the hooks, with a real event sent through them."""

from typing import Any

from starlette.requests import Request

from leftoff.web.site import Site
from leftoff.wiring import checkup
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import find_places

_ORDER = {"broken": 0, "warning": 1, "ok": 2}


def show(_request: Request, site: Site) -> dict[str, Any]:
    """Show the page at once; the checks take seconds, so a script fetches them afterwards."""
    return {"projects": site.list_projects()}


def show_findings(request: Request, site: Site) -> dict[str, Any]:
    """Run all checks, and list the problems first."""
    home = site.find_project(request.query_params.get("project"))
    world = World(places=find_places(site.environment), project=home.project)
    findings = sorted(checkup.examine(world), key=lambda each: _ORDER[each.level])
    counts = {level: sum(each.level == level for each in findings) for level in _ORDER}
    return {"findings": findings, "counts": counts}
