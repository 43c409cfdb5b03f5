"""leftoff show, leftoff latest."""

import sys

import click

from leftoff import times
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.errors import NoSuchCheckpoint
from leftoff.store import LISTED, Entry


@command()
@checkpoint_argument()
@click.option("--raw", is_flag=True, help="Print the file as it is, readable or not.")
def show(app: App, name: str, *, raw: bool) -> None:
    """Show a checkpoint whole."""
    entry = app.store.find(name)
    if raw:
        sys.stdout.buffer.write(app.store.read_raw(entry))
        return
    _show(app, entry)


@command()
def latest(app: App) -> None:
    """Show the newest checkpoint."""
    entries = app.store.index().heads([*LISTED], 1)
    if not entries:
        raise NoSuchCheckpoint(
            "No saved checkpoints found.", hint="`leftoff save` makes the first one."
        )
    _show(app, entries[0])


def _show(app: App, entry: Entry) -> None:
    checkpoint = app.store.load(entry)
    plain = to_plain(checkpoint)
    path = str(app.store.path_of(entry))
    app.out.result({**plain, "state": entry.state, "path": path}, _text(checkpoint, entry, path))


def _text(checkpoint: Checkpoint, entry: Entry, path: str) -> str:
    lines = [
        f"{checkpoint.name or 'autosave'}  ({entry.state})",
        f"saved: {times.local(checkpoint.saved_at)}",
    ]
    for key, value in to_plain(checkpoint).items():
        if key in {"schema", "name", "saved_at"}:
            continue
        lines += _field(key, value)
    return "\n".join([*lines, f"path: {path}"])


def _field(key: str, value: object) -> list[str]:
    if isinstance(value, list):
        return [f"{key}:", *(f"  - {_inline(each)}" for each in value)]
    return [f"{key}: {_inline(value)}"]


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_inline(each)}" for key, each in value.items())
    return str(value)
