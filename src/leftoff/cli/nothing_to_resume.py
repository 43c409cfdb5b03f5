"""Say in `leftoff resume` that nothing is open, and what could be resumed instead."""

from collections.abc import Sequence

from leftoff.checkpoint import to_plain
from leftoff.cli import unsaved_view
from leftoff.cli.app import App
from leftoff.cli.everywhere_view import point_elsewhere
from leftoff.cli.list import format_nothing_open, show_running, warn_of_other_stores
from leftoff.knowledge.features import Loop
from leftoff.text.fence import Rendered, quote_key
from leftoff.text.plural import format_count
from leftoff.threads import check_claims


def show_nothing(app: App, interrupted: Sequence[Loop], described: Rendered) -> None:
    """Say that nothing is open, with the interrupted work and the sessions that are not saved."""
    warn_of_other_stores(app, is_empty=True)
    unsaved = app.workspace.find_unsaved()
    result = {
        "checkpoint": None,
        "briefing": "",
        "checks": None,
        "question": None,
        "prompts": [],
        "interrupted": [to_plain(loop) for loop in interrupted],
        "unsaved": unsaved_view.describe_unsaved(app, unsaved),
    }
    empty = format_nothing_open(app, "No saved checkpoints found.")
    app.out.result(result, [empty, *(["", described] if described else [])])
    if app.out.as_json:
        return
    lines = unsaved_view.format_unsaved(app, unsaved)
    # guardz prints its sentence and stops, so the rest is a warning beside it.
    if app.settings.offers != "saved":
        app.out.text(lines)
        show_running(app)
        app.out.text(point_elsewhere(app))
        return
    if automatic := check_claims.list_candidates(app.store):
        key = quote_key(automatic[0].name, automatic[0].id)
        count = format_count(len(automatic), "piece")
        lines = [f"{count} of work saved automatically; to see the newest: leftoff resume {key}"]
    if lines:
        app.out.warn("\n".join(lines))
