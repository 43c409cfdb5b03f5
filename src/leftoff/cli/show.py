"""The `leftoff show` command: show a checkpoint in full (default: the newest)."""

import sys

import click

from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, checkpoint_argument, command, complete_paths
from leftoff.cli.checkpoint_view import format_checkpoint
from leftoff.errors import NoSuchCheckpoint, UsageError
from leftoff.store import CheckpointEntry
from leftoff.threads import check_claims


@command()
@checkpoint_argument(required=False)
@click.option(
    "--plan",
    metavar="NAME|PATH",
    shell_complete=complete_paths,
    help="Show the newest checkpoint of this plan.",
)
@click.option("--raw", is_flag=True, help="Print the file unchanged, even if it is damaged.")
def show(app: App, name: str | None, plan: str | None, *, raw: bool) -> None:
    """Show a checkpoint in full (default: the newest)."""
    if name is not None and plan is not None:
        raise UsageError("Name a checkpoint or a plan, not both.")
    entry = app.workspace.find(name) if name is not None else _newest(app, plan)
    if raw:
        _show_raw(app, entry)
    else:
        _show(app, entry)


def _newest(app: App, plan: str | None) -> CheckpointEntry:
    entry = check_claims.newest_of_plan(app.store, plan) if plan else _find_newest(app)
    if entry is None and plan:
        raise NoSuchCheckpoint(
            f"No checkpoint found for the plan {plan}",
            hint="Run `leftoff show` for the newest one, or `leftoff status --plan` for the plans.",
        )
    if entry is None:
        raise NoSuchCheckpoint(
            "No saved checkpoints found.", hint="Run `leftoff save` to create one."
        )
    return entry


def _find_newest(app: App) -> CheckpointEntry | None:
    return check_claims.newest(app.store, prefers_saved=app.settings.offers == "latest")


def _show(app: App, entry: CheckpointEntry) -> None:
    checkpoint = app.store.load(entry)
    path = str(app.store.path_of(entry))
    if app.out.as_json:
        app.out.json({**to_plain(checkpoint), "state": entry.state, "path": path})
        return
    head, *rest = format_checkpoint(checkpoint, entry.state, app.store.now())
    app.out.text(head, bold=True)
    app.out.text([*rest, f"{'path':12}  {path}"])


def _show_raw(app: App, entry: CheckpointEntry) -> None:
    data = app.store.read_raw(entry)
    text = data.decode("utf-8", "replace")
    if app.out.as_json:
        app.out.json({"id": entry.id, "path": str(app.store.path_of(entry)), "raw": text})
    # Only a pipe gets the exact bytes: on a terminal, control characters could do harm.
    elif app.out.is_terminal:
        app.out.text(text.splitlines())
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
