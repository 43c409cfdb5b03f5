"""The `leftoff purge` command: delete old checkpoints for good."""

import shlex

import click

from leftoff.cli.app import App, command
from leftoff.cli.ask_questions import confirm
from leftoff.errors import ChoiceNeeded
from leftoff.text import times
from leftoff.text.plural import format_count


@command()
@click.option("--older-than", required=True, metavar="SPAN", help="Minimum age, such as 90d.")
@click.option(
    "--open", "with_open", is_flag=True, help="Include checkpoints that are still listed."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(app: App, older_than: str, *, with_open: bool, yes: bool) -> None:
    """Delete old checkpoints for good; there is no undo.

    Deletes checkpoints in the trash, and replaced revisions.
    """
    before = times.ago(older_than, now=app.store.now())
    entries = app.store.index().before(before, with_heads=with_open)
    what = format_count(len(entries), "checkpoint")
    question = f"Delete {what} saved before {times.local(before)} for good?"
    if entries and not (yes or _confirm_purge(app, question)):
        entries = []
    if entries:
        app.store.purge(entries)
    app.out.result(
        {"purged": [entry.id for entry in entries]},
        f"Deleted {format_count(len(entries), 'checkpoint')}",
    )


def _confirm_purge(app: App, question: str) -> bool:
    if app.out.is_interactive:
        return confirm(question, default=False)
    given = click.get_current_context().find_root().obj
    raise ChoiceNeeded(
        "You cannot undo a purge.",
        question=question,
        choices=[
            {
                "choice": "yes",
                "label": "Delete them",
                "command": shlex.join(["leftoff", *given, "--yes"]),
            },
            {"choice": "no", "label": "Keep them"},
        ],
        hint="Pass --yes to delete them for good.",
    )
