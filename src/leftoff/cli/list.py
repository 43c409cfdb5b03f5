"""The `leftoff list` command: list open checkpoints, newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from leftoff.cli.app import App, command, one_line
from leftoff.names import suggest_name
from leftoff.projects.project import list_stores_elsewhere
from leftoff.store import LISTED, TRASHED, CheckpointEntry
from leftoff.text import times

limit_option = click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number to show.",
)


@command(name="list")
@click.option("--all", "with_all", is_flag=True, help="Include what is no longer open.")
@limit_option
def list_(app: App, *, with_all: bool, limit: int) -> None:
    """List open checkpoints, newest first."""
    index = app.store.index()
    states = [*LISTED, *TRASHED] if with_all else [*LISTED]
    entries = app.workspace.list_checkpoints(limit=limit, with_ended=with_all)
    show(app, entries, empty="No checkpoints found.")
    warn_of_other_stores(app, is_empty=not entries)
    # Count only if the list may be incomplete: it takes another query.
    if len(entries) == limit and not app.out.as_json:
        more = index.count_heads(states) - limit
        if more > 0:
            app.out.text(f"… and {more} more: leftoff list --limit {limit + more}")
    # Otherwise a damaged checkpoint would look as if it had never been saved.
    for entry in index.unreadable():
        path = app.store.path_of(entry)
        app.out.warn(f"unreadable: {path} ({entry.problem}); `leftoff show --raw {entry.id}`")


def warn_of_other_stores(app: App, *, is_empty: bool) -> None:
    """Point to other stores that may hold the checkpoints you are looking for.

    The stores of deleted folders may be unrelated, so they are named only if this one is empty.
    """
    if not (is_empty or app.project.is_git):
        return
    for folder, store in list_stores_elsewhere(app.project)[:_LOST_SHOWN]:
        if (store / "checkpoints").is_dir():
            app.out.warn(
                f"Found checkpoints of {folder} in {store}\n"
                f"To move them here, run: leftoff import --from-store {store}"
            )


# More would hide the list itself.
_LOST_SHOWN = 3


def show(app: App, entries: Sequence[CheckpointEntry], *, empty: str) -> None:
    """Show checkpoints as JSON or as a table, or the text for an empty list."""
    now = app.store.now()
    if app.out.as_json:
        app.out.json([describe_entry(entry, now) for entry in entries])
    elif entries:
        app.out.table(_columns(entries, now))
    else:
        app.out.text(empty)


def describe_entry(entry: CheckpointEntry, now: datetime) -> dict[str, Any]:
    """Return a checkpoint as JSON-ready values."""
    return {
        "id": entry.id,
        "thread": entry.slot,
        "name": entry.name,
        "saved_at": entry.saved_at.isoformat(),
        "as_of": entry.as_of.isoformat(),
        "age_seconds": max(0, int((now - entry.as_of).total_seconds())),
        "branch": entry.branch,
        "agent": entry.agent,
        "session_id": entry.session_id,
        "worktree": entry.worktree,
        "summary": entry.task,
        "next_action": entry.next_action,
        "trigger": entry.trigger,
        "state": state_of(entry),
    }


def _columns(entries: Sequence[CheckpointEntry], now: datetime) -> dict[str, list[str]]:
    def column(cell: str) -> list[str]:
        return [one_line(getattr(entry, cell)) for entry in entries]

    return {
        "name": [format_name(entry) for entry in entries],
        "active": [times.local(entry.as_of) for entry in entries],
        "age": [age_of(entry, now) for entry in entries],
        "branch": column("branch"),
        "agent": column("agent"),
        "trigger": column("trigger"),
        "state": [format_state(entry) for entry in entries],
        "summary": column("task"),
        "next action": column("next_action"),
    }


def format_name(entry: CheckpointEntry) -> str:
    """Return the name to show for a piece of work; version 0.1 gave autosaves none."""
    if entry.problem:
        return entry.name or entry.id
    return entry.name or suggest_name([entry.task], entry.branch)


def state_of(entry: CheckpointEntry) -> str:
    """Return a checkpoint's state, or "unreadable" if its file is damaged."""
    return "unreadable" if entry.problem else entry.state


def format_state(entry: CheckpointEntry) -> str:
    """Return a checkpoint's state in the words of the commands."""
    state = state_of(entry)
    return "done" if state == "consumed" else state


def age_of(entry: CheckpointEntry, now: datetime) -> str:
    """Return how long ago the work was last active, in words."""
    return times.age((now - entry.as_of).total_seconds())
