"""Collect everything in progress for the dashboard, without changing any file."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.checkpoint import Checkpoint, Todo
from leftoff.config import Settings
from leftoff.errors import LeftoffError
from leftoff.knowledge import features
from leftoff.knowledge.features import Loop
from leftoff.profiles import sail_format, sail_plans
from leftoff.profiles.sail_plans import DelegatedTask, StagedPlan, TddSession
from leftoff.store import LISTED, CheckpointEntry, Store

_CHECKPOINTS = 3
_RECENT_PLANS = 5
_NAMED = 5
_SAVE_AFTER = timedelta(hours=1)
_IDLE_AFTER = timedelta(days=7)
_IDLE_PLANS = 2
_DONE = frozenset({"completed", "done", "cancelled"})

Layout = Literal["active", "none", "delegation"]


class PlanLine(msgspec.Struct, frozen=True, kw_only=True):
    """A plan and its progress."""

    name: str
    stage: int | float | str | None = None
    number: int | None = None
    total: int | None = None
    status: str = ""
    updated_at: datetime | None = None


class CheckpointSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The main fields of a checkpoint."""

    name: str | None = None
    saved_at: datetime
    summary: str | None = None
    next_action: str | None = None


class Dashboard(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is in progress."""

    layout: Layout
    at: datetime
    plan: PlanLine | None = None
    tdd: TddSession | None = None
    delegation: list[DelegatedTask] = []
    agents: int = 0
    feature: Loop | None = None
    todos: list[Todo] = []
    last_checkpoint_at: datetime | None = None
    checkpoints: list[CheckpointSummary] = []
    """The newest, newest first."""
    open_count: int = 0
    recent_plans: list[PlanLine] = []
    suggestions: list[str] = []


class _World(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in the project, before it is evaluated."""

    now: datetime
    index: dict[str, object]
    plans: list[StagedPlan]
    tdd: TddSession | None
    delegation: list[DelegatedTask]
    left_worktrees: list[str]
    newest: Checkpoint | None
    checkpoints: list[CheckpointSummary]
    last_at: datetime | None
    feature: Loop | None


def read_dashboard(store: Store, settings: Settings) -> Dashboard:
    """Collect what is in progress; the store should be one that writes nothing."""
    world = _read_world(store, _find_folder(store, settings))
    plan = _choose_active_plan(world)
    is_active = plan or world.tdd or world.feature or _list_open_todos(world)
    layout: Layout = "delegation" if world.delegation else "active" if is_active else "none"
    return Dashboard(
        layout=layout,
        at=world.now,
        plan=plan,
        tdd=world.tdd,
        delegation=world.delegation,
        agents=sum(each.status.lower() not in {*_DONE, "complete"} for each in world.delegation),
        feature=world.feature,
        todos=_list_open_todos(world),
        last_checkpoint_at=world.last_at,
        checkpoints=world.checkpoints,
        open_count=store.index().count_heads([*LISTED]),
        recent_plans=[] if plan else _list_recent(world.plans),
        suggestions=[*_list_suggestions(world, plan, is_active=layout != "none")],
    )


def _find_folder(store: Store, settings: Settings) -> Path:
    """Return the folder of plans; an empty one if the user did not choose to use such files.

    They do not count without that choice, because a clone can bring them.
    """
    is_adopted = settings.follows("sail")
    return store.project.worktree / sail_plans.FOLDER if is_adopted else Path(os.devnull)


def _read_world(store: Store, folder: Path) -> _World:
    index = sail_plans.read_index(folder) or {}
    is_delegating = bool(index.get("delegate_running"))
    entries = store.index().heads([*LISTED], _CHECKPOINTS)
    checkpoints = _merge_newest(entries, sail_format.list_newest_kept(folder, _CHECKPOINTS))
    moments = [each.saved_at for each in checkpoints]
    indexed = sail_plans.moment(index.get("last_checkpoint"))
    return _World(
        now=store.now(),
        index=index,
        plans=sail_plans.list_plans(folder),
        tdd=sail_plans.read_tdd_session(folder) or _find_phase(folder, index),
        delegation=sail_plans.find_delegated(folder, index)
        or _list_helpers(store)
        or [sail_plans.DelegatedTask(what="unknown task")] * is_delegating,
        # While helpers run, their worktrees are in use.
        left_worktrees=[] if is_delegating else sail_plans.list_delegates(folder),
        newest=_load_first(store, entries),
        checkpoints=checkpoints,
        last_at=max([*moments, *([indexed] if indexed else [])], default=None),
        feature=_find_loop(store),
    )


def _find_phase(folder: Path, index: dict[str, object]) -> TddSession | None:
    """Return the phase in the index, if nothing else is known about the test-first session."""
    phase = sail_plans.read_active_phase(index)
    is_over = (folder / sail_plans.TDD).exists()
    return TddSession(phase=phase) if phase and not is_over else None


def _merge_newest(
    entries: Sequence[CheckpointEntry], kept: Sequence[sail_format.PlanCheckpoint]
) -> list[CheckpointSummary]:
    """Merge leftoff's checkpoints with those beside the plans; one that is both counts once."""
    ours = {entry.id for entry in entries}
    # Native files may keep whole seconds only.
    seconds = {(entry.saved_at.replace(microsecond=0), entry.task) for entry in entries}
    found = [
        CheckpointSummary(
            name=entry.name,
            saved_at=entry.saved_at,
            summary=entry.task,
            next_action=entry.next_action,
        )
        for entry in entries
    ]
    found += [
        CheckpointSummary(
            saved_at=each.saved_at, summary=each.summary, next_action=each.next_action
        )
        for each in kept
        if each.id not in ours
        and (each.saved_at.replace(microsecond=0), each.summary) not in seconds
    ]
    return sorted(found, key=lambda each: each.saved_at, reverse=True)[:_CHECKPOINTS]


def _load_first(store: Store, entries: Sequence[CheckpointEntry]) -> Checkpoint | None:
    for entry in entries:
        # A damaged checkpoint must not take the dashboard down.
        try:
            return store.load(entry)
        except (LeftoffError, OSError):
            continue
    return None


def _find_loop(store: Store) -> Loop | None:
    loop = features.load_loop(store)
    return loop if loop is not None and loop.is_under_way else None


def _list_helpers(store: Store) -> list[DelegatedTask]:
    """Return the results of agents that work together, if somebody recorded them."""
    known = features.glance(store).orchestration
    results = [*known.results, *(known.team.mates if known.team else [])]
    by_agent = {
        each.agent: DelegatedTask(what=each.summary or each.agent, status=each.status)
        for each in results
    }
    return list(by_agent.values()) if known.session or known.team else []


# The plan


def _choose_active_plan(world: _World) -> PlanLine | None:
    """Return the plan in the index, or the first open one, or that of the last checkpoint."""
    by_name = {plan.name: plan for plan in world.plans}
    named = sail_plans.read_active_plan(world.index)
    if named is not None and (named not in by_name or by_name[named].is_open):
        return (
            _build_line(by_name[named]) if named in by_name else _build_indexed_plan(named, world)
        )
    # An index that names no plan says that none is active.
    if named is not None or not world.index:
        for plan in world.plans:
            if plan.is_open:
                return _build_line(plan)
    return _own_plan(world)


def _build_line(plan: StagedPlan) -> PlanLine:
    return PlanLine(
        name=plan.name,
        stage=plan.stage,
        number=plan.number,
        total=plan.total,
        status=plan.status,
        updated_at=plan.updated_at,
    )


def _build_indexed_plan(name: str, world: _World) -> PlanLine:
    """Describe a plan that is only in the index."""
    stage = sail_plans.read_active_stage(world.index)
    if isinstance(stage, str) and stage.isdecimal():
        stage = int(stage)
    # In Python, True is an int, too.
    number = stage if isinstance(stage, int) and not isinstance(stage, bool) else None
    shown = stage if isinstance(stage, int | float | str) else None
    return PlanLine(name=name, stage=shown, number=number, total=sail_plans.STAGES)


def _own_plan(world: _World) -> PlanLine | None:
    """Return the plan of the last checkpoint, while steps remain."""
    plan = world.newest.plan if world.newest else None
    if world.newest is None or plan is None or not (plan.title or plan.path):
        return None
    if not plan.stage and not (plan.step and plan.total):
        return None
    is_over = (plan.step or 0) > (plan.total or plan.step or 0)
    if is_over or any(each.name == plan.title for each in world.plans):
        return None
    return PlanLine(
        name=plan.title or plan.path or "plan",
        stage=plan.stage,
        number=plan.step,
        total=plan.total,
        updated_at=world.newest.saved_at,
    )


def _list_recent(plans: Sequence[StagedPlan]) -> list[PlanLine]:
    newest = sorted(plans, key=lambda plan: plan.updated_at, reverse=True)
    return [_build_line(plan) for plan in newest[:_RECENT_PLANS]]


def _list_open_todos(world: _World) -> list[Todo]:
    todos = world.newest.todos if world.newest else []
    return [todo for todo in todos if todo.status not in _DONE]


# Suggestions


def _list_suggestions(world: _World, plan: PlanLine | None, *, is_active: bool) -> Iterator[str]:
    phase = ((world.tdd.phase if world.tdd else None) or "").lower()
    target = (world.tdd.target if world.tdd else None) or "the next behavior"
    if plan is not None and plan.number is not None and plan.number >= (plan.total or 0):
        yield f"{plan.name} is at its final stage: ready to implement."
    if phase == "red":
        yield f"RED: write failing tests for {target}."
    elif phase == "green":
        yield f"GREEN: write the least code that makes the tests for {target} pass."
    yield from _save(world, is_active=is_active)
    if left := world.left_worktrees:
        yield f"Helpers left worktrees: `git worktree remove` finished ones ({_join_some(left)})."
    idle = [each.name for each in world.plans if each.is_open and _is_idle(each, world.now)]
    if len(idle) >= _IDLE_PLANS:
        rested = f"{len(idle)} plans have been idle for more than 7 days"
        yield f"{rested}: close those that are finished ({_join_some(idle)})."


def _join_some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _save(world: _World, *, is_active: bool) -> Iterator[str]:
    if world.last_at is None:
        if is_active:
            yield "Nothing is saved yet. Run `leftoff save`."
    elif world.now - world.last_at > _SAVE_AFTER:
        yield "The last checkpoint is over an hour old. Run `leftoff save`."


def _is_idle(plan: StagedPlan, now: datetime) -> bool:
    return now - plan.updated_at > _IDLE_AFTER
