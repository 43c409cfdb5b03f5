"""The `leftoff feature` commands: plan features and fixes, and record the attempts at them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar, get_args

import click

from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, command, format_fallback_notice, group, one_line
from leftoff.cli.ask_questions import choose
from leftoff.cli.complete_words import complete_from_store, complete_paths
from leftoff.cli.native_details import describe, list_details
from leftoff.cli.option_types import Number
from leftoff.errors import ChoiceNeeded, LeftoffError, UsageError
from leftoff.fingerprints import can_be_path, name_path
from leftoff.knowledge import features
from leftoff.knowledge.features import (
    Board,
    Ending,
    Feature,
    Fix,
    ItemDraft,
    Loop,
    Scenario,
    Status,
    Try,
)
from leftoff.store import Store
from leftoff.text import times

F = TypeVar("F", bound=Callable[..., Any])

_SEPARATOR = "::"


def _find_session_id(app: App) -> str | None:
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
    at_hand = features.load_loop(app.store, _find_session_id(app))
    if app.out.as_json or not items:
        app.out.result([_to_plain(each) for each in items], explain_empty_list(board))
        return
    app.out.table(build_columns(items))
    app.out.text(describe_attempt_at_hand(at_hand))


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
@click.option("--issue", type=Number(1), help="Its issue number.")
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
        scenarios=[_parse_scenario(each) for each in given["scenarios"]],
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
        features.start(app.store, item.id, session_id=_find_session_id(app))
        item = features.find(features.load(app.store), item.id)
    verb = "Started" if given["is_started"] else "Added"
    _print_result(app, _to_plain(item), f"{verb} {item.id}: {item.name}")


@command(name="show")
@_id_argument
@click.option(
    "--for-helper",
    is_flag=True,
    help="Print a summary for a helper agent (500 characters).",
)
def feature_show(app: App, key: str | None, *, for_helper: bool) -> None:
    """Show a feature or fix in full (default: the current one)."""
    board, loops = features.load(app.store), features.load_loops(app.store)
    at_hand = features.load_loop(app.store, _find_session_id(app))
    item = features.find(board, key) if key else _find_current(board, at_hand)
    if for_helper:
        text = features.brief_helper(app.store, item, verify=app.settings.verify)
        app.out.result({"text": text}, text)
        return
    found = [each for each in loops.values() if each.feature == item.id]
    fixes = [each for each in board.fixes if each.linked_to == item.id]
    plain = {**_to_plain(item), "loops": [to_plain(each) for each in found]}
    app.out.result(plain, format_item(item, found, fixes))


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
    item = features.find(board, key) if key else _find_current(board, None)
    waits = features.waits_for(board, item)
    try:
        loop = features.start(app.store, item.id, session_id=_find_session_id(app), again=again)
    except ChoiceNeeded as choice:
        chosen: Any = choose(app, choice)
        loop = features.start(app.store, item.id, session_id=_find_session_id(app), again=chosen)
    if waits:
        app.out.warn(f"{item.id} depends on unfinished features: {', '.join(waits)}")
    lines = [describe_attempt("Started", loop), *format_attempts(loop)]
    _print_result(app, to_plain(loop), lines)


@command(name="attempt")
@click.argument("words", nargs=-1, required=True, metavar="APPROACH...")
@click.option("--passed/--failed", help="Whether it worked.  [default: failed]")
@_try_options
@_check_option
def feature_attempt(app: App, words: tuple[str, ...], *, passed: bool, **given: Any) -> None:
    """Record an attempt and its result."""
    what = _try(" ".join(words), given, passed=passed)
    loop = features.attempt(app.store, what, session_id=_find_session_id(app))
    _print_result(app, to_plain(loop), confirm_attempt(loop))


@command(name="pass")
@_id_argument
@click.option("--approach", default="", help="What worked; saved to memory.")
@_check_option
def feature_pass(app: App, key: str | None, **given: Any) -> None:
    """Mark a feature or fix as passing (default: the current one)."""
    what = _try(given["approach"], given, passed=True)
    item = features.pass_(app.store, key, session_id=_find_session_id(app), what=what)
    _print_result(app, _to_plain(item), f"{item.id} passes: {item.name}")


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
        app.store, key, session_id=_find_session_id(app), what=what, status=status or "failing"
    )
    text = [
        f"{item.id} is {item.status}: {item.name}",
        f"Run `leftoff feature start {quote(item.id)}` to continue.",
    ]
    _print_result(app, _to_plain(item), text)


@command(name="archive")
@click.option("--restore", metavar="ID", help="Bring one back as open.")
def feature_archive(app: App, restore: str | None) -> None:
    """Archive the features and fixes that pass."""
    if restore:
        item = features.restore(app.store, restore)
        _print_result(app, {"restored": _to_plain(item)}, f"Restored {item.id}: {item.name}")
        return
    moved = features.archive(app.store)
    plain = {
        "features": [_to_plain(each) for each in moved.features],
        "fixes": [_to_plain(each) for each in moved.fixes],
    }
    _print_result(app, plain, moved.messages or "Nothing to archive: no feature passes.")


def _find_current(board: features.Board, loop: features.Loop | None) -> Feature | Fix:
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


def _parse_scenario(given: str) -> Scenario:
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


def _to_plain(item: Feature | Fix) -> dict[str, Any]:
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


# --- how features and attempts are shown ---


_LABEL = 11


def build_columns(items: Sequence[Feature | Fix]) -> dict[str, list[str]]:
    """Return the columns of a table of features and fixes."""
    cells = {
        "id": [each.id for each in items],
        "state": ["archived" if each.is_archived else each.status for each in items],
        "attempts": [str(each.attempts or "-") for each in items],
        "pr": [f"#{each.pr}" if each.pr else "-" for each in items],
        "summary": [one_line(each.name) for each in items],
    }
    if all(each.pr is None for each in items):
        del cells["pr"]
    return cells


def explain_empty_list(board: Board) -> str:
    """Return the text to show instead of an empty list."""
    if board.archive:
        return "All features are archived; `leftoff feature list --all` shows them."
    return 'No features yet. Add one with `leftoff feature add "Export orders"`.'


def describe_attempt_at_hand(loop: Loop | None) -> str:
    """Describe the current attempt in one line, if there is one."""
    if loop is None or not loop.is_under_way:
        return ""
    return describe_attempt("INTERRUPTED" if loop.interrupted else "In progress", loop)


def describe_attempt(verb: str, loop: Loop) -> str:
    """Describe which attempt a feature is at."""
    count = f"attempt {loop.attempt} of {loop.max_attempts}"
    named = " ".join(filter(None, (loop.feature, loop.name)))
    return f"{verb}: {named} ({count})"


def format_attempts(loop: Loop) -> list[str]:
    """List what was tried, one line per attempt."""
    return [
        f"  {each.attempt}. {each.result}: {each.approach}" + (f" -> {why}" if why else "")
        for each in loop.history
        for why in [each.root_cause or "; ".join(each.errors)]
    ]


def confirm_attempt(loop: Loop) -> list[str]:
    """Confirm a recorded attempt and name the next step."""
    last = loop.history[-1]
    noted = (
        f"Recorded attempt {last.attempt} of {loop.max_attempts} on {loop.feature}: {last.result}"
    )
    if loop.status == "escalated":
        return [noted, f"That was the last attempt: {loop.feature} is escalated to a person."]
    if last.result == "passed":
        return [noted, "Run `leftoff feature pass` to mark it as passing."]
    return [noted]


def format_item(item: Feature | Fix, loops: Sequence[Loop], fixes: Sequence[Fix]) -> Iterator[str]:
    """Yield everything known about a feature or fix, line by line."""
    state = "archived" if item.is_archived else item.status
    yield f"{item.id}: {item.name} [{state.replace('_', ' ')}]"
    for label, text in _list_fields(item):
        if text:
            yield f"{label:{_LABEL}}  {text}"
    yield from (_format_scenario(each) for each in item.scenarios)
    yield from (f"{'fix':{_LABEL}}  {each.id}: {each.name} [{each.status}]" for each in fixes)
    for loop in loops:
        at = loop.status.replace("_", " ")
        yield f"{'loop':{_LABEL}}  {at}, attempt {loop.attempt} of {loop.max_attempts}"
        yield from format_attempts(loop)


def _list_fields(item: Feature | Fix) -> Iterator[tuple[str, str]]:
    yield "what", item.description
    if isinstance(item, Fix):
        yield "repairs", item.linked_to
    else:
        yield "priority", str(item.priority or "")
        yield "depends on", ", ".join(item.dependencies)
    yield "phase", item.phase or ""
    yield "attempts", f"{item.attempts} of {item.max_attempts}" if item.attempts else ""
    yield "files", ", ".join(item.related_files)
    yield (
        "checks",
        ", ".join(f"{key} {describe(value)}" for key, value in item.verification.items()),
    )
    yield "issue", f"#{item.issue}" if item.issue else ""
    yield "pr", f"#{item.pr}" if item.pr else ""
    yield "branch", item.branch or ""
    yield "labels", ", ".join(item.labels)
    yield "noted", times.local(item.created_at) if item.created_at else ""
    yield "archived", times.local(item.archived_at) if item.archived_at else ""
    yield from list_details(item.extra)


def _format_scenario(scenario: Scenario) -> str:
    steps = [
        f"{word} {text}"
        for word, text in (
            ("given", scenario.given),
            ("when", scenario.when),
            ("then", scenario.then),
        )
        if text
    ]
    line = f"{scenario.scenario}: {', '.join(steps)}" if steps else scenario.scenario
    return f"{'must hold':{_LABEL}}  {line}"
