"""The `leftoff show` command: show a checkpoint in full (default: the newest)."""

import sys
from datetime import timedelta

import click

from leftoff import cli
from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, command
from leftoff.cli.checkpoint_view import build_page
from leftoff.cli.choose_thread import has_several, pick_open
from leftoff.cli.complete_words import checkpoint_argument, complete_paths
from leftoff.cli.list import format_nothing_open, format_state, list_facts
from leftoff.errors import NoSuchCheckpoint, UsageError
from leftoff.snapshots.shelf import find_newest_of
from leftoff.store import CheckpointEntry
from leftoff.text.fence import join, say
from leftoff.threads import check_claims

_SNAPSHOT_DELAY = timedelta(seconds=30)


@command()
@checkpoint_argument(required=False)
@click.option(
    "--plan",
    metavar="NAME|PATH",
    shell_complete=complete_paths,
    help="Show the newest checkpoint of this plan.",
)
@click.option("--latest", is_flag=True, help="Show the newest; do not ask which.")
@click.option("--raw", is_flag=True, help="Print the file unchanged, even if it is damaged.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html", "json"]),
    help="Print it as Markdown, a web page or JSON, to keep or send.",
)
def show(  # noqa: PLR0913 - one argument per option
    app: App, name: str | None, plan: str | None, form: str | None, *, latest: bool, raw: bool
) -> None:
    """Show a checkpoint in full (default: the newest).

    On a terminal, without a name: choose one of the open threads.
    """
    if name is not None and plan is not None:
        raise UsageError("Name a checkpoint or a plan, not both.")
    if latest and name is not None:
        raise UsageError("Name a checkpoint or pass --latest, not both.")
    if form is not None and (raw or (app.out.as_json and form != "json")):
        raise UsageError("--format cannot be combined with --raw or --json.")
    app.out.as_json = app.out.as_json or form == "json"
    entry = _choose(app, name, plan, is_newest=latest)
    if raw:
        _show_raw(app, entry)
    elif form in {"md", "html"}:
        render = cli.page_formats.to_html if form == "html" else cli.page_formats.to_markdown
        app.out.exact(render(app.store.load(entry), format_state(entry)))
    else:
        _show(app, entry)


def _choose(app: App, name: str | None, plan: str | None, *, is_newest: bool) -> CheckpointEntry:
    if name is not None:
        return app.workspace.find(name)
    if not (plan or is_newest) and has_several(app):
        return pick_open(app, "Which one do you want to see?", "show")
    return _newest(app, plan)


def _newest(app: App, plan: str | None) -> CheckpointEntry:
    entry = check_claims.find_newest_of_plan(app.store, plan) if plan else _find_newest(app)
    if entry is None and plan:
        raise NoSuchCheckpoint(
            f"No checkpoint found for the plan {plan}",
            hint="Run `leftoff show` for the newest one, or `leftoff status --plan` for the plans.",
        )
    if entry is None:
        empty = "No saved checkpoints found."
        nothing = format_nothing_open(app, empty)
        hint = ["Run `leftoff save` to create one."]
        if nothing != empty:
            hint = ["Name one, or run `leftoff save` to create one."]
        hint += cli.everywhere_view.point_elsewhere(app)
        raise NoSuchCheckpoint(nothing, hint=" ".join(hint))
    return entry


def _find_newest(app: App) -> CheckpointEntry | None:
    return check_claims.find_newest(app.store, prefers_saved=app.settings.offers == "latest")


def _show(app: App, entry: CheckpointEntry) -> None:
    checkpoint = app.store.load(entry)
    path = str(app.store.path_of(entry))
    # The snapshot is taken right after the save.
    until = entry.saved_at + _SNAPSHOT_DELAY
    revisions = app.store.index().revisions(entry.slot)
    sessions = {each.session_id for each in revisions}
    taken = find_newest_of(app.project, entry.slot, sessions, until=until)
    if app.out.as_json:
        snapshot = taken.short_id if taken else None
        place = {"state": entry.state, "path": path, "snapshot": snapshot}
        app.out.json({**to_plain(checkpoint), **place})
        return
    # A person has read these in the line below the task, and types names instead of ids and paths.
    besides = ("agent", "worktree", "session_id", "id") if app.out.is_for_person else ()
    state, now = format_state(entry), app.store.now()
    page = build_page(checkpoint, state, now, revisions, besides=besides)
    code = say("Snapshot of the code: {id}", id=taken.short_id) if taken else say("")
    file = say("") if app.out.is_for_person else say("File: {path}", path=path)
    with app.out.paged():
        app.out.briefing({}, join([page, code, file]), list_facts(app, entry))


def _show_raw(app: App, entry: CheckpointEntry) -> None:
    data = app.store.read_raw(entry)
    text = data.decode("utf-8", "replace")
    if app.out.as_json:
        app.out.json({"id": entry.id, "path": str(app.store.path_of(entry)), "raw": text})
    # Only a pipe gets the exact bytes: on a terminal, control characters could do harm.
    elif app.out.is_terminal:
        app.out.exact(text.splitlines())
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
