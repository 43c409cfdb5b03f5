"""The `leftoff reflect` command: turn your corrections into rules."""

from collections.abc import Sequence
from typing import Any

import click

from leftoff.cli.app import App, command, printable
from leftoff.cli.ask_questions import ask_text, ask_word
from leftoff.errors import ChoiceNeeded, LeftoffError, UsageError
from leftoff.knowledge import memory
from leftoff.knowledge import reflect as use_case
from leftoff.knowledge.memory import MemoryEntry
from leftoff.knowledge.reflect import Reflection
from leftoff.text import times
from leftoff.text.plural import format_count

_ANSWERS = ("approve", "edit", "reject", "skip")


@command()
@click.option("--auto", is_flag=True, help="Save and queue without asking (the default).")
@click.option("--review", is_flag=True, help="Review queued rules one by one.")
@click.option("--dry-run", is_flag=True, help="Show what would be saved; save nothing.")
@click.option(
    "--since",
    default="7d",
    show_default=True,
    metavar="DATE|SPAN",
    help="Only sessions active since then.",
)
@click.option("--session", metavar="ID|FILE", help="Only this session.")
def reflect(  # noqa: PLR0913 - one argument for each option
    app: App, since: str, session: str | None, *, auto: bool, review: bool, dry_run: bool
) -> None:
    """Turn your corrections into rules.

    Prints nothing if there is nothing new.
    """
    if not app.settings.reflect:
        source = next(
            each.source for each in app.workspace.configuration.values if each.key == "reflect"
        )
        where = f" in {source.rpartition('/')[2]}" if source.endswith(".json") else ""
        raise LeftoffError(
            f"Reflection is disabled{where}.",
            hint="Run `leftoff config set --project reflect true` to enable it here.",
        )
    if review and (auto or dry_run):
        raise UsageError(
            "--review asks about each rule, so it cannot be combined with --auto or --dry-run."
        )
    if review:
        _review(app)
        return
    found = use_case.reflect(
        app.store,
        bar=app.settings.reflect_at,
        since=times.moment(since, now=app.store.now()),
        session=session,
        is_dry_run=dry_run,
    )
    is_harness = app.settings.profile == "harness" and not dry_run
    text = (
        use_case.describe_in_harness_words(found) if is_harness else _block(found, dry_run=dry_run)
    )
    # Hooks and agents expect no line; a person would wonder.
    nothing = ["No new corrections were found."] if app.out.is_for_person else []
    app.out.result(_to_plain(found, dry_run=dry_run), text or nothing)


def _to_plain(found: Reflection, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "sessions": found.sessions,
        "saved": [memory.plain(entry) for entry in found.saved],
        "queued": [memory.plain(entry) for entry in found.queued],
        "skipped": found.skipped,
    }


def _block(found: Reflection, *, dry_run: bool) -> list[str]:
    """List the new rules; return nothing if there are none."""
    if not found.has_news:
        return []
    would = "would be " if dry_run else ""
    parts = [
        "AUTO-REFLECTION",
        *_format_section(f"{would}saved", found.saved),
        *_format_section(f"{would}queued for review", found.queued),
    ]
    if found.skipped:
        parts.append(f"  {len(found.skipped)} already known or rejected")
    if found.queued and not dry_run:
        parts.append("Run `leftoff reflect --review` to go through the queue.")
    return parts


def _format_section(what: str, entries: Sequence[MemoryEntry]) -> list[str]:
    if not entries:
        return []
    rules = format_count(len(entries), "rule")
    return [
        f"  {rules} {what}:",
        *(f"    {entry.id}  {entry.text} ({entry.confidence})" for entry in entries),
    ]


def _review(app: App) -> None:
    waiting = use_case.queue(app.store)
    if not waiting:
        app.out.result([], "No rules are waiting for review.")
        return
    if not app.out.is_interactive:
        raise _build_choice(waiting)
    for number, entry in enumerate(waiting, 1):
        click.echo(printable(_format_rule(entry, f"{number} of {len(waiting)}")))
        _act(app, entry, ask_word("Is this rule right?", _ANSWERS, "skip"))


def _format_rule(entry: MemoryEntry, place: str) -> list[str]:
    lines = [f"{place}: {entry.text}", f"  confidence: {entry.confidence or 'unknown'}"]
    return [*lines, *([f"  {entry.why}"] if entry.why else [])]


def _act(app: App, entry: MemoryEntry, action: str) -> None:
    if action == "approve":
        memory.change(app.store, entry.id, status="active")
        app.out.text("Approved.")
    elif action == "edit":
        words = ask_text("New text?", entry.text)
        memory.change(app.store, entry.id, status="active", text=words)
        app.out.text("Edited and approved.")
    elif action == "reject":
        memory.change(app.store, entry.id, status="rejected")
        app.out.text("Rejected; it will not come back.")
    else:
        app.out.text("Skipped; it stays in the queue.")


def _build_choice(waiting: Sequence[MemoryEntry]) -> ChoiceNeeded:
    """Build the question for the agent or script that runs this command."""
    count = "1 rule is waiting" if len(waiting) == 1 else f"{len(waiting)} rules are waiting"
    return ChoiceNeeded(
        f"{count} for review.",
        question="Which rules are right? [approve / edit / reject / skip]",
        choices=[each for entry in waiting for each in _list_choices(entry)],
        hint="Run `leftoff memory approve ID` or `leftoff memory reject ID` for each rule.",
    )


def _list_choices(entry: MemoryEntry) -> list[dict[str, Any]]:
    rule = {
        "id": entry.id,
        "text": entry.text,
        "why": entry.why,
        "confidence": entry.confidence,
        "sources": entry.sources,
    }
    commands = {
        "approve": f"leftoff memory approve {entry.id}",
        "edit": f"leftoff memory edit {entry.id} TEXT && leftoff memory approve {entry.id}",
        "reject": f"leftoff memory reject {entry.id}",
        "skip": "",
    }
    return [
        {"choice": action, "label": f"{action}: {entry.text}", "command": words, **rule}
        for action, words in commands.items()
    ]
