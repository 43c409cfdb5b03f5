"""leftoff resume."""

from typing import Any

import click
import msgspec

from leftoff import briefing, fence, restore, saving
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli import artifacts, broken, replay
from leftoff.cli.app import App, checkpoint_argument, command, key_of
from leftoff.cli.output import printable
from leftoff.errors import ChoiceNeeded
from leftoff.names import kebab
from leftoff.store import Action, Entry


@command()
@checkpoint_argument(required=False)
@click.option("--accept", "answer", flag_value="accept", help="Take it up; it is marked resumed.")
@click.option(
    "--decline", "answer", flag_value="decline", help="Leave it; no session is offered it again."
)
@click.option(
    "--read-artifacts/--no-read-artifacts",
    "reads",
    default=None,
    help="Print the artifacts' contents, or do not ask.",
)
@click.option("--refresh", is_flag=True, help="First save it anew as things stand now.")
@click.option("--budget", type=click.IntRange(min=100), help="Tokens the briefing may take.")
@click.option(
    "--for",
    "reader",
    type=click.Choice([*briefing.MOST_TOKENS]),
    help="Keep the briefing within what this agent takes in at once.",
)
def resume(app: App, name: str | None, answer: str | None, **given: Any) -> None:
    """Tell where the work left off, and what has changed since.

    Nothing is marked before the answer: on a terminal you are asked, elsewhere use --accept or
    --decline.
    """
    if _is_gone(app, name):
        app.out.result({"gone": name}, "Checkpoint file missing (cleaned up stale entry)")
        return
    entry = _chosen(app, name)
    if entry is None:
        _tell_nothing(app)
    elif answer == "decline":
        _decline(app, entry)
    else:
        budget = given["budget"] or app.settings.budget
        budget = min(budget, briefing.MOST_TOKENS.get(given["reader"], budget))
        is_accepted = _needs_no_question(app, is_accepted=answer == "accept")
        entry = _refreshed(app, entry) if given["refresh"] else entry
        _offer(app, entry, is_accepted=is_accepted, budget=budget, reads=given["reads"])


def _refreshed(app: App, entry: Entry) -> Entry:
    saved = saving.refresh(app.store, app.store.load(entry))
    return app.store.find(saved.checkpoint.id)


def _offer(app: App, entry: Entry, *, is_accepted: bool, budget: int, reads: bool | None) -> None:
    checkpoint = app.store.load(entry)
    checks = restore.check(checkpoint, app.project, app.store.now())
    text = briefing.render(checkpoint, checks, budget=budget)
    question = None if is_accepted else briefing.question(checkpoint, checks)
    # Before it is taken up: a checkpoint that is consumed tells of no prompts any more.
    waiting = replay.waiting(app, session_id=checkpoint.session_id)
    if is_accepted:
        _accept(app, entry)
    # On a terminal the questions are asked below; elsewhere they are the last lines.
    counted = artifacts.summary(checks, len(checkpoint.questions))
    broken_off = broken.loops(app)
    said = [counted, artifacts.contents(checks, app.project.worktree) if reads else ""]
    said.append(broken.told(broken_off))
    if not app.out.is_interactive:
        asked = artifacts.QUESTION if counted and reads is None else ""
        said += [replay.notice(waiting), asked, question or ""]
    rows = {"prompts": replay.rows(waiting), "interrupted": broken.rows(broken_off)}
    rows["choices"] = _choices(key_of(entry), checks) if question else []
    plain = {**_plain(checkpoint, text, checks, question), **rows}
    app.out.result(plain, _shown(text, checks, said))
    if not app.out.is_interactive:
        return
    if question and not _is_confirmed(question):
        _decline(app, entry)
        return
    if question:
        _accept(app, entry)
    if counted and reads is None and artifacts.ask():
        app.out.text(artifacts.contents(checks, app.project.worktree))
    replay.ask(app, waiting)


def _tell_nothing(app: App) -> None:
    broken_off = broken.loops(app)
    nothing = {"checkpoint": None, "briefing": "", "checks": None, "question": None}
    app.out.result(
        {**nothing, "prompts": [], "interrupted": broken.rows(broken_off)},
        f"No saved checkpoints found.\n\n{broken.told(broken_off)}".rstrip("\n"),
    )


def _is_gone(app: App, name: str | None) -> bool:
    """Say whether somebody removed the file that showed this checkpoint."""
    return name is not None and kebab(name) in app.gone


def _needs_no_question(app: App, *, is_accepted: bool) -> bool:
    confirm = app.settings.confirm
    if confirm == "always" and app.out.is_interactive:
        return False
    return is_accepted or confirm == "never"


def _choices(key: str, checks: restore.Checks) -> list[dict[str, str]]:
    """Tell what can be answered, each with the command that does it."""
    words = ("resume anyway", "start fresh") if checks.is_stale else ("yes", "no")
    commands = [f"leftoff resume {key} --accept", f"leftoff resume {key} --decline"]
    choices = zip(words, commands, strict=True)
    found = [{"choice": word, "command": command} for word, command in choices]
    if checks.is_stale:
        found.append({"choice": "refresh", "command": f"leftoff resume {key} --refresh"})
    return found


_ANSWERS = {
    **dict.fromkeys(("yes", "y", "resume", "anyway", "resume anyway"), True),
    **dict.fromkeys(("no", "n", "fresh", "start fresh"), False),
}


def _is_confirmed(question: str) -> bool:
    while True:
        answer = str(click.prompt(printable(question), prompt_suffix=" ")).strip().lower()
        if answer in _ANSWERS:
            return _ANSWERS[answer]
        click.echo("Please answer with one of the words in brackets.")


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


def _shown(text: str, checks: restore.Checks, said: list[str]) -> str:
    return "\n\n".join(part for part in (text.rstrip("\n"), _plan(checks.plan), *said) if part)


def _plan(plan: restore.PlanCheck | None) -> str:
    if plan is None:
        return ""
    path = fence.disarm(plan.path)
    if plan.text is None:
        return f"Plan {path} is missing."
    return fence.fenced(f"Plan {path}:\n\n{plan.text.strip()}").rstrip("\n")
