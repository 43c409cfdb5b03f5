"""leftoff log."""

import click
import msgspec

from leftoff import times
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.cli.list import described, one_line
from leftoff.store import Entry, Event


@command()
@checkpoint_argument(required=False)
@click.option("--limit", default=50, show_default=True, help="How many events at the most.")
def log(app: App, name: str | None, limit: int) -> None:
    """Show what happened: all revisions of a checkpoint and their events, or the newest events."""
    index = app.store.index()
    if name is None:
        events, revisions = index.newest_events(limit), []
    else:
        revisions = index.revisions(app.store.find(name).slot)
        found = {event.id: event for entry in revisions for event in index.events_of(entry.id)}
        events = sorted(found.values(), key=lambda event: event.at, reverse=True)[:limit]
    now = app.store.now()
    app.out.result(
        {
            "revisions": [described(entry, now) for entry in revisions],
            "events": [msgspec.to_builtins(event) for event in events],
        },
        "\n".join([*map(_revision, revisions), *map(_line, events)]) or "Nothing has happened yet.",
    )


def _revision(entry: Entry) -> str:
    head = "*" if entry.is_head else " "
    return (
        f"{head} {entry.id}  {times.local(entry.saved_at)}  {entry.state}  {one_line(entry.task)}"
    )


def _line(event: Event) -> str:
    what = event.name or " ".join(event.ids[:3]) or f"of {event.of}"
    more = f" (+{len(event.ids) - 3})" if len(event.ids) > 3 and not event.name else ""
    return f"  {times.local(event.at)}  {event.action:9} {what}{more}"
