"""leftoff diff."""

import click

from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, command, complete_names
from leftoff.compare import Change, compare


@command()
@click.argument("old", metavar="A", shell_complete=complete_names)
@click.argument("new", metavar="B", shell_complete=complete_names)
def diff(app: App, old: str, new: str) -> None:
    """Show what changed between two checkpoints."""
    changes = compare(*(to_plain(app.store.load(app.store.find(key))) for key in (old, new)))
    text = "\n".join(line for change in changes for line in _lines(app, change))
    app.out.result(
        [{"key": each.key, "removed": each.removed, "added": each.added} for each in changes],
        text or "They say the same.",
    )


def _lines(app: App, change: Change) -> list[str]:
    return [
        app.out.style(change.key, bold=True),
        *(app.out.style(f"  - {each}", fg="red") for each in change.removed),
        *(app.out.style(f"  + {each}", fg="green") for each in change.added),
    ]
