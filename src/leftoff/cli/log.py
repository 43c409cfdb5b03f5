"""leftoff log."""

from collections.abc import Sequence

import click
import msgspec

from leftoff import times
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.cli.layout import one_line
from leftoff.cli.list import described, state_of
from leftoff.store import Entry, Event


@command()
@checkpoint_argument(required=False)
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="How many events at the most.",
)
def log(app: App, name: str | None, limit: int) -> None:
    """Show what happened: all revisions of a checkpoint and their events, or the newest events."""
    index = app.store.index()
    if name is None:
        events, revisions = index.newest_events(limit), []
    else:
        revisions = index.revisions(app.find(name).slot)
        found = {event.id: event for entry in revisions for event in index.events_of(entry.id)}
        events = sorted(found.values(), key=lambda event: event.at, reverse=True)[:limit]
    now = app.store.now()
    if app.out.as_json:
        told = [msgspec.to_builtins(event) for event in events]
        app.out.json({"revisions": [described(each, now) for each in revisions], "events": told})
        return
    if revisions:
        app.out.table(_revisions(revisions))
        app.out.text("\n".join(["", *map(_line, events)]) if events else "")
    else:
        app.out.text("\n".join(map(_line, events)) or "Nothing has happened yet.")


def _revisions(entries: Sequence[Entry]) -> dict[str, list[str]]:
    return {
        "revision": [f"{'*' if entry.is_head else ' '} {entry.id}" for entry in entries],
        "saved": [times.local(entry.saved_at) for entry in entries],
        "state": [state_of(entry) for entry in entries],
        "summary": [one_line(entry.task) for entry in entries],
    }


def _line(event: Event) -> str:
    what = event.name or " ".join(event.ids[:3]) or f"of {event.of}"
    more = f" (+{len(event.ids) - 3})" if len(event.ids) > 3 and not event.name else ""
    return f"{times.local(event.at)}  {event.action:9}  {what}{more}"
