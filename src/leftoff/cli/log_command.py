"""The `leftoff log` command: show revisions and events, newest first."""

from collections.abc import Iterator, Sequence

import click
import msgspec

from leftoff.checkpoint import MANUAL
from leftoff.cli.app import App, checkpoint_argument, command, key_of, one_line
from leftoff.cli.list import describe_entry, format_state
from leftoff.store import CheckpointEntry, StoreEvent
from leftoff.text import times

_NAMED = 3


@command()
@checkpoint_argument(required=False)
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of events to show.",
)
def log(app: App, name: str | None, limit: int) -> None:
    """Show revisions and events, newest first.

    With a name: all revisions of that checkpoint and what happened to them.
    """
    index = app.store.index()
    if name is None:
        events, revisions = index.newest_events(limit), []
    else:
        revisions = index.revisions(app.workspace.find(name).slot)
        found = {event.id: event for entry in revisions for event in index.events_of(entry.id)}
        events = sorted(found.values(), key=lambda event: event.at, reverse=True)[:limit]
    now = app.store.now()
    if app.out.as_json:
        told = [msgspec.to_builtins(event) for event in events]
        app.out.json(
            {"revisions": [describe_entry(each, now) for each in revisions], "events": told}
        )
        return
    if revisions:
        app.out.table(_revisions(revisions))
        app.out.gap()
    app.out.text([*_lines(app, events)] or "Nothing has happened yet.")


def _revisions(entries: Sequence[CheckpointEntry]) -> dict[str, list[str]]:
    return {
        "revision": [f"{'*' if entry.is_head else ' '} {entry.id}" for entry in entries],
        "saved": [times.local(entry.saved_at) for entry in entries],
        "state": [format_state(entry) for entry in entries],
        "summary": [one_line(entry.task) for entry in entries],
    }


def _lines(app: App, events: Sequence[StoreEvent]) -> Iterator[str]:
    index = app.store.index()
    known = {event.id: event for event in events}
    for event in events:
        # For an undo or redo, show the event that it concerns.
        undone = known.get(event.of or "") or index.find_act(event.of or "")
        if undone is not None and undone.action == "undone":
            undone = known.get(undone.of or "") or index.find_act(undone.of or "") or undone
        told = undone or event
        entries = [index.get(each) for each in told.ids[:_NAMED]]
        names = dict.fromkeys(key_of(entry) for entry in entries if entry)
        named = told.name if len(told.ids) == 1 else None
        what = named or ", ".join(names) or ", ".join(told.ids[:_NAMED])
        more = f" (+{len(told.ids) - _NAMED})" if len(told.ids) > _NAMED else ""
        detail = undone.action if undone else _reason(event, entries)
        action = f"{event.action} ({detail})" if detail else event.action
        yield f"{times.local(event.at)}  {action:20}  {what}{more}".rstrip()


def _reason(event: StoreEvent, entries: Sequence[CheckpointEntry | None]) -> str:
    """Return the trigger of an autosave."""
    triggers = {entry.trigger for entry in entries if entry and entry.trigger} - {MANUAL}
    return ", ".join(sorted(triggers)) if event.action == "saved" else ""
