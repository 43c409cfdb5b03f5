"""The `leftoff sessions` and `leftoff recover` commands: list sessions, save those that died."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import click

from leftoff.cli.app import App, clean_line, command, one_line
from leftoff.cli.list import shorten_id
from leftoff.cli.look import ThreadRow, layout_threads
from leftoff.cli.option_types import Number
from leftoff.cli.progress_bar import Advance, show_progress
from leftoff.session import sessions as use_case
from leftoff.text import times
from leftoff.text.plural import format_count
from leftoff.threads.recover import recover_sessions

_MOST_CHARS = 200


@command()
@click.option(
    "--limit",
    default=10,
    show_default=True,
    type=Number(1, 1_000_000),
    help="Maximum number to show.",
)
def sessions(app: App, limit: int) -> None:
    """List this project's newest sessions, of every agent."""
    app.await_ends()
    unreadable: list[use_case.UnreadableTranscript] = []
    found = use_case.list_recent(app.store, limit=limit, unreadable=unreadable)
    _show(app, found, empty="No sessions of this project were found on this machine.")
    _warn(app, unreadable)


@command()
@click.option(
    "--since", default="7d", show_default=True, metavar="DATE|SPAN", help="How far to look back."
)
@click.option("--dry-run", is_flag=True, help="List them, but save nothing.")
def recover(app: App, since: str, *, dry_run: bool) -> int:
    """Save sessions that died without a checkpoint."""
    after = times.moment(since, now=app.store.now())
    app.await_ends()
    unreadable: list[use_case.UnreadableTranscript] = []
    watch = partial(show_progress, app.out, "Reading sessions")
    unsaved = app.workspace.list_unsaved(since=after, unreadable=unreadable, watch=watch)
    found = [each for each in unsaved if not each.may_be_alive(app.store.now())]
    with show_progress(app.out, "Saving sessions", len(found)) as advance:
        saved = [] if dry_run else recover_sessions(app.store, _advance(found, advance))
    for notice in dict.fromkeys(each.notice for each in saved if each.notice is not None):
        app.out.warn(notice)
    skipped = [each for each in unsaved if each not in found and not each.is_current]
    # "No session died" would be wrong if some are unreadable or may still be running.
    if found or not (unreadable or skipped) or app.out.as_json:
        _show(app, found, empty="No session died without a checkpoint.")
    for notice in _format_skipped(skipped):
        app.out.warn(notice)
    if saved and not app.out.as_json:
        pick = "it" if len(saved) == 1 else "one"
        app.out.text(
            f"Saved {format_count(len(saved), 'session')}. Run `leftoff resume` to pick {pick} up."
        )
    _warn(app, unreadable)
    return 1 if unreadable else 0


def _advance(
    found: Sequence[use_case.KnownSession], advance: Advance
) -> Iterator[use_case.KnownSession]:
    for number, each in enumerate(found):
        advance(number)
        yield each


def _format_skipped(skipped: Sequence[use_case.KnownSession]) -> Iterator[str]:
    opened = sum(each.is_running is True for each in skipped)
    recent = len(skipped) - opened
    if opened:
        are = "is" if opened == 1 else "are"
        yield (
            f"Skipped {format_count(opened, 'session')} that {are} still open. "
            "Close what you want to recover, then run `leftoff recover` again."
        )
    if recent:
        were = "was" if recent == 1 else "were"
        yield (
            f"Skipped {format_count(recent, 'session')} that {were} active in the last 2 minutes. "
            "Run `leftoff recover` again later."
        )


def _warn(app: App, unreadable: Sequence[use_case.UnreadableTranscript]) -> None:
    for each in unreadable:
        app.out.warn(f"Could not read {each.path}: {each.reason}. Its session may need recovery.")


def _show(app: App, found: Sequence[use_case.KnownSession], *, empty: str) -> None:
    now = app.store.now()
    if app.out.as_json:
        app.out.json([_describe_session(session, now) for session in found])
    elif not found:
        app.out.text(empty)
    elif app.out.is_for_person:
        with app.out.paged():
            app.out.lines(layout_threads(_build_rows(found, now), app.out.look))
    else:
        app.out.table(
            {
                "agent": [session.agent for session in found],
                "session": [session.session_id for session in found],
                "age": [_format_age(session, now) for session in found],
                "state": [_describe_state(session, now) for session in found],
                "branch": [session.facts.branch or "-" for session in found],
                "last request": [one_line(session.facts.intent) for session in found],
            }
        )


def _build_rows(found: Sequence[use_case.KnownSession], now: datetime) -> list[ThreadRow]:
    """Return a row for each session, for a person: the request first, then a short id."""
    ids = [session.session_id for session in found]
    return [
        ThreadRow(
            task=clean_line(one_line(session.facts.intent or session.request, _MOST_CHARS)),
            name=clean_line(shorten_id(session.session_id, ids)),
            age=_format_age(session, now),
            state=_describe_state(session, now),
            branch=clean_line(session.facts.branch),
            agent=session.agent,
        )
        for session in found
    ]


def _describe_session(session: use_case.KnownSession, now: datetime) -> dict[str, Any]:
    return {
        "agent": session.agent,
        "session_id": session.session_id,
        "path": str(session.path),
        "touched_at": session.touched_at.isoformat(),
        "age_seconds": max(0, int((now - session.touched_at).total_seconds())),
        "state": _describe_state(session, now),
        "branch": session.facts.branch or None,
        "intent": session.facts.intent or None,
        "checkpoint": session.checkpoint.id if session.checkpoint else None,
    }


def _describe_state(session: use_case.KnownSession, now: datetime) -> str:
    if session.is_current:
        return "current"
    if session.is_saved:
        return "saved"
    if session.may_be_alive(now):
        return "active"
    return "unsaved" if session.has_work else "no work"


def _format_age(session: use_case.KnownSession, now: datetime) -> str:
    return times.age((now - session.touched_at).total_seconds())
