"""The `leftoff status` command: show where you are and what is open."""

from typing import Any

import click
import msgspec

from leftoff.checkpoint import ContextUse
from leftoff.cli import sessions_command
from leftoff.cli.app import App, command, one_line
from leftoff.cli.list import age_of, describe_entry, format_name, warn_of_other_stores
from leftoff.errors import LeftoffError, UsageError
from leftoff.git import query
from leftoff.store import LISTED
from leftoff.store.layout import is_off
from leftoff.text.plural import format_count
from leftoff.wiring import inspect_settings
from leftoff.wiring.findings import World
from leftoff.wiring.install import find_places

_SHOWN = 5


@command()
@click.option("--plan", "with_plan", is_flag=True, help="Show the plan, its stage and helpers.")
@click.option("--next", "with_next", is_flag=True, help="Recommend what to do next.")
def status(app: App, *, with_plan: bool, with_next: bool) -> None:
    """Show where you are and what is open."""
    if with_plan and with_next:
        raise UsageError("Pass --plan or --next, not both.")
    if with_plan:
        from leftoff.cli import plan_view  # noqa: PLC0415 - 21 ms, and few calls need it

        plan_view.show_plan(app)
    elif with_next:
        from leftoff.cli import next_view  # noqa: PLC0415 - 23 ms, same

        next_view.show_next(app)
    else:
        _show(app)


def _show(app: App) -> None:
    index = app.store.index()
    entries = index.heads([*LISTED], _SHOWN)
    count, declined = index.count_heads([*LISTED]), index.count_heads(["declined"])
    place, now, context = _place(app), app.store.now(), _context(app)
    unsaved = [] if count else sessions_command.find_unsaved(app)
    warn_of_other_stores(app, is_empty=not count)
    if app.out.as_json:
        listed = [describe_entry(entry, now) for entry in entries]
        used = msgspec.to_builtins(context) if context else None
        found = sessions_command.describe_unsaved(app, unsaved)
        told = {
            "count": count - declined,
            "declined": declined,
            "checkpoints": listed,
            "unsaved": found,
        }
        app.out.json({**place, "hooks": _hooks(app) or "on", "context": used, **told})
        return
    app.out.text(_lines(place, context))
    if hooks := _hooks(app):
        app.out.text(f"{'hooks':9}{hooks}")
    app.out.text(f"{'open':9}{_format_open(count - declined, declined)}")
    if unsaved:
        app.out.gap()
        app.out.text(sessions_command.format_unsaved(app, unsaved))
    if entries:
        app.out.gap()
        app.out.table(
            {
                "name": [format_name(entry) for entry in entries],
                "age": [age_of(entry, now) for entry in entries],
                "state": [entry.state for entry in entries],
                "next action": [one_line(entry.next_action) for entry in entries],
            }
        )


def _format_open(count: int, declined: int) -> str:
    if declined:
        return f"{count or 'nothing'}; {declined} declined"
    return str(count or "nothing; run `leftoff save` to create a checkpoint")


def _hooks(app: App) -> str:
    """Say why sessions are not saved automatically here; empty if they are."""
    if is_off(app.project):
        return "off for this project; run `leftoff on` to turn them on"
    world = World(places=find_places(app.environment), project=app.project)
    wiring = inspect_settings.read_wiring(world)
    if wiring.is_disabled_in is not None:
        return f"disabled by disableAllHooks in {wiring.is_disabled_in}"
    if wiring.commands or wiring.has_plugin:
        return ""
    return "not installed; run `leftoff init` to save sessions automatically"


def _place(app: App) -> dict[str, Any]:
    project = app.project
    state = query.read_state(project.worktree) if project.is_git else None
    is_linked = project.worktree != project.root
    return {
        "project": str(project.root),
        "worktree": str(project.worktree) if is_linked else None,
        "branch": state.branch if state else None,
        "head": state.head if state else None,
        "changed": len(state.dirty) if state else None,
        "changed_is_more": state.is_truncated if state else None,
        "store": str(project.store),
    }


def _context(app: App) -> ContextUse | None:
    """Return the context use at the newest save that recorded it."""
    for entry in app.store.index().heads([*LISTED], 1):
        try:
            return app.store.load(entry).context
        except (LeftoffError, OSError):
            # `leftoff list` reports unreadable files.
            return None
    return None


def _lines(place: dict[str, Any], context: ContextUse | None) -> list[str]:
    shown = {**place}
    if place["head"]:
        shown["branch"] = place["branch"] or f"detached at {place['head'][:8]}"
    shown.pop("head")
    if place["changed"] is not None:
        is_more = bool(place["changed_is_more"])
        shown["changed"] = format_count(place["changed"], "file", is_more=is_more)
    shown.pop("changed_is_more")
    if context is not None and context.percent is not None:
        shown["context"] = f"{context.percent:.0f} % at the last save"
    return [f"{key:9}{value}" for key, value in shown.items() if value is not None]
