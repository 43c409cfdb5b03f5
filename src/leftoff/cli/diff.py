"""The `leftoff diff` command: show what changed between two checkpoints."""

import click

from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, command, complete_names
from leftoff.cli.checkpoint_view import label_values
from leftoff.threads.compare import compare


@command()
@click.argument("old", metavar="A", shell_complete=complete_names)
@click.argument("new", metavar="B", shell_complete=complete_names)
def diff(app: App, old: str, new: str) -> None:
    """Show what changed between two checkpoints."""
    changes = compare(*(to_plain(app.store.load(app.workspace.find(key))) for key in (old, new)))
    if app.out.as_json:
        app.out.json(changes)
        return
    for change in changes:
        label, removed = label_values(change.key, change.removed)
        app.out.text(label, bold=True)
        for each in removed:
            app.out.text(f"  - {each}", fg="red")
        for each in label_values(change.key, change.added)[1]:
            app.out.text(f"  + {each}", fg="green")
    if not changes:
        app.out.text("The checkpoints do not differ.")
