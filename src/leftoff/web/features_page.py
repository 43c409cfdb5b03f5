"""The page with the features board: what is planned, in progress, done and blocked."""

from typing import Any

from starlette.requests import Request

from leftoff.knowledge import features
from leftoff.knowledge.features import Board, Feature, Fix
from leftoff.web.site import Site

COLUMNS = {
    "Planned": {"pending", "needs_tests"},
    "In progress": {"in_progress", "failing"},
    "Needs you": {"blocked", "escalated"},
    "Done": {"passing"},
}
_SHOWN = 100


def show(request: Request, site: Site) -> dict[str, Any]:
    """Sort the features and fixes into columns; archived ones are counted."""
    home = site.find_project(request.query_params.get("project"))
    with site.open(home) as work:
        board = features.load(work.store)
        loops = {
            each.feature: each for each in features.load_loops(work.store).values() if each.feature
        }
    return {
        "home": home,
        "columns": sort_into_columns(board),
        "loops": loops,
        "archived": len(board.archive),
        "total": len(board.items),
        "projects": site.list_projects(),
    }


def sort_into_columns(board: Board) -> dict[str, list[Feature | Fix]]:
    """Return the items of each column; older files mark what is done in another way."""
    shown = [each for each in board.items if not each.is_archived]
    return {
        title: [
            each for each in shown if ("passing" if each.is_complete else each.status) in statuses
        ][:_SHOWN]
        for title, statuses in COLUMNS.items()
    }
