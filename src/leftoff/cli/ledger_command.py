"""The `leftoff ledger` command: show what a task cost, where a ledger is kept."""

import click
import msgspec

from leftoff import profiles
from leftoff.cli.app import App, command
from leftoff.profiles.cost_ledger import Row

_COLUMNS = ("task", "uuid", "date", "phase", "model", "note", "attribution")


@command()
@click.argument("task", required=False)
def ledger(app: App, task: str | None) -> None:
    """Show what a task cost, from its ledger."""
    rows = _read_rows(app, task)
    if app.out.as_json or not rows:
        app.out.result([msgspec.to_builtins(row) for row in rows], "No ledger found.")
        return
    app.out.table({name: [_format_cell(row, name) for row in rows] for name in _COLUMNS})


def _read_rows(app: App, task: str | None) -> list[Row]:
    """Read the ledger of every profile that keeps one in this project."""
    found: list[Row] = []
    for name in profiles.PROFILES:
        profile = profiles.load(name)
        # Only some profiles keep a ledger.
        read = getattr(profile, "ledger", None)
        if read is not None:
            found += read(profile.home(app.project), task)
    return found


def _format_cell(row: Row, name: str) -> str:
    value = getattr(row, name)
    return "unknown" if value is None else str(value)
