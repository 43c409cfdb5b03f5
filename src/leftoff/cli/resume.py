"""leftoff resume."""

from typing import Any

import click
import msgspec

from leftoff import briefing, restore
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.errors import ChoiceNeeded
from leftoff.store import Action, Entry


@command()
@checkpoint_argument(required=False)
@click.option("--accept", "answer", flag_value="accept", help="Take it up; it is marked resumed.")
@click.option(
    "--decline", "answer", flag_value="decline", help="Leave it; it is not offered again."
)
@click.option("--budget", type=click.IntRange(min=100), help="Tokens the briefing may take.")
def resume(app: App, name: str | None, answer: str | None, budget: int | None) -> None:
    """Tell where the work left off, and what has changed since.

    Nothing is marked before the answer: on a terminal you are asked, elsewhere use --accept or
    --decline.
    """
    entry = _chosen(app, name)
    if entry is None:
        app.out.result(
            {"checkpoint": None, "briefing": "", "checks": None, "question": None},
            "No saved checkpoints found.",
        )
        return
    if answer == "decline":
        _decline(app, entry)
        return
    checkpoint = app.store.load(entry)
    checks = restore.check(checkpoint, app.project, app.store.now())
    text = briefing.render(checkpoint, checks, budget=budget or app.settings.budget)
    question = None if answer else briefing.question(checkpoint, checks)
    if answer == "accept":
        _accept(app, entry)
    app.out.result(_plain(checkpoint, text, checks, question), _shown(text, checks, question))
    if question and app.out.is_interactive:
        _accept(app, entry) if click.confirm("Resume?", default=True) else _decline(app, entry)


def _chosen(app: App, name: str | None) -> Entry | None:
    try:
        return restore.choose(app.store, name)
    except ChoiceNeeded as choice:
        return app.store.find(app.choose(choice))


def _accept(app: App, entry: Entry) -> None:
    action: Action = "consumed" if app.settings.on_resume == "consume" else "resumed"
    app.store.record(action, [entry.id])


def _decline(app: App, entry: Entry) -> None:
    is_trashed = app.settings.on_decline == "trash"
    app.store.record("cleared" if is_trashed else "declined", [entry.id])
    kept = "moved to the trash" if is_trashed else "kept"
    app.out.result(
        {"declined": entry.name or entry.id, "kept": not is_trashed},
        f"Starting fresh; {entry.name or entry.id} is {kept}.",
    )


def _plain(
    checkpoint: Checkpoint, text: str, checks: restore.Checks, question: str | None
) -> dict[str, Any]:
    return {
        "checkpoint": to_plain(checkpoint),
        "briefing": text,
        "checks": msgspec.to_builtins(checks),
        "question": question,
    }


def _shown(text: str, checks: restore.Checks, question: str | None) -> str:
    parts = [text.rstrip("\n")]
    if checks.plan is not None:
        content = checks.plan.text
        parts.append(
            f"Plan {checks.plan.path} is missing."
            if content is None
            else f"Plan {checks.plan.path}:\n\n{content.rstrip()}"
        )
    return "\n\n".join([*parts, *([question] if question else [])])
