"""The `leftoff clear`, `delete`, `done` and `drop` commands: end checkpoints."""

from collections.abc import Sequence

import click

from leftoff.cli.app import App, checkpoint_argument, command, complete_open, key_of
from leftoff.errors import LeftoffError, UsageError
from leftoff.names import RESERVED
from leftoff.store import LISTED, CheckpointEntry
from leftoff.threads import check_claims


@command()
@click.argument("names", nargs=-1, metavar="[NAME|ID]...", shell_complete=complete_open)
@click.option("--all", "with_all", is_flag=True, help="Clear every checkpoint.")
def clear(app: App, names: tuple[str, ...], *, with_all: bool) -> None:
    """Move checkpoints to the trash.

    `leftoff undo` brings them back.
    """
    if bool(names) == with_all:
        raise UsageError("Name the checkpoints to clear, or pass --all.")
    if with_all:
        entries = app.store.index().heads([*LISTED], 1_000_000)
    else:
        found = [app.workspace.find_open(name) for name in names]
        # A name and an id may refer to the same checkpoint.
        entries = [*{entry.id: entry for entry in found}.values()]
    if entries:
        app.store.record("cleared", [entry.id for entry in entries])
    shown = [key_of(entry) for entry in entries]
    text = [f'Cleared checkpoint "{name}"' for name in shown]
    # guardz prints exactly this text, "(s)" included.
    counted = f"Cleared {_count(app, entries)} checkpoint(s)"
    app.out.result({"cleared": shown}, counted if with_all else text)


def _count(app: App, entries: Sequence[CheckpointEntry]) -> int:
    """Count what the user has seen: where only saved work is offered, autosaves do not count."""
    if app.settings.offers == "all":
        return len(entries)
    return len(check_claims.prefer_saved(app.store, entries))


@command()
@checkpoint_argument(complete_open)
@click.option("--force", is_flag=True, help="Delete it even if you are working on it.")
def delete(app: App, name: str, *, force: bool) -> None:
    """Move one checkpoint to the trash, unless it is in use.

    `leftoff undo` brings it back.
    """
    if name in RESERVED:
        raise LeftoffError(
            f"{name!r} refers to all autosaves.",
            hint="Name a checkpoint, or pass the id of one autosave.",
        )
    entry = app.workspace.find_open(name)
    if not force and _is_active(app, entry):
        raise LeftoffError(f"You are working on {name}", hint="Pass --force to delete it anyway.")
    app.store.record("cleared", [entry.id])
    app.out.result({"deleted": key_of(entry)}, f'Deleted checkpoint "{key_of(entry)}"')


@command(name="done")
@checkpoint_argument(complete_open)
def mark_done(app: App, name: str) -> None:
    """Mark a checkpoint's task as done.

    It is no longer offered or listed; `leftoff undo` reopens it.
    """
    entry = app.workspace.find_open(name)
    checkpoint = app.store.load(entry)
    if checkpoint.next_action is None and not checkpoint.done:
        raise LeftoffError(
            f"{name} cannot be completed: it has no next action and nothing marked done",
            hint=f"Run `leftoff save {key_of(entry)} --overwrite --done …` to add what was done.",
        )
    app.store.record("consumed", [entry.id])
    app.out.result({"completed": key_of(entry)}, f'Completed checkpoint "{key_of(entry)}"')


@command()
@click.argument(
    "names", nargs=-1, required=True, metavar="NAME|ID...", shell_complete=complete_open
)
def drop(app: App, names: tuple[str, ...]) -> None:
    """Abandon work without finishing it.

    It is no longer offered or listed; `leftoff undo` reopens it. Use `leftoff done` for work that
    is finished.
    """
    found = [app.workspace.find_open(name) for name in names]
    # A name and an id may refer to the same checkpoint.
    entries = [*{entry.id: entry for entry in found}.values()]
    app.store.record("dropped", [entry.id for entry in entries])
    shown = [key_of(entry) for entry in entries]
    text = [*(f'Dropped "{name}"' for name in shown), "Run `leftoff undo` to reopen it."]
    app.out.result({"dropped": shown}, text)


def _is_active(app: App, entry: CheckpointEntry) -> bool:
    session = app.environment.find_session()
    return entry.state == "resumed" or (session is not None and entry.session_id == session[1])
