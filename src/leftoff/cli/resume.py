"""leftoff resume."""

from typing import Any

import click
import msgspec

from leftoff import briefing, fence, restore
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli.app import App, checkpoint_argument, command, key_of
from leftoff.cli.output import printable
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
    elif answer == "decline":
        _decline(app, entry)
    else:
        _offer(app, entry, is_accepted=answer == "accept", budget=budget or app.settings.budget)


def _offer(app: App, entry: Entry, *, is_accepted: bool, budget: int) -> None:
    checkpoint = app.store.load(entry)
    checks = restore.check(checkpoint, app.project, app.store.now())
    text = briefing.render(checkpoint, checks, budget=budget)
    question = None if is_accepted else briefing.question(checkpoint, checks)
    if is_accepted:
        _accept(app, entry)
    # On a terminal the question is asked below; elsewhere it is the last line.
    said = None if app.out.is_interactive else question
    app.out.result(_plain(checkpoint, text, checks, question), _shown(text, checks, said))
    if question and app.out.is_interactive:
        if click.confirm(printable(question), default=None, show_default=False, prompt_suffix=" "):
            _accept(app, entry)
        else:
            _decline(app, entry)


def _chosen(app: App, name: str | None) -> Entry | None:
    if name is not None:
        return app.find_listed(name)
    try:
        return restore.choose(app.store, None)
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
        {"declined": key_of(entry), "kept": not is_trashed},
        f"Starting fresh; {key_of(entry)} is {kept}.",
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
    return "\n\n".join(part for part in (text.rstrip("\n"), _plan(checks.plan), question) if part)


def _plan(plan: restore.PlanCheck | None) -> str:
    if plan is None:
        return ""
    if plan.text is None:
        return f"Plan {plan.path} is missing."
    return fence.fenced(f"Plan {plan.path}:\n\n{plan.text.strip()}").rstrip("\n")
