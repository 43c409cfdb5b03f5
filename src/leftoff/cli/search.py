"""leftoff search."""

from typing import Any

import click

from leftoff import times
from leftoff.cli.app import App, command
from leftoff.cli.list import described, shown_name
from leftoff.store import Query


@command()
@click.argument("words", nargs=-1, required=True)
@click.option("--branch", help="Only this branch.")
@click.option("--agent", help="Only this agent.")
@click.option("--since", metavar="DATE|SPAN", help="Saved since, such as 2026-11-01 or 7d.")
@click.option("--until", metavar="DATE|SPAN", help="Saved until.")
@click.option("--all", "with_all", is_flag=True, help="Also what was consumed, cleared or undone.")
@click.option("--limit", default=20, show_default=True, help="How many at the most.")
def search(app: App, words: tuple[str, ...], *, with_all: bool, limit: int, **filters: Any) -> None:
    """Find checkpoints by words, newest first; the last word may be a beginning."""
    now = app.store.now()
    for bound in ("since", "until"):
        if filters[bound]:
            filters[bound] = times.moment(filters[bound], now=now)
    query = Query(words=" ".join(words), with_trashed=with_all, limit=limit, **filters)
    hits = app.store.search(query)
    if app.out.as_json:
        app.out.json([{**described(hit.entry, now), "snippet": hit.snippet} for hit in hits])
        return
    lines = [
        f"{app.out.style(shown_name(hit.entry), bold=True)}  "
        f"{times.age((now - hit.entry.saved_at).total_seconds())}  {hit.entry.branch or ''}\n"
        f"  {hit.snippet}"
        for hit in hits
    ]
    app.out.text("\n".join(lines) or "Nothing found.")
