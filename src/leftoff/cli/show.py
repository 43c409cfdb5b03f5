"""leftoff show, leftoff latest."""

import sys

import click

from leftoff import restore
from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.cli.details import detailed
from leftoff.errors import NoSuchCheckpoint
from leftoff.store import Entry


@command()
@checkpoint_argument()
@click.option("--raw", is_flag=True, help="Print the file as it is, readable or not.")
def show(app: App, name: str, *, raw: bool) -> None:
    """Show a checkpoint whole."""
    entry = app.find(name)
    if raw:
        _show_raw(app, entry)
    else:
        _show(app, entry)


@command()
@click.option("--plan", metavar="NAME|PATH", help="The newest one that belongs to this plan.")
def latest(app: App, plan: str | None) -> None:
    """Show the newest checkpoint."""
    entry = restore.newest_of_plan(app.store, plan) if plan else restore.newest(app.store)
    if entry is None and plan:
        raise NoSuchCheckpoint(
            f"No checkpoint belongs to the plan {plan}",
            hint="`leftoff latest` shows the newest of all, `leftoff dashboard` the plans.",
        )
    if entry is None:
        raise NoSuchCheckpoint(
            "No saved checkpoints found.", hint="`leftoff save` makes the first one."
        )
    _show(app, entry)


def _show(app: App, entry: Entry) -> None:
    checkpoint = app.store.load(entry)
    path = str(app.store.path_of(entry))
    if app.out.as_json:
        app.out.json({**to_plain(checkpoint), "state": entry.state, "path": path})
        return
    head, *rest = detailed(checkpoint, entry.state, app.store.now())
    app.out.text(head, bold=True)
    app.out.text([*rest, f"{'path':12}  {path}"])


def _show_raw(app: App, entry: Entry) -> None:
    data = app.store.read_raw(entry)
    text = data.decode("utf-8", "replace")
    if app.out.as_json:
        app.out.json({"id": entry.id, "path": str(app.store.path_of(entry)), "raw": text})
    elif app.out.is_terminal:
        app.out.text(text.splitlines())
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
