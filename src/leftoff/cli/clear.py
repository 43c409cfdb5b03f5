"""leftoff clear, leftoff delete, leftoff complete."""

import click

from leftoff import paths
from leftoff.cli.app import App, checkpoint_argument, command, complete_names, key_of
from leftoff.errors import LeftoffError, Usage
from leftoff.names import RESERVED
from leftoff.store import LISTED, Entry


@command()
@click.argument("names", nargs=-1, metavar="[NAME|ID]...", shell_complete=complete_names)
@click.option("--all", "with_all", is_flag=True, help="Clear every checkpoint.")
def clear(app: App, names: tuple[str, ...], *, with_all: bool) -> None:
    """Put checkpoints away; `leftoff undo` brings them back."""
    if bool(names) == with_all:
        raise Usage("Say which ones: name checkpoints, or give --all.")
    if with_all:
        entries = app.store.index().heads([*LISTED], 1_000_000)
    else:
        found = [app.find_listed(name) for name in names]
        entries = [*{entry.id: entry for entry in found}.values()]
    if entries:
        app.store.record("cleared", [entry.id for entry in entries])
    shown = [key_of(entry) for entry in entries]
    text = [f'Cleared checkpoint "{name}"' for name in shown]
    app.out.result({"cleared": shown}, f"Cleared {len(shown)} checkpoint(s)" if with_all else text)


@command()
@checkpoint_argument()
@click.option("--force", is_flag=True, help="Even if it is what you are working on.")
def delete(app: App, name: str, *, force: bool) -> None:
    """Move a checkpoint to the trash; `leftoff undo` brings it back."""
    if name in RESERVED:
        raise LeftoffError(
            "Autosaves cannot be deleted by that word.",
            hint="Name a checkpoint, or give the id of one autosave.",
        )
    entry = app.find_listed(name)
    if not force and _is_active(entry):
        raise LeftoffError(
            f"{name} is what you are working on", hint="Add --force to delete it all the same."
        )
    app.store.record("cleared", [entry.id])
    app.out.result({"deleted": key_of(entry)}, f'Deleted checkpoint "{key_of(entry)}"')


@command()
@checkpoint_argument()
def complete(app: App, name: str) -> None:
    """Say that a checkpoint's task is finished, and put it away."""
    entry = app.find_listed(name)
    checkpoint = app.store.load(entry)
    if checkpoint.next_action is None and not checkpoint.done:
        raise LeftoffError(
            f"{name} cannot be completed: its next action is undefined, and nothing is done",
            hint=f"`leftoff save {key_of(entry)} --overwrite --done …` says what was done.",
        )
    app.store.record("consumed", [entry.id])
    app.out.result({"completed": key_of(entry)}, f'Completed checkpoint "{key_of(entry)}"')


def _is_active(entry: Entry) -> bool:
    session = paths.agent_session()
    return entry.state == "resumed" or (session is not None and entry.session_id == session[1])
