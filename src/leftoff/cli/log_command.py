"""The `leftoff log` command: show revisions and events, newest first."""

import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import click
import msgspec

from leftoff.cli.app import App, clean_line, command, key_of, next_line, one_line
from leftoff.cli.choose_thread import has_several, pick_open
from leftoff.cli.complete_words import checkpoint_argument
from leftoff.cli.list import (
    describe_entry,
    format_name,
    format_state,
    list_facts,
    shorten_id,
)
from leftoff.cli.look import Look, cut, layout_page, pad, width, wrap_line
from leftoff.cli.option_types import Number
from leftoff.errors import UsageError
from leftoff.snapshots.shelf import Snapshot, describe_reason, list_snapshots
from leftoff.store import BY_HAND_OVER, CheckpointEntry, StoreEvent
from leftoff.text import times
from leftoff.text.plural import format_count
from leftoff.threads.field_labels import format_trigger

_NAMED = 3
_ACTION_CHARS = 20
_BEFORE = len("2026-11-18 12:35  ")
# The date and time in an id, up to the minute.
_SHORT_ID = 13


class LogLine(NamedTuple):
    """Something that happened: when, what, and to which thread or snapshot."""

    at: datetime
    action: str
    what: str
    revision: str = ""
    """The id of the checkpoint that it saved."""


@command()
@checkpoint_argument(required=False)
@click.option("--all", "with_all", is_flag=True, help="Show all threads; do not ask which.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=Number(1, 1_000_000),
    help="Maximum number of events to show.",
)
def log(app: App, name: str | None, limit: int, *, with_all: bool) -> None:
    """Show revisions and events, newest first.

    With a name: all revisions of that checkpoint and what happened to them. On a terminal, without
    a name: choose one of the open threads.
    """
    if name is not None and with_all:
        raise UsageError("Name a checkpoint or pass --all, not both.")
    entry = app.workspace.find(name) if name is not None else None
    if entry is None and not with_all and has_several(app):
        entry = pick_open(app, "Whose history do you want to see?", "log")
    index = app.store.index()
    if entry is None:
        events, revisions = index.newest_events(limit), []
    else:
        revisions = index.revisions(entry.slot)
        found = {event.id: event for each in revisions for event in index.events_of(each.id)}
        events = sorted(found.values(), key=lambda event: event.at, reverse=True)[:limit]
    taken = _list_snapshots(app, entry.slot if entry else None, revisions, limit)
    if app.out.as_json:
        _print_json(app, revisions, events, taken)
        return
    happened = [*_list_lines(app, events), *(_format_snapshot(app, each) for each in taken)]
    happened.sort(key=lambda each: each.at, reverse=True)
    with app.out.paged():
        if app.out.is_for_person:
            _print_page(app, entry, revisions, happened[:limit])
        else:
            _print_plain(app, revisions, happened[:limit])


def _print_json(
    app: App,
    revisions: Sequence[CheckpointEntry],
    events: Sequence[StoreEvent],
    taken: Sequence[Snapshot],
) -> None:
    now = app.store.now()
    app.out.json(
        {
            "revisions": [describe_entry(each, now) for each in revisions],
            "events": [msgspec.to_builtins(event) for event in events],
            "snapshots": [msgspec.to_builtins(each) for each in taken],
        }
    )


def _print_plain(app: App, revisions: Sequence[CheckpointEntry], lines: Sequence[LogLine]) -> None:
    if revisions:
        app.out.table(_build_revision_columns(revisions))
        app.out.gap()
    places = max((_ACTION_CHARS, *(len(each.action) for each in lines)))
    shown = [
        f"{times.local(each.at)}  {each.action:{places}}  {each.what}".rstrip() for each in lines
    ]
    app.out.text(shown or "Nothing has happened yet.")


def _print_page(
    app: App,
    entry: CheckpointEntry | None,
    revisions: Sequence[CheckpointEntry],
    lines: Sequence[LogLine],
) -> None:
    """Print a history for a person: the thread, then what happened, newest first."""
    look = app.out.look
    if entry is not None:
        task = clean_line(entry.task)
        app.out.lines(layout_page(f"Task: {task}" if task else "", look, list_facts(app, entry)))
    name = key_of(entry) if entry else ""
    ids = [each.id for each in revisions]
    shown = [
        # The page of one thread shows the ids of its revisions instead of its name.
        LogLine(
            each.at,
            clean_line(each.action),
            clean_line(shorten_id(each.revision, ids, _SHORT_ID))
            if entry and each.revision
            else clean_line("" if each.what == name else each.what),
        )
        for each in lines
    ]
    places = max((width(each.action) for each in shown), default=0)
    for each in shown:
        app.out.lines(_layout_line(each, look, places))
    if not shown:
        app.out.text("Nothing has happened yet.")
    if len(revisions) > 1:
        hint = "`leftoff show ID` shows a revision, and `leftoff diff ID ID` compares two."
        app.out.lines(["", *(look.paint("quiet", row) for row in wrap_line(hint, look.columns))])


def _layout_line(line: LogLine, look: Look, places: int) -> list[str]:
    """Put the time, the action and its object in columns; on a narrow screen, the action below."""
    when = look.paint("quiet", times.local(line.at))
    room = look.columns - places - _BEFORE - 2
    if room < _SHORT_ID:
        named = [look.paint("name", cut(line.what, look.columns - _BEFORE))] if line.what else []
        first, *below = [*named, *wrap_line(line.action, look.columns - _BEFORE)]
        return [f"{when}  {first}", *(" " * _BEFORE + row for row in below)]
    what = look.paint("name", cut(line.what, room))
    return [f"{when}  {pad(line.action, places)}  {what}".rstrip()]


def _list_snapshots(
    app: App, thread: str | None, revisions: Sequence[CheckpointEntry], limit: int
) -> list[Snapshot]:
    if not app.project.is_git:
        return []
    sessions = {each.session_id for each in revisions}
    found = (
        each
        for _, each in list_snapshots(app.project)
        if thread is None or each.is_of(thread, sessions)
    )
    return [*itertools.islice(found, limit)]


def _format_snapshot(app: App, snapshot: Snapshot) -> LogLine:
    files = format_count(snapshot.files + snapshot.absent, "file")
    if app.out.is_for_person:
        action = f"snapshot of {files}, {describe_reason(snapshot)}"
        return LogLine(snapshot.at, action, snapshot.short_id)
    what = f"{snapshot.short_id}, {files}, {describe_reason(snapshot)}"
    return LogLine(snapshot.at, "snapshot", what)


def _build_revision_columns(entries: Sequence[CheckpointEntry]) -> dict[str, list[str]]:
    return {
        "revision": [f"{'*' if entry.is_head else ' '} {entry.id}" for entry in entries],
        "saved": [times.local(entry.saved_at) for entry in entries],
        "agent": [entry.agent or "" for entry in entries],
        "state": [format_state(entry) for entry in entries],
        "summary": [one_line(entry.task) for entry in entries],
        "next action": [next_line(entry.next_action or "") for entry in entries],
    }


def _list_lines(app: App, events: Sequence[StoreEvent]) -> Iterator[LogLine]:
    index = app.store.index()
    known = {event.id: event for event in events}
    for event in events:
        # For an undo or redo, show the event that it concerns.
        undone = known.get(event.of or "") or index.find_act(event.of or "")
        if undone is not None and undone.action == "undone":
            undone = known.get(undone.of or "") or index.find_act(undone.of or "") or undone
        subject = undone or event
        entries = [index.get(each) for each in subject.ids[:_NAMED]]
        names = dict.fromkeys(format_name(entry) for entry in entries if entry)
        named = subject.name if len(subject.ids) == 1 else None
        what = named or ", ".join(names) or ", ".join(subject.ids[:_NAMED])
        if subject.snapshots:
            what = f"snapshot {subject.snapshots[0][-8:]}"
        more = f" (+{len(subject.ids) - _NAMED})" if len(subject.ids) > _NAMED else ""
        detail = _describe_action(undone.action) if undone else _describe_reason(event)
        action = (
            f"{_describe_action(event.action)} ({detail})"
            if detail
            else _describe_action(event.action)
        )
        is_saved = event.action == "saved" and undone is None
        if is_saved:
            action = _describe_save(entries)
        revision = event.ids[0] if is_saved and len(event.ids) == 1 else ""
        yield LogLine(event.at, action, f"{what}{more}", revision)


def _describe_action(action: str) -> str:
    """Return an action in the words of the commands."""
    return {"consumed": "done", "code-restored": "restored code"}.get(action, action)


def _describe_save(entries: Sequence[CheckpointEntry | None]) -> str:
    """Describe why something was saved, and in which agent."""
    found = [entry for entry in entries if entry]
    reasons = dict.fromkeys(format_trigger(entry.trigger) for entry in found)
    agents = dict.fromkeys(f"in {entry.agent}" for entry in found if entry.agent)
    return ", ".join([*reasons, *agents]) or "saved"


def _describe_reason(event: StoreEvent) -> str:
    """Return in which agent something happened, or to which one it was handed over."""
    if event.trigger == BY_HAND_OVER:
        return f"handed over to {event.agent}"
    return f"in {event.agent}" if event.agent else ""
