"""leftoff purge."""

import click

from leftoff import times
from leftoff.cli.app import App, command
from leftoff.errors import ChoiceNeeded


@command()
@click.option("--older-than", required=True, metavar="SPAN", help="Such as 90d.")
@click.option("--open", "with_open", is_flag=True, help="Also what is still listed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(app: App, older_than: str, *, with_open: bool, yes: bool) -> None:
    """Destroy old checkpoints for good: the only act that cannot be undone.

    What is listed stays; the trash and replaced revisions go.
    """
    before = app.store.now() - times.span(older_than)
    entries = app.store.index().before(before, with_heads=with_open)
    if entries and not yes:
        question = f"Destroy {len(entries)} checkpoint(s) saved before {times.local(before)}?"
        if not app.out.is_interactive:
            raise ChoiceNeeded(
                "A purge cannot be undone.",
                question=question,
                choices=[
                    {"choice": "yes", "command": f"leftoff purge --older-than {older_than} --yes"},
                    {"choice": "no"},
                ],
            )
        if not click.confirm(question, default=False):
            entries = []
    if entries:
        app.store.purge(entries)
    app.out.result(
        {"purged": [entry.id for entry in entries]}, f"Purged {len(entries)} checkpoint(s)"
    )
