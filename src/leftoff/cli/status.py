"""The `leftoff status` command: show where you are and what is open."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from leftoff import cli, knowledge, session, snapshots, wiring
from leftoff.checkpoint import ContextUse
from leftoff.cli.app import App, command, next_line
from leftoff.cli.list import (
    age_of,
    build_rows,
    describe_entry,
    format_name,
    format_nothing_open,
    locate_worktrees,
    shorten_path,
    show_running,
    show_working,
    warn_of_other_stores,
)
from leftoff.errors import LeftoffError, NotAProject, UsageError
from leftoff.git import query
from leftoff.projects.project import Project
from leftoff.store import LISTED, CheckpointEntry, StoreIndex
from leftoff.text import times
from leftoff.text.plural import format_bytes, format_count

if TYPE_CHECKING:
    from leftoff.session.unsaved_work import UnsavedSession
    from leftoff.wiring.hooks_state import HooksState

_SHOWN = 5
_SHOWN_ELSEWHERE = 5
_LATEST = 20
_LEAST_PERCENT = 1


@command()
@click.option("--plan", "with_plan", is_flag=True, help="Show the plan, its stage and helpers.")
@click.option("--next", "with_next", is_flag=True, help="Recommend what to do next.")
def status(app: App, *, with_plan: bool, with_next: bool) -> None:
    """Show where you are and what is open."""
    if with_plan and with_next:
        raise UsageError("Pass --plan or --next, not both.")
    app.await_ends()
    if with_plan:
        from leftoff.cli import plan_view  # noqa: PLC0415 - 30 ms, and few calls need it

        plan_view.show_plan(app)
    elif with_next:
        from leftoff.cli import next_view  # noqa: PLC0415 - 31 ms, same

        next_view.show_next(app)
    elif _is_in_project(app):
        _show(app)
    else:
        _show_outside(app)


def _is_in_project(app: App) -> bool:
    """Return whether this folder is a project: any plain folder becomes one when it is used."""
    try:
        project = app.project
    except NotAProject:
        return False
    is_used = project.is_git or project.earlier or project.store.is_dir()
    return bool(is_used or app.workspace.find_unsaved())


def _show_outside(app: App) -> None:
    """Show what is open in all projects, where there is no project."""
    found = cli.everywhere_view.read_everywhere(app, _SHOWN_ELSEWHERE)
    hooks = wiring.hooks_state.read_hooks(app.environment, None)
    if app.out.as_json:
        listed = cli.everywhere_view.describe_threads(found)
        app.out.json({"project": None, "hooks": hooks.state, "everywhere": listed})
        return
    facts = {"project": "none here", "hooks": hooks.text}
    if app.out.is_for_person:
        cli.everywhere_view.show_page(app, facts, found, is_well=hooks.saves)
        return
    app.out.text([f"{label:9}{text}" for label, text in facts.items()])
    cli.everywhere_view.show_elsewhere(app, found)


class _Standing(NamedTuple):
    """What the status says about the work in this project."""

    entries: list[CheckpointEntry]
    open_count: int
    declined: int
    context: ContextUse | None
    hooks: "HooksState"
    last: CheckpointEntry | None
    unsaved: "list[UnsavedSession]"
    prompts: int
    rules: int
    """How many rules wait for review."""
    unreadable: int


def _read_hooks(app: App) -> "HooksState":
    return wiring.hooks_state.read_hooks(app.environment, app.project)


def _show(app: App) -> None:
    index = app.store.index()
    last = _find_last_save(index)
    # One that cannot be read has no name, no task and nothing to do.
    unreadable = [each for each in index.unreadable() if each.is_head and each.state in LISTED]
    listed = app.workspace.list_checkpoints(limit=_SHOWN + len(unreadable))
    found = _Standing(
        entries=[each for each in listed if not each.problem][:_SHOWN],
        open_count=index.count_heads([*LISTED]) - len(unreadable),
        declined=index.count_heads(["declined"]),
        context=_find_context_use(app, last),
        hooks=_read_hooks(app),
        last=last,
        unsaved=app.workspace.find_unsaved(),
        prompts=_count_prompts(app),
        rules=_count_rules(app),
        unreadable=len(unreadable),
    )
    app.workspace.warn_of_ignored_checks()
    place = _place(app)
    warn_of_other_stores(app, is_empty=not found.open_count)
    if app.out.as_json:
        app.out.json({**place, **_describe(app, found)})
    elif app.out.is_for_person:
        _show_page(app, place, found)
    else:
        app.out.text([f"{label:9}{text}" for label, text in _list_facts(app, place, found)])
        _show_work(app, found)


def _show_page(app: App, place: dict[str, Any], found: _Standing) -> None:
    """Show the status to a person, who does not need the paths of leftoff's own files."""
    page = cli.status_page
    facts = dict(_list_facts(app, place, found))
    changed = facts.pop("changed", "")
    if changed and "branch" in facts:
        facts["branch"] += f", {changed} changed" if place["changed"] else ", nothing changed"
    for label in ("project", "worktree"):
        if label in facts:
            facts[label] = shorten_path(app, Path(facts[label]))
    heading = facts.pop("open") if found.entries else ""
    shown = {label: text for label, text in facts.items() if label not in _FOR_SCRIPTS}
    # After a semicolon, the text says what to do about a problem.
    is_well = found.hooks.state == "on" and ";" not in found.hooks.text
    warnings = ["prompts", "memory", "damaged", *([] if is_well else ["hooks"])]
    page.print_facts(app, shown, warnings=warnings)
    if found.unsaved:
        app.out.gap()
        app.out.text(cli.unsaved_view.format_unsaved(app, found.unsaved))
    show_running(app)
    show_working(app)
    if found.entries:
        rows = build_rows(app, found.entries, app.store.now())
        more = "`leftoff list` shows all of them."
        is_cut = found.open_count > len(rows)
        page.print_threads(app, rows, f"Open: {heading}", more, is_cut=is_cut)


_FOR_SCRIPTS = ("store", "code")


def _describe(app: App, found: _Standing) -> dict[str, Any]:
    unsaved = cli.unsaved_view.describe_unsaved(app, found.unsaved) if found.unsaved else []
    now = app.store.now()
    return {
        "hooks": found.hooks.text if found.hooks.state != "on" else "on",
        "hooks_state": found.hooks.state,
        "context": msgspec.to_builtins(found.context) if found.context else None,
        "saved_at": found.last.saved_at.isoformat() if found.last else None,
        "prompts": found.prompts,
        "count": found.open_count - found.declined,
        "declined": found.declined,
        "checkpoints": [describe_entry(entry, now) for entry in found.entries],
        "unsaved": unsaved,
    }


def _list_facts(app: App, place: dict[str, Any], found: _Standing) -> Iterator[tuple[str, str]]:
    """Yield the facts about the project, each with its label."""
    yield from _locate(place, found.context)
    yield "hooks", found.hooks.text
    if found.last is not None:
        age = times.age((app.store.now() - found.last.saved_at).total_seconds())
        yield "saved", f"{age}, {format_name(found.last)}"
    if found.prompts:
        waits = "prompt waits" if found.prompts == 1 else "prompts wait"
        yield "prompts", f"{found.prompts} {waits} for an answer; run `leftoff prompts`"
    if found.rules:
        waits = "waits" if found.rules == 1 else "wait"
        text = f"{format_count(found.rules, 'rule')} {waits} for review"
        yield "memory", f"{text}; run `leftoff reflect --review`"
    if found.unreadable:
        yield "damaged", f"{format_count(found.unreadable, 'checkpoint')}; run `leftoff list`"
    count = found.open_count - found.declined
    yield "open", _format_open(app, count, found.declined, hooks=found.hooks)


def _show_work(app: App, found: _Standing) -> None:
    """Show the unsaved sessions and the newest threads."""
    if found.unsaved:
        app.out.gap()
        app.out.text(cli.unsaved_view.format_unsaved(app, found.unsaved))
    show_running(app)
    show_working(app)
    if found.entries:
        now = app.store.now()
        app.out.gap()
        app.out.table(
            {
                "name": [format_name(entry) for entry in found.entries],
                "age": [age_of(entry, now) for entry in found.entries],
                "state": [entry.state for entry in found.entries],
                **locate_worktrees(app, found.entries),
                "next action": [next_line(entry.next_action) for entry in found.entries],
            }
        )


def _find_last_save(index: StoreIndex) -> CheckpointEntry | None:
    """Return the newest checkpoint of work that was saved when it was done, and not undone."""
    newest = index.newest(_LATEST)
    # What was recovered or imported is older than its save.
    late, gone = ("recovered", "import"), ("undone", "dropped", "cleared")
    saved = (
        each
        for each in newest
        if each.state not in gone and each.trigger not in late and not each.problem
    )
    return next(saved, None)


def _count_prompts(app: App) -> int:
    """Count the prompts that hooks kept and no session is working on; one log says so."""
    if not any(path.exists() for path in app.store.log_paths("prompts")):
        return 0
    lives = session.records.list_lives(app.project.state_folder, app.project)
    running = {life.session_id for life in lives if not life.has_crashed}
    kept = session.prompt_queue.list_kept(app.store)
    return sum(each.session_id not in running for each in kept)


def _count_rules(app: App) -> int:
    """Count the rules that wait for review; most projects have no memory, so do not load it."""
    if not any(path.exists() for path in app.store.log_paths("memory")):
        return 0
    return knowledge.memory.count_waiting_rules(app.store)


def _format_open(app: App, count: int, declined: int, *, hooks: "HooksState") -> str:
    if declined:
        return f"{count or 'nothing'}; {declined} declined"
    if count:
        return format_count(count, "thread")
    saves = (
        "sessions save automatically"
        if hooks.state == "on"
        else "run `leftoff save` to create a checkpoint"
    )
    nothing = format_nothing_open(app, f"Nothing; {saves}")
    return nothing.replace("Nothing is open;", "nothing;").replace("Nothing;", "nothing;")


def _place(app: App) -> dict[str, Any]:
    project = app.project
    state = query.read_state(project.worktree, with_commit=False) if project.is_git else None
    is_linked = project.worktree != project.root
    return {
        "project": str(project.root),
        "worktree": str(project.worktree) if is_linked else None,
        "branch": state.branch if state else None,
        "head": state.head if state else None,
        "changed": len(state.dirty) if state else None,
        "changed_is_more": state.is_truncated if state else None,
        "store": _find_store(project),
        "snapshots": _measure_snapshots(project),
    }


def _find_store(project: Project) -> str | None:
    """Return where the checkpoints are; None if nothing was saved yet."""
    places = (project.store, project.fallback)
    return next((str(each) for each in places if (each / "checkpoints").is_dir()), None)


def _measure_snapshots(project: Project) -> int | None:
    if not project.is_git:
        return None
    return snapshots.retention.measure(project) if project.has_snapshots else 0


def _find_context_use(app: App, last: CheckpointEntry | None) -> ContextUse | None:
    """Return the context use at the last save, if that recorded it."""
    if last is None:
        return None
    try:
        return app.store.load(last).context
    except (LeftoffError, OSError):
        # `leftoff list` reports unreadable files.
        return None


def _locate(place: dict[str, Any], context: ContextUse | None) -> Iterator[tuple[str, str]]:
    shown = {**place}
    if place["head"]:
        shown["branch"] = place["branch"] or f"detached at {place['head'][:8]}"
    shown.pop("head")
    if place["changed"] is not None:
        is_more = bool(place["changed_is_more"])
        shown["changed"] = format_count(place["changed"], "file", is_more=is_more)
    shown.pop("changed_is_more")
    size = shown.pop("snapshots")
    shown["code"] = f"{format_bytes(size)} in snapshots" if size else None
    # A nearly empty context is not worth a line.
    if context is not None and (context.percent or 0) >= _LEAST_PERCENT:
        shown["context"] = f"{context.percent:.0f} % at the last save"
    yield from ((key, str(value)) for key, value in shown.items() if value is not None)
