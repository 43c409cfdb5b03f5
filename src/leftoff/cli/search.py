"""The `leftoff search` command: search checkpoints, newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click
import msgspec

from leftoff.cli.app import App, clean_line, command
from leftoff.cli.list import age_of, build_rows, describe_entry, format_name, limit_option
from leftoff.cli.look import layout_threads
from leftoff.store import Hit, Query
from leftoff.text import times


# Search for a word such as -x instead of rejecting it as an unknown option.
@command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True)
@click.option("--branch", help="Only this branch.")
@click.option("--agent", help="Only this agent.")
@click.option(
    "--since", metavar="DATE|SPAN", help="Saved since a date or within a span, such as 7d."
)
@click.option("--until", metavar="DATE|SPAN", help="Saved on or before this date.")
@click.option("--all", "with_all", is_flag=True, help="Include what is no longer open.")
@limit_option
def search(app: App, words: tuple[str, ...], *, with_all: bool, limit: int, **given: Any) -> None:
    """Search checkpoints, newest first.

    The last word matches as a prefix.
    """
    now = app.store.now()
    since = times.moment(given["since"], now=now) if given["since"] else None
    until = times.moment(given["until"], now=now, is_end=True) if given["until"] else None
    query = Query(
        words=" ".join(words),
        branch=given["branch"],
        agent=given["agent"],
        since=since,
        until=until,
        with_trashed=with_all,
        limit=limit,
    )
    hits = app.workspace.find_hits(query)
    if app.out.as_json:
        app.out.json([_describe(hit, now) for hit in hits])
        return
    if app.out.is_for_person and hits:
        with app.out.paged():
            app.out.lines(_layout_hits(app, hits))
        return
    for hit in hits:
        where = f"  {hit.entry.branch}" if hit.entry.branch else ""
        app.out.text(f"{format_name(hit.entry)}  {age_of(hit.entry, now)}{where}", bold=True)
        app.out.text(f"  {_mark(hit)}{hit.snippet}")
    if not hits:
        app.out.text(_explain_nothing(app, query))


def _explain_nothing(app: App, query: Query) -> str:
    """Say that nothing was found, and whether a search with --all would find something."""
    with_all = msgspec.structs.replace(query, with_trashed=True)
    if query.with_trashed or not app.workspace.find_hits(with_all):
        return "Nothing found."
    return "Nothing found in open threads. Others have these words: add --all."


def _layout_hits(app: App, hits: Sequence[Hit]) -> list[str]:
    """Lay out what was found as `leftoff list` does, with the words that were found."""
    rows = build_rows(app, [hit.entry for hit in hits], app.store.now())
    found = [
        msgspec.structs.replace(
            row, next_action=_mark(hit) + _shorten(row.task, clean_line(hit.snippet))
        )
        for row, hit in zip(rows, hits, strict=True)
    ]
    return layout_threads(found, app.out.look, mark="…")


def _describe(hit: Hit, now: datetime) -> dict[str, Any]:
    entry = describe_entry(hit.entry, now)
    return {**entry, "snippet": hit.snippet, "is_earlier": hit.is_earlier}


def _mark(hit: Hit) -> str:
    """Return what begins words that only an earlier revision of the thread has."""
    return "earlier: " if hit.is_earlier else ""


def _shorten(task: str, snippet: str) -> str:
    """Return the words that were found, without the task, which is above them."""
    return snippet.removeprefix(task).removeprefix(" · ")
