"""Show the open threads of all projects on this machine, for `list --everywhere` and `status`."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from leftoff.checkpoint import address_user
from leftoff.cli.app import App, clean_line, next_line
from leftoff.cli.list import age_of, describe_entry, format_name, shorten_path
from leftoff.cli.look import ThreadRow, layout_threads
from leftoff.cli.progress_bar import show_progress
from leftoff.cli.status_page import print_facts, print_threads
from leftoff.projects.known_projects import forget, list_known
from leftoff.store import utc_now
from leftoff.text.plural import format_count
from leftoff.threads.open_everywhere import Everywhere, ThreadElsewhere, read_newest

# More would hide the list itself.
_MOST_NAMED = 3
_ELSEWHERE = "Run `leftoff list --everywhere` to see what is open in your other projects."


def list_everywhere(app: App, limit: int) -> None:
    """List the newest open threads of all projects, and say what could not be read."""
    found = read_everywhere(app, limit)
    if app.out.as_json:
        app.out.json(describe_threads(found))
    elif found.threads:
        with app.out.paged():
            show_threads(app, found.threads)
            if found.is_cut:
                app.out.text(f"… and more: leftoff list --everywhere --limit {limit * 2}")
    else:
        app.out.text("Nothing is open in any project on this machine.")
    for root, problem in found.problems.items():
        app.out.warn(f"Could not read the store of {root}: {problem}")
    if found.gone:
        app.out.warn(_format_gone(app, found.gone))
        _forget_deleted(app, found.gone)


def point_elsewhere(app: App) -> list[str]:
    """Return a line that points a person to their other projects, where this one has nothing."""
    # guardz prints one sentence and stops.
    if not app.out.is_for_person or app.settings.offers == "saved":
        return []
    others = [root for root in list_known(app.environment) if root != app.project.root]
    return [_ELSEWHERE] if others else []


def read_everywhere(app: App, limit: int) -> Everywhere:
    """Read the newest open threads, with a progress bar if that takes long."""
    count = len(list_known(app.environment))
    with show_progress(app.out, "Reading projects", count) as advance:
        return read_newest(app.environment, limit=limit, on_project=advance)


def describe_threads(found: Everywhere) -> list[dict[str, Any]]:
    """Return threads as JSON-ready values, each with its project."""
    now = utc_now()
    return [
        {"project": str(each.root), **describe_entry(each.entry, now)} for each in found.threads
    ]


def show_threads(app: App, threads: Sequence[ThreadElsewhere]) -> None:
    """Show threads, each with its project."""
    if app.out.is_for_person:
        app.out.lines(layout_threads(_build_rows(app, threads, utc_now()), app.out.look))
    else:
        app.out.table(_build_columns(app, threads, utc_now()))


def _build_rows(app: App, threads: Sequence[ThreadElsewhere], now: datetime) -> list[ThreadRow]:
    return [
        ThreadRow(
            task=clean_line(each.entry.task),
            name=clean_line(format_name(each.entry)),
            age=age_of(each.entry, now),
            next_action=clean_line(address_user(each.entry.next_action)),
            place=clean_line(shorten_path(app, each.root)),
        )
        for each in threads
    ]


def _build_columns(
    app: App, threads: Sequence[ThreadElsewhere], now: datetime
) -> dict[str, list[str]]:
    return {
        "name": [format_name(each.entry) for each in threads],
        "age": [age_of(each.entry, now) for each in threads],
        "project": [shorten_path(app, each.root) for each in threads],
        "next action": [next_line(each.entry.next_action) for each in threads],
    }


def show_elsewhere(app: App, found: Everywhere) -> None:
    """Show what is open in all projects, if the current folder is not a project."""
    app.out.text(f"{'open':9}{_format_open(found)}")
    if found.threads:
        app.out.gap()
        show_threads(app, found.threads)
    if found.is_cut:
        app.out.text("… and more: leftoff list --everywhere")


def show_page(app: App, facts: dict[str, str], found: Everywhere, *, is_well: bool) -> None:
    """Show a person the facts, then the threads of all projects."""
    warnings = [] if is_well else ["hooks"]
    if not found.threads:
        print_facts(app, {**facts, "open": _format_open(found)}, warnings)
        return
    print_facts(app, facts, warnings)
    rows = _build_rows(app, found.threads, utc_now())
    more = "`leftoff list --everywhere` shows all of them."
    print_threads(app, rows, f"Open: {_format_open(found)}", more, is_cut=found.is_cut)


def _format_open(found: Everywhere) -> str:
    count = len(found.threads)
    if not count:
        return "nothing in any project on this machine"
    projects = format_count(len({each.root for each in found.threads}), "project")
    if found.is_cut:
        return f"more than {count} threads; the newest are in {projects}"
    return f"{format_count(count, 'thread')} in {projects}"


def _format_gone(app: App, gone: Sequence[Path]) -> str:
    named = [shorten_path(app, each) for each in gone[:_MOST_NAMED]]
    more = len(gone) - len(named)
    named += [f"{more} more"] if more else []
    were = "was" if len(gone) == 1 else "were"
    return (
        f"{format_count(len(gone), 'project')} {were} moved or deleted ({', '.join(named)}). "
        "A moved project is listed again once you use leftoff in it."
    )


def _forget_deleted(app: App, gone: Sequence[Path]) -> None:
    """Forget the projects that are gone; not those of a disk that is not mounted."""
    for root in gone:
        if root.parent.is_dir():
            forget(app.environment, root)
