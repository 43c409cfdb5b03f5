"""leftoff list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from leftoff.cli.app import App, command
from leftoff.cli.text_columns import one_line
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
@click.option("--all", "with_all", is_flag=True, help="Include what is done, cleared or undone.")
@limit_option
def list_(app: App, *, with_all: bool, limit: int) -> None:
    """List open checkpoints, newest first."""
    index = app.store.index()
    states = [*LISTED, *TRASHED] if with_all else [*LISTED]
    entries = app.workspace.list_checkpoints(limit=limit, with_ended=with_all)
    show(app, entries, empty="No checkpoints found.")
    warn_of_other_stores(app, is_empty=not entries)
    if len(entries) == limit and not app.out.as_json:
        more = index.count_heads(states) - limit
        if more > 0:
            app.out.text(f"… and {more} more: leftoff list --limit {limit + more}")
    for entry in index.unreadable():
        path = app.store.path_of(entry)
        app.out.warn(f"unreadable: {path} ({entry.problem}); `leftoff show --raw {entry.id}`")


def warn_of_other_stores(app: App, *, is_empty: bool) -> None:
    """Name other stores that may hold what the user looks for.

    Those of folders that are gone may be anyone's, so they count only where nothing else is found.
    """
    if not (is_empty or app.project.is_git):
        return
    for folder, store in list_stores_elsewhere(app.project)[:_LOST_SHOWN]:
        if (store / "checkpoints").is_dir():
            app.out.warn(
                f"There are checkpoints of {folder} in {store}\n"
                f"To move them here: leftoff import --from-store {store}"
            )


_LOST_SHOWN = 3


def show(app: App, entries: Sequence[CheckpointEntry], *, empty: str) -> None:
    """Show checkpoints as JSON, as a table, or say that there are none."""
    now = app.store.now()
    if app.out.as_json:
        app.out.json([describe_entry(entry, now) for entry in entries])
    elif entries:
        app.out.table(_columns(entries, now))
    else:
        app.out.text(empty)


def describe_entry(entry: CheckpointEntry, now: datetime) -> dict[str, Any]:
    """Describe a checkpoint for programs."""
    return {
        "id": entry.id,
        "name": entry.name,
        "saved_at": entry.saved_at.isoformat(),
        "age_seconds": max(0, int((now - entry.saved_at).total_seconds())),
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
        "saved": [times.local(entry.saved_at) for entry in entries],
        "age": [age_of(entry, now) for entry in entries],
        "branch": column("branch"),
        "agent": column("agent"),
        "trigger": column("trigger"),
        "state": [state_of(entry) for entry in entries],
        "summary": column("task"),
        "next action": column("next_action"),
    }


def format_name(entry: CheckpointEntry) -> str:
    """Name a checkpoint for people; an autosave by its id."""
    return entry.name or (entry.id if entry.problem else f"autosave {entry.id}")


def state_of(entry: CheckpointEntry) -> str:
    """Tell a checkpoint's state; a file that cannot be read has none other."""
    return "unreadable" if entry.problem else entry.state


def age_of(entry: CheckpointEntry, now: datetime) -> str:
    """Say how long ago a checkpoint was saved."""
    return times.age((now - entry.saved_at).total_seconds())
