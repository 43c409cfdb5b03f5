"""Show `leftoff status --plan`: plan, stage, tests, helpers and checkpoints on one page."""

import contextlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, one_line
from leftoff.store import Store
from leftoff.text import times
from leftoff.text.plural import format_count
from leftoff.threads import dashboard as use_case
from leftoff.threads.dashboard import Dashboard, PlanLine

_RULE = "━" * 53
_TODOS = 5
_TIPS = (
    ("leftoff save", "save where you are"),
    ("leftoff resume", "resume where you left off"),
    ("leftoff list", "list open checkpoints"),
)


def show_plan(app: App) -> None:
    """Show the work in progress; change nothing."""
    # Not app.store: opening that imports edits in mirrored files and updates the index.
    with contextlib.closing(Store(app.project, leaves_no_trace=True)) as store:
        found = use_case.read_dashboard(store, app.settings)
    app.out.result(_to_plain(found), _format_page(found))


def _to_plain(found: Dashboard) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(found)
    plain["feature"] = to_plain(found.feature) if found.feature else None
    plain["todos"] = [to_plain(todo) for todo in found.todos]
    return plain


def _format_page(found: Dashboard) -> Iterator[str]:
    yield from (_RULE, "  DASHBOARD", _RULE)
    yield from _format_active(found) if found.layout != "none" else _format_inactive(found)
    if found.last_checkpoint_at is not None:
        yield from (
            "",
            "Context:",
            f"  Last checkpoint: {_format_age(found, found.last_checkpoint_at)}",
        )
        yield from _format_checkpoints(found)
    if found.suggestions:
        yield from ("", "Suggestions:", *(f"  - {each}" for each in found.suggestions))
    yield from ("", "Tips:", *(f"  {command:16}{meaning}" for command, meaning in _TIPS), _RULE)


def _format_active(found: Dashboard) -> Iterator[str]:
    yield "Active:"
    if found.plan is not None:
        yield f"  Plan:     {_plan(found, found.plan)}"
    if found.tdd is not None:
        known = [found.tdd.target or found.tdd.id, (found.tdd.phase or "-").upper(), found.tdd.mode]
        yield f"  TDD:      {'  '.join(one_line(each) for each in known if each)}"
    if found.feature is not None:
        loop = found.feature
        attempt = f"attempt {loop.attempt} of {loop.max_attempts}"
        yield f"  Feature:  {loop.feature} {one_line(loop.name)}  {loop.phase or '-'}  {attempt}"
    if found.delegation:
        yield f"  Delegate: {format_count(found.agents, 'agent')} running"
        for number, task in enumerate(found.delegation, 1):
            agent = f"  {one_line(task.agent)}" if task.agent else ""
            yield f"    Task {number}: {one_line(task.what)} ({task.status}){agent}"
    for todo in found.todos[:_TODOS]:
        yield f"  Todo:     {one_line(todo.text)} ({todo.status.replace('_', ' ')})"


def _format_inactive(found: Dashboard) -> Iterator[str]:
    yield "  No active work detected."
    if found.recent_plans:
        yield from ("", "  Recent plans:")
        yield from (f"    {_plan(found, plan)}" for plan in found.recent_plans)


def _plan(found: Dashboard, plan: PlanLine) -> str:
    stage = _format_stage(plan)
    if found.layout == "none":
        status = plan.status or "paused"
        return f"{plan.name}  {stage}  {status} {_format_date(plan.updated_at)}"
    age = _format_age(found, plan.updated_at) if plan.updated_at else ""
    return f"{plan.name}  {stage}  {age}".rstrip()


def _format_stage(plan: PlanLine) -> str:
    """Format the stage of a plan: a number, a word, or both."""
    word = one_line(str(plan.stage)) if plan.stage is not None else "-"
    if plan.number is None:
        return f"Stage {word}"
    total = f"/{plan.total}" if plan.total else ""
    named = f" ({word})" if isinstance(plan.stage, str) and not word.isdecimal() else ""
    return f"Stage {plan.number}{total}{named}"


def _format_checkpoints(found: Dashboard) -> Iterator[str]:
    for saved in found.checkpoints:
        name = f"{saved.name}: " if saved.name else ""
        yield f"    {_format_age(found, saved.saved_at):9} {name}{one_line(saved.summary)}"
    if found.checkpoints and found.checkpoints[0].next_action:
        yield f"  Next action: {one_line(found.checkpoints[0].next_action, 100)}"


def _format_age(found: Dashboard, moment: datetime) -> str:
    return times.age((found.at - moment).total_seconds())


def _format_date(moment: datetime | None) -> str:
    return f"{moment.astimezone():%Y-%m-%d}" if moment else "-"
