"""The `leftoff feature` command: track the attempts, failures and progress of features."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from leftoff.checkpoint import to_plain
from leftoff.cli import feature_view
from leftoff.cli.app import App, command, complete_from_store, complete_paths, group
from leftoff.cli.text_columns import format_fallback_notice
from leftoff.errors import ChoiceNeeded, LeftoffError, UsageError
from leftoff.fingerprints import can_be_path, name_path
from leftoff.knowledge import features
from leftoff.knowledge.features import Ending, Feature, Fix, ItemDraft, Scenario, Status, Try
from leftoff.store import Store

F = TypeVar("F", bound=Callable[..., Any])

_SEPARATOR = "::"


def _session_id(app: App) -> str | None:
    found = app.environment.find_session()
    return found[1] if found else None


def _complete_ids(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    def find_ids(store: Store) -> list[str]:
        items = features.load(store).items
        return [each.id for each in items if each.id.startswith(typed) and not each.is_archived]

    return complete_from_store(find_ids)


_id_argument = click.argument("key", metavar="[ID]", required=False, shell_complete=_complete_ids)


def _try_options(function: F) -> F:
    """Add the options that describe the result of an attempt."""
    for option in (
        click.option("--prevention", default="", help="How to prevent it."),
        click.option("--root-cause", "--why", default="", help="Why it failed."),
        click.option("--error", "errors", multiple=True, help="What went wrong; repeatable."),
    ):
        function = option(function)
    return function


def _check_option(function: F) -> F:
    option = click.option(
        "--check",
        "checks",
        multiple=True,
        metavar="NAME=RESULT",
        help="A check and its result, such as tests=passed; repeatable.",
    )
    return option(function)


@command(name="list")
@click.option("--all", "with_all", is_flag=True, help="Include archived ones.")
@click.option("--status", type=click.Choice(get_args(Status)), help="Only this status.")
def feature_list(app: App, *, with_all: bool, status: str | None) -> None:
    """List features and fixes, oldest first."""
    board = features.load(app.store)
    items = [
        each
        for each in board.items
        if (with_all or not each.is_archived) and status in {None, each.status}
    ]
    at_hand = features.loop(app.store, _session_id(app))
    if app.out.as_json or not items:
        app.out.result([_plain(each) for each in items], feature_view.none(board))
        return
    app.out.table(feature_view.columns(items))
    app.out.text(feature_view.under_way(at_hand))


@group(feature_list)
def feature() -> None:
    """Track features: attempts, failures, progress."""


@command(name="add")
@click.argument("words", nargs=-1, required=True, metavar="NAME...")
@click.option("--description", default="", help="What it does, in one sentence.")
@click.option("--priority", metavar="N", help="Priority, as a word or number.")
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="'NAME :: GIVEN :: WHEN :: THEN'",
    help="An acceptance scenario; repeatable.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    shell_complete=complete_paths,
    help="A file it touches; repeatable.",
)
@click.option("--depends", multiple=True, metavar="ID", help="A feature it depends on; repeatable.")
@click.option("--label", "labels", multiple=True, help="A label for pull requests; repeatable.")
@click.option("--issue", type=click.IntRange(min=1), metavar="N", help="Its issue number.")
@click.option("--branch", metavar="NAME", help="Its branch.")
@click.option("--fixes", metavar="ID", help="The feature it fixes.")
@click.option("--start", "is_started", is_flag=True, help="Start it right away.")
def feature_add(app: App, words: tuple[str, ...], **given: Any) -> None:
    """Add a feature or a fix."""
    priority = given["priority"]
    draft = ItemDraft(
        name=" ".join(words),
        description=given["description"],
        priority=int(priority) if priority and priority.isdecimal() else priority,
        scenarios=[_scenario(each) for each in given["scenarios"]],
        dependencies=given["depends"],
        related_files=[_name_path(app, each) for each in given["files"]],
        labels=given["labels"],
        issue=given["issue"],
        branch=given["branch"],
    )
    linked_to = given["fixes"]
    item = (
        features.add_fix(app.store, linked_to, draft)
        if linked_to
        else features.add(app.store, draft)
    )
    if given["is_started"]:
        features.start(app.store, item.id, session_id=_session_id(app))
        item = features.find(features.load(app.store), item.id)
    verb = "Started" if given["is_started"] else "Added"
    _print_result(app, _plain(item), f"{verb} {item.id}: {item.name}")


@command(name="show")
@_id_argument
@click.option(
    "--for-helper",
    is_flag=True,
    help="Print a summary for a helper agent (500 characters).",
)
def feature_show(app: App, key: str | None, *, for_helper: bool) -> None:
    """Show a feature or fix in full (default: the current one)."""
    board, loops = features.load(app.store), features.loops(app.store)
    at_hand = features.loop(app.store, _session_id(app))
    item = features.find(board, key) if key else _at_hand(board, at_hand)
    if for_helper:
        text = features.brief_helper(app.store, item, verify=app.settings.verify)
        app.out.result({"text": text}, text)
        return
    found = [each for each in loops.values() if each.feature == item.id]
    fixes = [each for each in board.fixes if each.linked_to == item.id]
    plain = {**_plain(item), "loops": [to_plain(each) for each in found]}
    app.out.result(plain, feature_view.format_item(item, found, fixes))


@command(name="start")
@_id_argument
@click.option(
    "--again",
    type=click.Choice(get_args(features.Again)),
    help="Continue interrupted work: the same attempt, a fresh approach, or a reset.",
)
def feature_start(app: App, key: str | None, again: features.Again | None) -> None:
    """Start or continue a feature (default: the first open one)."""
    board = features.load(app.store)
    item = features.find(board, key) if key else _at_hand(board, None)
    waits = features.waits_for(board, item)
    try:
        loop = features.start(app.store, item.id, session_id=_session_id(app), again=again)
    except ChoiceNeeded as choice:
        chosen: Any = app.choose(choice)
        loop = features.start(app.store, item.id, session_id=_session_id(app), again=chosen)
    if waits:
        app.out.warn(f"{item.id} depends on unfinished features: {', '.join(waits)}")
    lines = [feature_view.attempt_line("Started", loop), *feature_view.format_attempts(loop)]
    _print_result(app, to_plain(loop), lines)


@command(name="attempt")
@click.argument("words", nargs=-1, required=True, metavar="APPROACH...")
@click.option("--passed/--failed", help="Whether it worked.  [default: failed]")
@_try_options
@_check_option
def feature_attempt(app: App, words: tuple[str, ...], *, passed: bool, **given: Any) -> None:
    """Record an attempt and its result."""
    what = _try(" ".join(words), given, passed=passed)
    loop = features.attempt(app.store, what, session_id=_session_id(app))
    _print_result(app, to_plain(loop), feature_view.after_attempt(loop))


@command(name="pass")
@_id_argument
@click.option("--approach", default="", help="What worked; saved to memory.")
@_check_option
def feature_pass(app: App, key: str | None, **given: Any) -> None:
    """Mark a feature or fix as passing (default: the current one)."""
    what = _try(given["approach"], given, passed=True)
    item = features.pass_(app.store, key, session_id=_session_id(app), what=what)
    _print_result(app, _plain(item), f"{item.id} passes: {item.name}")


@command(name="fail")
@_id_argument
@click.option("--approach", default="", help="What failed; saved to memory.")
@_try_options
@click.option("--blocked", "status", flag_value="blocked", help="Something blocks it.")
@click.option("--escalate", "status", flag_value="escalated", help="A person needs to look at it.")
def feature_fail(app: App, key: str | None, status: Ending | None, **given: Any) -> None:
    """Mark a feature or fix as failing (default: the current one)."""
    what = _try(given["approach"], given, passed=False)
    item = features.fail(
        app.store, key, session_id=_session_id(app), what=what, status=status or "failing"
    )
    text = [
        f"{item.id} is {item.status}: {item.name}",
        f"Run `leftoff feature start {item.id}` to continue.",
    ]
    _print_result(app, _plain(item), text)


@command(name="archive")
@click.option("--restore", metavar="ID", help="Bring one back as open.")
def feature_archive(app: App, restore: str | None) -> None:
    """Archive the features and fixes that pass."""
    if restore:
        item = features.restore(app.store, restore)
        _print_result(app, {"restored": _plain(item)}, f"Restored {item.id}: {item.name}")
        return
    moved = features.archive(app.store)
    plain = {
        "features": [_plain(each) for each in moved.features],
        "fixes": [_plain(each) for each in moved.fixes],
    }
    _print_result(app, plain, moved.messages or "Nothing to archive: no feature passes.")


def _at_hand(board: features.Board, loop: features.Loop | None) -> Feature | Fix:
    if loop is not None and loop.feature:
        return features.find(board, loop.feature)
    if board.open_items:
        return board.active_feature or board.open_items[0]
    raise LeftoffError(
        "No feature is open.", hint='Add one: `leftoff feature add "Export orders"`.'
    )


def _try(approach: str, given: dict[str, Any], *, passed: bool) -> Try:
    return Try(
        approach=approach,
        result="passed" if passed else "failed",
        errors=given.get("errors", ()),
        root_cause=given.get("root_cause", ""),
        prevention=given.get("prevention", ""),
        verification=dict(_check(each) for each in given.get("checks", ())),
    )


def _check(given: str) -> tuple[str, str]:
    name, _, result = given.partition("=")
    if not name.strip() or not result.strip():
        raise UsageError(
            f"Invalid check {given!r}.", hint="Write NAME=RESULT, such as tests=passed"
        )
    return name.strip(), result.strip()


def _scenario(given: str) -> Scenario:
    """Parse `name :: given :: when :: then`, or a name alone."""
    parts = [part.strip() for part in given.split(_SEPARATOR)]
    if len(parts) not in {1, 4} or not parts[0]:
        raise UsageError(
            f"Invalid scenario {given!r}.",
            hint="Write 'NAME :: GIVEN :: WHEN :: THEN', or a name alone.",
        )
    name, given_, when, then = [*parts, "", "", ""][:4]
    return Scenario(scenario=name, given=given_, when=when, then=then)


def _name_path(app: App, path: str) -> str:
    """Resolve a path against the current folder, as the shell does."""
    if not can_be_path(path):
        raise UsageError(f"{path[:60]!r} is not a valid file path.")
    return name_path(Path.cwd(), path, app.project.worktree)


def _plain(item: Feature | Fix) -> dict[str, Any]:
    return {**to_plain(item), "status": item.status}


def _print_result(app: App, plain: object, text: str | Iterable[str]) -> None:
    app.out.result(plain, text)
    if (aside := features.waiting_in(app.store)) is not None:
        app.out.warn(format_fallback_notice(aside))


for _each in (
    feature_add,
    feature_show,
    feature_start,
    feature_attempt,
    feature_pass,
    feature_fail,
    feature_archive,
):
    feature.add_command(_each)
