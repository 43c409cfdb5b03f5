"""The `leftoff memory` command: keep decisions, failed approaches and rules."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from leftoff.checkpoint import split_reason
from leftoff.cli.app import App, clean_line, command, format_fallback_notice, group, one_line
from leftoff.cli.complete_words import complete_paths
from leftoff.cli.list import shorten_id
from leftoff.cli.look import ThreadRow, layout_threads
from leftoff.cli.native_details import list_details
from leftoff.cli.option_types import Number
from leftoff.errors import UsageError
from leftoff.knowledge import memory as book
from leftoff.knowledge.memory import CONFIDENCES, KINDS, STATUSES, EntryDraft, MemoryEntry, Status
from leftoff.knowledge.memory.entry import UNDATED
from leftoff.text import times
from leftoff.threads.compose import read_feature

F = TypeVar("F", bound=Callable[..., Any])

_NONE = "No entries found."

kind_option = click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; repeatable."
)
all_option = click.option(
    "--all", "with_all", is_flag=True, help="Include entries that are not active."
)
limit_option = click.option(
    "--limit",
    default=book.MOST_DECISIONS,
    show_default=True,
    type=Number(1, 1_000_000),
    help="Maximum number to show.",
)


@command(name="list")
@kind_option
@click.option("--status", type=click.Choice(STATUSES), help="Only this status.")
@click.option("--feature", metavar="ID", help="Only this feature's entries.")
@click.option("--source", metavar="ID", help="Only entries from this session or checkpoint.")
@all_option
@limit_option
def memory_list(app: App, *, limit: int, **given: Any) -> None:
    """List entries, newest first."""
    kinds, feature = given["kinds"] or KINDS, given["feature"]
    statuses = _list_statuses(given["status"], with_all=given["with_all"])
    if given["source"] is None:
        found = book.entries(
            app.store, kinds=kinds, statuses=statuses, feature=feature, limit=limit
        )
    else:
        entries = book.from_source(app.store, given["source"])
        here = [each for each in entries if each.kind in kinds and each.status in statuses]
        found = [each for each in here if feature in {None, each.feature}][:limit]
    _show_list(app, found)


def _list_statuses(status: Status | None, *, with_all: bool) -> Sequence[Status]:
    if status is not None:
        return [status]
    return STATUSES if with_all else ["active"]


def _show_list(app: App, found: Sequence[MemoryEntry]) -> None:
    if app.out.as_json or not found:
        app.out.result([book.plain(entry) for entry in found], _NONE)
        return
    if app.out.is_for_person:
        with app.out.paged():
            app.out.lines(layout_threads(_build_rows(app, found), app.out.look, mark="—"))
        return
    columns: dict[str, list[str]] = {
        "id": [entry.id for entry in found],
        "kind": [entry.kind for entry in found],
        "said": [_format_time(entry) for entry in found],
    }
    if any(entry.status != "active" for entry in found):
        columns["state"] = [entry.status for entry in found]
    if any(entry.feature for entry in found):
        columns["feature"] = [entry.feature or "-" for entry in found]
    columns["summary"] = [one_line(_format_text(entry)) for entry in found]
    app.out.table(columns)


def _build_rows(app: App, found: Sequence[MemoryEntry]) -> list[ThreadRow]:
    """Return a row for each entry, for a person: what it says, then why."""
    now, ids = app.store.now(), [entry.id for entry in found]
    return [
        ThreadRow(
            task=clean_line(entry.text),
            name=clean_line(shorten_id(entry.id, ids)),
            age="" if entry.extra.get(UNDATED) else times.age((now - entry.at).total_seconds()),
            state=entry.kind if entry.status == "active" else f"{entry.kind}, {entry.status}",
            branch=clean_line(entry.feature),
            next_action=clean_line(entry.reason),
        )
        for entry in found
    ]


def _format_time(entry: MemoryEntry) -> str:
    return "-" if entry.extra.get(UNDATED) else times.local(entry.at)


def _format_text(entry: MemoryEntry) -> str:
    return f"{entry.text} — {entry.reason}" if entry.reason else entry.text


@group(memory_list)
def memory() -> None:
    """Keep decisions, failed approaches and rules.

    Entries outlive checkpoints and reach later sessions in their briefing.
    """


# The text of an entry may contain words such as -x, which are not options.
@command(name="add", context_settings={"ignore_unknown_options": True})
@click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("--why", default="", help="The reason, root cause, or an entity's type.")
@click.option("--feature", metavar="ID", help="The feature it belongs to.")
@click.option("--alternative", multiple=True, help="An alternative you considered; repeatable.")
@click.option("--impact", default="", help="The files or parts it affects.")
@click.option("--confidence", type=click.Choice(CONFIDENCES), help="How sure it is.")
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    shell_complete=complete_paths,
    help="A file; repeatable.",
)
@click.option("--relation", multiple=True, help="How an entity relates to another; repeatable.")
@click.option("--source", multiple=True, metavar="ID", help="A checkpoint or session; repeatable.")
@click.option("--queue", is_flag=True, help="Queue it for `leftoff memory approve`.")
def memory_add(app: App, kind: book.Kind, words: tuple[str, ...], **given: Any) -> None:
    """Add an entry, or a source to an existing one.

    A rejected entry stays rejected; approve it to bring it back.
    """
    text, why = " ".join(words), given["why"]
    if kind in {"decision", "failure"} and not why:
        # As people write it in `leftoff save`.
        text, why = split_reason(text)
    draft = EntryDraft(
        kind=kind,
        text=text,
        why=why,
        feature=given["feature"] or _find_feature(app, kind),
        alternatives=list(given["alternative"]),
        impact=given["impact"],
        confidence=given["confidence"],
        files=list(given["files"]),
        relations=list(given["relation"]),
        sources=list(given["source"]) or _list_sources(app),
    )
    new = book.add(app.store, [draft], status="queued" if given["queue"] else "active")
    entry = new[0] if new else book.twin(app.store, draft)
    assert entry is not None  # noqa: S101 - either it was added, or its twin exists
    _print_result(
        app, {"added": bool(new), **book.plain(entry)}, _format_added(entry, is_new=bool(new))
    )


def _find_feature(app: App, kind: book.Kind) -> str | None:
    """Return the feature at hand, to which a decision or an attempt belongs."""
    if kind not in {"decision", "failure", "success"}:
        return None
    session = next(iter(_list_sources(app)), "")
    return read_feature(app.store, app.settings, {"session_id": session}).get("feature")


def _list_sources(app: App) -> list[str]:
    found = app.environment.find_session()
    return [found[1]] if found and found[1] else []


def _format_added(entry: MemoryEntry, *, is_new: bool) -> str | list[str]:
    label = f"{entry.kind} {entry.id}: {one_line(entry.text)}"
    if is_new:
        return f"Queued {label}" if entry.status == "queued" else f"Remembered {label}"
    if entry.status in {"rejected", "superseded"}:
        return [
            f"Not added, because it was {entry.status} before: {label}",
            f"Run `leftoff memory approve {entry.id}` to bring it back.",
        ]
    return f"Already known: {label}"


@command(name="search", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True)
@kind_option
@all_option
@limit_option
def memory_search(app: App, words: tuple[str, ...], *, limit: int, **given: Any) -> None:
    """Search entries, newest first.

    The last word matches as a prefix.
    """
    found = book.search(
        app.store,
        " ".join(words),
        kinds=given["kinds"] or None,
        statuses=_list_statuses(None, with_all=given["with_all"]),
        limit=limit,
    )
    _show_list(app, found)


@command(name="show")
@click.argument("entry_id", metavar="ID")
def memory_show(app: App, entry_id: str) -> None:
    """Show an entry in full."""
    entry = book.find(app.store, entry_id)
    rows = {
        "Kind": entry.kind,
        "State": _format_state(entry),
        "Said": _format_time(entry),
        "Why": entry.reason,
        "Context": "" if entry.reason else entry.why,
        "Instead of": "; ".join(entry.alternatives),
        "Impact": entry.impact,
        "Feature": entry.feature or "",
        "Confidence": entry.confidence or "",
        "Files": ", ".join(entry.files),
        "Relations": "; ".join(entry.relations),
        "Sources": ", ".join(entry.sources),
    }
    lines = [f"  {name:<12}{value}" for name, value in rows.items() if value]
    lines += [f"  {name:<11} {value}" for name, value in list_details(entry.extra)]
    app.out.result(book.plain(entry), [f"{entry.id}  {entry.text}", *lines])


def _format_state(entry: MemoryEntry) -> str:
    return f"{entry.status} by {entry.superseded_by}" if entry.superseded_by else entry.status


def _print_change(app: App, entry: MemoryEntry, done: str) -> None:
    _print_result(app, book.plain(entry), _format_change(entry, done))


def _format_change(entry: MemoryEntry, done: str) -> str:
    return f"{done} {entry.kind} {entry.id}: {one_line(entry.text)}"


def _judge(app: App, ids: tuple[str, ...], done: str, **change: Any) -> None:
    # Look up all ids first, so that a wrong one changes nothing.
    found = [book.find(app.store, entry_id) for entry_id in ids]
    new = [book.change(app.store, entry.id, **change) for entry in found]
    text = [_format_change(entry, done) for entry in new]
    _print_result(app, [book.plain(entry) for entry in new], text)


def _print_result(app: App, plain: object, text: str | list[str]) -> None:
    app.out.result(plain, text)
    if (aside := book.waiting_in(app.store)) is not None:
        app.out.warn(format_fallback_notice(aside))


@command(name="approve")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def memory_approve(app: App, ids: tuple[str, ...]) -> None:
    """Activate queued, rejected or superseded entries."""
    _judge(app, ids, "Approved", status="active")


@command(name="edit", context_settings={"ignore_unknown_options": True})
@click.argument("entry_id", metavar="ID")
@click.argument("words", nargs=-1, metavar="[TEXT...]")
@click.option("--why", help="The new reason.")
def memory_edit(app: App, entry_id: str, words: tuple[str, ...], why: str | None) -> None:
    """Change the text of an entry.

    Adding the old text again leads to this entry, not to a new one.
    """
    if not words and why is None:
        raise UsageError("Nothing to change.", hint="Pass the new text, --why, or both.")
    text = " ".join(words) if words else None
    _print_change(app, book.change(app.store, entry_id, text=text, why=why), "Edited")


@command(name="reject")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--why", help="Why you rejected it.")
def memory_reject(app: App, ids: tuple[str, ...], why: str | None) -> None:
    """Reject entries, and keep them from coming back."""
    _judge(app, ids, "Rejected", status="rejected", why=why)


@command(name="supersede")
@click.argument("entry_id", metavar="ID")
@click.argument("by", metavar="NEW_ID")
def memory_supersede(app: App, entry_id: str, by: str) -> None:
    """Replace an entry with another."""
    entry = book.change(app.store, entry_id, status="superseded", by=by)
    _print_change(app, entry, f"Superseded by {entry.superseded_by}:")


for _each in (
    memory_add,
    memory_search,
    memory_show,
    memory_approve,
    memory_edit,
    memory_reject,
    memory_supersede,
):
    memory.add_command(_each)
