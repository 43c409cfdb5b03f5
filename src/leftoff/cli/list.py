"""The `leftoff list` command: list open threads, newest first."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from leftoff import cli, threads
from leftoff.checkpoint import address_user
from leftoff.cli.app import App, clean_line, command, next_line, one_line
from leftoff.cli.look import ThreadRow, layout_threads
from leftoff.cli.option_types import Number
from leftoff.errors import UsageError
from leftoff.names import suggest_name
from leftoff.projects.project import list_stores_elsewhere
from leftoff.store import LISTED, TRASHED, CheckpointEntry
from leftoff.text import times
from leftoff.text.plural import format_count
from leftoff.threads.field_labels import format_trigger

limit_option = click.option(
    "--limit",
    default=20,
    show_default=True,
    type=Number(1, 1_000_000),
    help="Maximum number to show.",
)


@command(name="list")
@click.option("--all", "with_all", is_flag=True, help="Include what is no longer open.")
@click.option("--everywhere", is_flag=True, help="List threads of all projects on this machine.")
@limit_option
def list_(app: App, *, with_all: bool, everywhere: bool, limit: int) -> None:
    """List open threads, newest first."""
    if everywhere and with_all:
        raise UsageError("--everywhere lists open threads only, so --all cannot be combined.")
    app.await_ends()
    if everywhere:
        cli.everywhere_view.list_everywhere(app, limit)
        return
    index = app.store.index()
    states = [*LISTED, *TRASHED] if with_all else [*LISTED]
    entries = app.workspace.list_checkpoints(limit=limit, with_ended=with_all)
    empty = "" if entries else format_nothing_open(app, "No checkpoints found.")
    with app.out.paged():
        show(app, entries, empty=empty)
        # Count only if the list may be incomplete: it takes another query.
        if len(entries) == limit and not app.out.as_json:
            more = index.count_heads(states) - limit
            if more > 0:
                app.out.text(f"… and {more} more: leftoff list --limit {limit + more}")
        show_unsaved(app)
        show_running(app)
    if not entries:
        app.out.text(cli.everywhere_view.point_elsewhere(app))
    warn_of_other_stores(app, is_empty=not entries)
    # Otherwise a damaged checkpoint would look as if it had never been saved.
    for entry in index.unreadable():
        path = app.store.path_of(entry)
        app.out.warn(f"unreadable: {path} ({entry.problem}); `leftoff show --raw {entry.id}`")


def show_unsaved(app: App, *, beside_json: bool = False) -> int:
    """Name the sessions whose work is in no checkpoint, and return how many they are.

    The threads are not all there is. With `beside_json`, programs read stdout, so the lines are a
    warning.
    """
    found = [] if app.out.as_json else app.workspace.find_unsaved()
    if not found:
        return 0
    lines = cli.unsaved_view.format_unsaved(app, found)
    if beside_json:
        first, *named, last = lines
        app.out.warn(f"{first} {'; '.join(each.removeprefix('- ') for each in named)}. {last}")
    else:
        app.out.gap()
        app.out.text(lines)
    return len(found)


def show_working(app: App, thread: str | None = None) -> None:
    """Name the running sessions that work on threads, or on one of them."""
    found = [] if app.out.as_json else app.workspace.find_working()
    found = [each for each in found if thread in {None, each.thread.slot}]
    if found:
        app.out.gap()
        app.out.text(cli.unsaved_view.format_working(app, found))


def show_running(app: App) -> None:
    """Name the running sessions whose work is in no thread yet."""
    found = [] if app.out.as_json else app.workspace.find_running()
    if found:
        app.out.gap()
        app.out.text(cli.unsaved_view.format_running(app, found))


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
    entries = _show_saves(app, entries) if app.settings.naming == "required" else entries
    if app.out.as_json:
        app.out.json([describe_entry(entry, now) for entry in entries])
    elif entries and app.out.is_for_person and app.settings.naming != "required":
        with app.out.paged():
            app.out.lines(layout_threads(build_rows(app, entries, now), app.out.look))
    elif entries:
        columns = _build_columns(app, entries, now)
        app.out.table(
            {name: columns[name] for name in _THEIRS} if app.out.is_for_person else columns
        )
    else:
        app.out.text(empty)


# The table that openclaw shows people.
_THEIRS = ("name", "created", "age", "task")


def _show_saves(app: App, entries: Sequence[CheckpointEntry]) -> Sequence[CheckpointEntry]:
    """Show under each name what somebody saved, and the newest autosave as `autosave`.

    This is for systems where a name is always the user's.
    """
    index = app.store.index()
    newest = index.autosave()
    shown: list[CheckpointEntry] = []
    for entry in entries:
        if newest is not None and entry.id == newest.id:
            shown.append(msgspec.structs.replace(entry, name="autosave"))
        saved = index.find_purposeful(entry.slot) if entry.is_autosave else None
        if saved is not None:
            shown.append(msgspec.structs.replace(saved, name=entry.name, state=entry.state))
        elif newest is None or entry.id != newest.id:
            shown.append(entry)
    return shown


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


def build_rows(app: App, entries: Sequence[CheckpointEntry], now: datetime) -> list[ThreadRow]:
    """Return what a list shows people of each thread."""
    return [
        ThreadRow(
            task=clean_line(entry.task or entry.problem),
            name=clean_line(format_name(entry)),
            age=age_of(entry, now),
            next_action="" if _is_done(entry) else clean_line(address_user(entry.next_action)),
            branch=clean_line(entry.branch),
            agent=clean_line(entry.agent),
            state="" if state_of(entry) == "open" else format_state(entry),
            place=clean_line(_locate(app, entry)),
        )
        for entry in entries
    ]


def _build_columns(
    app: App, entries: Sequence[CheckpointEntry], now: datetime
) -> dict[str, list[str]]:
    def column(cell: str) -> list[str]:
        return [one_line(getattr(entry, cell)) for entry in entries]

    # Where the user names every checkpoint, the table has that system's own headings.
    is_theirs = app.settings.naming == "required"
    return {
        "name": [format_name(entry) for entry in entries],
        "created" if is_theirs else "active": [times.local(entry.as_of) for entry in entries],
        "age": [age_of(entry, now) for entry in entries],
        "branch": column("branch"),
        "agent": column("agent"),
        "trigger": [format_trigger(entry.trigger) for entry in entries],
        "state": [format_state(entry) for entry in entries],
        **locate_worktrees(app, entries),
        "task" if is_theirs else "summary": column("task"),
        "next action": [
            "-" if _is_done(entry) else next_line(entry.next_action) for entry in entries
        ],
    }


def _is_done(entry: CheckpointEntry) -> bool:
    """Return whether a thread is done, so that nothing comes next."""
    return entry.state == "consumed"


def locate_worktrees(app: App, entries: Sequence[CheckpointEntry]) -> dict[str, list[str]]:
    """Return the column of worktrees; empty if everything was left off in this one."""
    cells = [_locate(app, entry) for entry in entries]
    return {"worktree": cells} if any(cells) else {}


def _locate(app: App, entry: CheckpointEntry) -> str:
    # Compared first, because asking git about worktrees takes time.
    if entry.problem or entry.worktree == str(app.project.worktree) or not app.project.is_git:
        return ""
    checks = threads.check_claims
    if checks.is_here(entry.worktree, entry.branch, app.project):
        return ""
    is_removed = checks.is_removed(entry.worktree, app.project)
    return f"{entry.worktree}{' (removed or moved)' if is_removed else ''}"


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


def format_nothing_open(app: App, empty: str) -> str:
    """Say that nothing is open, and what is done; `empty` if nothing was ever done."""
    index = app.store.index()
    counts = {"done": index.count_heads(["consumed"]), "dropped": index.count_heads(["dropped"])}
    ended = [
        f"{format_count(count, 'thread')} {'is' if count == 1 else 'are'} {word}"
        for word, count in counts.items()
        if count
    ]
    # Where a resume closes a checkpoint, that it is closed does not mean that the work is done.
    if not ended or app.settings.on_resume == "consume":
        return empty
    return f"Nothing is open; {' and '.join(ended)}: `leftoff log` shows what happened."


def age_of(entry: CheckpointEntry, now: datetime) -> str:
    """Return how long ago the work was last active, in words."""
    return times.age((now - entry.as_of).total_seconds())


def shorten_path(app: App, path: Path) -> str:
    """Return a path with `~` for the home folder."""
    home = app.environment.home
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def shorten_id(full: str, others: Sequence[str], least: int = 8) -> str:
    """Return the start of an id that distinguishes it from the others."""
    for length in range(least, len(full)):
        if sum(each.startswith(full[:length]) for each in others) <= 1:
            return full[:length]
    return full


def list_facts(app: App, entry: CheckpointEntry) -> list[str]:
    """Return what a page says of a thread below its task, its name first."""
    row = build_rows(app, [entry], app.store.now())[0]
    facts = [row.name, row.age, row.state, row.branch, row.agent, row.place]
    return [fact for fact in facts if fact]
