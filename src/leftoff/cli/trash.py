"""leftoff trash."""

import click

from leftoff import times
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.cli.list import described, one_line, shown_name
from leftoff.errors import NoSuchCheckpoint
from leftoff.store import TRASHED, Entry


@click.group()
def trash() -> None:
    """Look at what was put away, and bring it back."""


@command(name="list")
def trash_list(app: App) -> None:
    """List what was consumed, cleared or undone, newest first."""
    entries = app.store.index().trashed(100)
    now = app.store.now()
    if app.out.as_json:
        app.out.json([described(entry, now) for entry in entries])
    elif not entries:
        app.out.text("The trash is empty.")
    else:
        app.out.table(
            {
                "name": [shown_name(entry) for entry in entries],
                "id": [entry.id for entry in entries],
                "saved": [times.local(entry.saved_at) for entry in entries],
                "state": [entry.state for entry in entries],
                "summary": [one_line(entry.task) for entry in entries],
            }
        )


@command(name="restore")
@checkpoint_argument()
def trash_restore(app: App, name: str) -> None:
    """Bring a checkpoint back."""
    entry = _trashed(app, name)
    app.store.record("restored", [entry.id])
    app.out.result({"restored": entry.name or entry.id}, f"Restored: {entry.name or entry.id}")


def _trashed(app: App, name: str) -> Entry:
    for entry in app.store.index().trashed(1_000_000):
        if name in {entry.name, entry.id}:
            return entry
    found = app.store.find(name)
    if found.state in TRASHED:
        return found
    raise NoSuchCheckpoint(f"{name} is not in the trash", hint="`leftoff trash list` shows it all.")


trash.add_command(trash_list)
trash.add_command(trash_restore)
