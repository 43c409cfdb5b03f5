"""The `leftoff clear`, `delete`, `done` and `drop` commands: end checkpoints."""

from collections.abc import Sequence

import click

from leftoff.cli.app import App, command, key_of
from leftoff.cli.choose_thread import choose_open
from leftoff.cli.complete_words import checkpoint_argument, complete_open
from leftoff.errors import LeftoffError, UsageError
from leftoff.names import RESERVED, clean_name
from leftoff.store import LISTED, CheckpointEntry
from leftoff.text.fence import quote_key
from leftoff.text.plural import format_count
from leftoff.threads import check_claims


@command()
@click.argument("names", nargs=-1, metavar="[NAME|ID]...", shell_complete=complete_open)
@click.option("--all", "with_all", is_flag=True, help="Clear every checkpoint.")
def clear(app: App, names: tuple[str, ...], *, with_all: bool) -> None:
    """Move checkpoints to the trash; undo brings them back.

    `leftoff purge` deletes them for good. To end a thread, use
    `leftoff done` or `leftoff drop`: then its checkpoints stay where they are.
    """
    if bool(names) == with_all:
        raise UsageError("Name the checkpoints to clear, or pass --all.")
    # Removing a mirrored file by hand has already cleared its checkpoint.
    removed = [name for name in names if app.workspace.is_missing(name)]
    if with_all:
        entries = app.store.index().heads([*LISTED], 1_000_000)
    else:
        found = [app.workspace.find_open(name) for name in names if name not in removed]
        # A name and an id may refer to the same checkpoint.
        entries = [*{entry.id: entry for entry in found}.values()]
    if entries:
        app.store.record("cleared", [entry.id for entry in entries])
    shown = [*map(key_of, entries), *map(clean_name, removed)]
    text = [f'Cleared checkpoint "{name}"' for name in shown]
    # guardz prints exactly this text, "(s)" included.
    count = _count(app, entries)
    app.out.result({"cleared": shown}, f"Cleared {count} checkpoint(s)" if with_all else text)
    if with_all and count < len(entries):
        automatic = format_count(len(entries) - count, "automatic save")
        app.out.warn(f"{automatic} cleared, too; `leftoff undo` brings everything back.")


def _count(app: App, entries: Sequence[CheckpointEntry]) -> int:
    """Count what the user has seen: where only saved work is offered, autosaves do not count."""
    if app.settings.offers == "all":
        return len(entries)
    return len(check_claims.list_saved(app.store, entries))


@command()
@checkpoint_argument(complete_open)
@click.option("--force", is_flag=True, help="Delete it even if you are working on it.")
def delete(app: App, name: str, *, force: bool) -> None:
    """Clear one checkpoint, unless it is in use.

    `leftoff undo` brings it back.
    """
    if name in RESERVED and app.store.index().find_named(name) is None:
        raise LeftoffError(
            f"Cannot delete {name!r}: leftoff saved it automatically.",
            hint="Name a checkpoint that you saved, or run `leftoff drop autosave`.",
        )
    entry = app.workspace.find_open(name)
    if not force and _is_active(app, entry):
        raise LeftoffError(f"You are working on {name}.", hint="Pass --force to delete it anyway.")
    app.store.record("cleared", [entry.id])
    app.out.result({"deleted": key_of(entry)}, f'Deleted checkpoint "{key_of(entry)}"')


@command(name="done")
@checkpoint_argument(complete_open, required=False)
def mark_done(app: App, name: str | None) -> None:
    """Mark a thread as done: the work is finished.

    Without a name, it ends the only open thread. The thread is no longer offered or listed;
    `leftoff undo` reopens it.
    """
    entry = app.workspace.find_open(name) if name is not None else choose_open(app, "done")
    if [*click.get_current_context().find_root().obj][:1] == ["complete"]:
        _refuse_undefined(app, entry)
    app.workspace.finish(entry.id)
    text = [f'Marked "{key_of(entry)}" as done', "Run `leftoff undo` to reopen it."]
    app.out.result({"completed": key_of(entry)}, text)


def _refuse_undefined(app: App, entry: CheckpointEntry) -> None:
    """Refuse to end a thread that has no next action and no progress, for the old `complete`."""
    checkpoint, key = app.store.load(entry), key_of(entry)
    if checkpoint.next_action is None and not checkpoint.done:
        raise LeftoffError(
            f"{key} cannot be completed: it has no next action and nothing marked done.",
            hint=f"Run `leftoff done {quote_key(entry.name, entry.id)}` to mark it as done anyway.",
        )


@command()
@click.argument("names", nargs=-1, metavar="[NAME|ID]...", shell_complete=complete_open)
def drop(app: App, names: tuple[str, ...]) -> None:
    """Abandon a thread: the work will not be finished.

    Without a name, it ends the only open thread. The thread is no longer offered or listed;
    `leftoff undo` reopens it. Use `leftoff done` for work that is finished.
    """
    chosen = names or (choose_open(app, "drop").id,)
    entries = app.workspace.drop(*chosen)
    shown = [key_of(entry) for entry in entries]
    it = "it" if len(shown) == 1 else "them"
    text = [*(f'Dropped "{name}"' for name in shown), f"Run `leftoff undo` to reopen {it}."]
    app.out.result({"dropped": shown}, text)


def _is_active(app: App, entry: CheckpointEntry) -> bool:
    session = app.environment.find_session()
    return entry.state == "resumed" or (session is not None and entry.session_id == session[1])
