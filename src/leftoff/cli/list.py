"""leftoff list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from leftoff import times
from leftoff.cli.app import App, command
from leftoff.store import LISTED, TRASHED, Entry


@command(name="list")
@click.option("--all", "with_all", is_flag=True, help="Also what was consumed, cleared or undone.")
@click.option("--limit", default=20, show_default=True, help="How many at the most.")
def list_(app: App, *, with_all: bool, limit: int) -> None:
    """List checkpoints, newest first."""
    index = app.store.index()
    states = [*LISTED, *TRASHED] if with_all else [*LISTED]
    entries = index.heads(states, limit)
    if index.recheck(entries):
        entries = index.heads(states, limit)
    broken = index.unreadable()
    if app.out.as_json:
        app.out.json([described(entry, app.store.now()) for entry in entries])
    elif not entries:
        app.out.text("No checkpoints found.")
    else:
        app.out.table(_columns(entries, app.store.now()))
        if len(entries) == limit and (more := index.count_heads(states) - limit) > 0:
            app.out.text(f"… and {more} more: leftoff list --limit {limit + more}")
    for entry in broken:
        path = app.store.path_of(entry)
        app.out.warn(f"unreadable: {path} ({entry.problem}); `leftoff show --raw {entry.id}`")


def described(entry: Entry, now: datetime) -> dict[str, Any]:
    """Describe a checkpoint for programs."""
    return {
        "id": entry.id,
        "name": entry.name,
        "saved_at": entry.saved_at.isoformat(),
        "age_seconds": int((now - entry.saved_at).total_seconds()),
        "branch": entry.branch,
        "agent": entry.agent,
        "session_id": entry.session_id,
        "worktree": entry.worktree,
        "summary": entry.task,
        "next_action": entry.next_action,
        "trigger": entry.trigger,
        "state": "unreadable" if entry.problem else entry.state,
    }


def _columns(entries: Sequence[Entry], now: datetime) -> dict[str, list[str]]:
    def column(cell: str) -> list[str]:
        return [one_line(getattr(entry, cell)) for entry in entries]

    return {
        "name": [shown_name(entry) for entry in entries],
        "saved": [times.local(entry.saved_at) for entry in entries],
        "age": [times.age((now - entry.saved_at).total_seconds()) for entry in entries],
        "branch": column("branch"),
        "agent": column("agent"),
        "trigger": column("trigger"),
        "state": ["unreadable" if entry.problem else entry.state for entry in entries],
        "summary": column("task"),
        "next action": column("next_action"),
    }


def shown_name(entry: Entry) -> str:
    """Name a checkpoint for people; an autosave by its id."""
    return entry.name or (entry.id if entry.problem else f"autosave {entry.id}")


def one_line(text: str | None, width: int = 60) -> str:
    """Show a text on one line of bounded width."""
    flat = " ".join((text or "-").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"
