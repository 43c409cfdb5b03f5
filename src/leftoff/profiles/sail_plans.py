"""Read plans with stages, and test-first sessions, from JSON files below `.claude`.

`state-index.json` says what is active; without it, the plans' own files do.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff.profiles import loose_times
from leftoff.projects.project import read_start
from leftoff.text import times

FOLDER = ".claude"
INDEX = "state-index.json"
PLANS = "plans"
PLAN_STATE = "state.json"
TDD = "tdd-sessions/active.json"
WORKTREES = "worktrees"

# The number of stages of a plan that does not list its own.
STAGES = 7
_ENDED = frozenset({"complete", "completed", "done", "halted", "archived", "abandoned", "closed"})
_LAST_STAGE = "execute"
# State files are small; sail did not write a larger one.
_LIMIT = 1024 * 1024
_MOST_SECONDS = 100_000_000_000

Stage = int | float | str


class StagedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan, and the stage it has reached."""

    name: str
    stage: Stage | None = None
    number: int | None = None
    """The stage's position among all stages."""
    total: int = STAGES
    status: str = ""
    updated_at: datetime
    is_open: bool = True


class TddSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in which tests are written before the code."""

    id: str | None = None
    phase: str | None = None
    target: str | None = None
    mode: str | None = None


def observe(worktree: Path) -> dict[str, Any]:
    """Return what is active in a worktree, in canonical keys; empty if no file says."""
    folder = worktree / FOLDER
    index = read_index(folder)
    if index is None:
        return {}
    name, phase = read_active_plan(index), read_active_phase(index)
    # An index need not say everything that the files of plan and tests say.
    if "active_tdd_phase" not in index and (session := read_tdd_session(folder)) is not None:
        phase = session.phase
    fields: dict[str, Any] = {"tdd_phase": phase} if phase else {}
    if name:
        state = read_plan(folder, name)
        is_said = not {"active_plan_stage", _TWIN_STAGE}.isdisjoint(index)
        stage = read_active_stage(index) if is_said or state is None else state.stage
        fields["plan"] = plan_of(name, stage)
        if state is not None and "step" in fields["plan"]:
            fields["plan"]["total"] = state.total
    return fields


# Later versions of sail call a plan a blueprint.
_TWIN, _TWIN_STAGE = "active_blueprint", "active_blueprint_stage"


def read_active_plan(index: Mapping[str, Any]) -> str | None:
    """Return the plan that an index calls active."""
    return text(index.get("active_plan")) or text(index.get(_TWIN))


def read_active_phase(index: Mapping[str, Any]) -> str | None:
    """Return the test-first phase that an index calls active."""
    return text(index.get("active_tdd_phase"))


def read_active_stage(index: Mapping[str, Any]) -> object:
    """Return the stage of the plan that an index calls active."""
    return index.get("active_plan_stage", index.get(_TWIN_STAGE))


def plan_of(name: str | None, stage: object) -> dict[str, Any]:
    """Return a plan and its stage in canonical keys: a number is a step, a word is a stage."""
    plan: dict[str, Any] = {"title": name} if name else {}
    if isinstance(stage, int) and not isinstance(stage, bool):
        plan["step"] = stage
    elif isinstance(stage, str | float) and stage != "":
        plan["stage"] = str(stage)
    return plan


def read_index(folder: Path) -> dict[str, Any] | None:
    """Read state-index.json; None if it is missing or unreadable."""
    return read_object(folder / INDEX)


def read_limited(path: Path) -> bytes:
    """Return the bytes of a file, up to the size that such files have."""
    return read_start(path, _LIMIT, follow=True)


def read_object(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None if there is none."""
    try:
        found = json.loads(read_limited(path).decode("utf-8-sig", "replace"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def list_plans(folder: Path) -> list[StagedPlan]:
    """Return all readable plans, by name."""
    found = [read_plan(folder, name) for name in _list_names(folder)]
    return [plan for plan in found if plan is not None]


def _list_names(folder: Path) -> Iterator[str]:
    try:
        yield from sorted(
            path.name
            for path in (folder / PLANS).iterdir()
            if path.is_dir() and path.name not in {"archive", "archived"}
        )
    except OSError:
        return


def read_plan(folder: Path, name: str) -> StagedPlan | None:
    """Read one plan's state."""
    path = folder / PLANS / name / PLAN_STATE
    if not is_plan_name(name) or (state := read_object(path)) is None:
        return None
    stages = state.get("stages")
    listed = [*stages] if isinstance(stages, dict) else []
    stage = _read_stage(state.get("current_stage"))
    number = _find_number(stage, listed)
    ended = _find_end(state, stages)
    return StagedPlan(
        name=name,
        stage=stage,
        number=number,
        total=_count_stages(stage, number, listed),
        status=ended or "",
        updated_at=moment(state.get("updated")) or find_time(path),
        is_open=ended is None,
    )


def is_plan_name(name: str) -> bool:
    """Return whether a name can be a plan's folder."""
    # A name comes from a file and must not lead out of the folder of plans.
    return bool(name) and not name.startswith(".") and not set(name) & set("/\\\0")


def _read_stage(value: object) -> Stage | None:
    is_one = isinstance(value, int | float | str) and not isinstance(value, bool)
    return value if is_one and value != "" else None  # type: ignore[return-value]


def _find_number(stage: Stage | None, listed: list[str]) -> int | None:
    if isinstance(stage, str) and not stage.isdecimal():
        return listed.index(stage) + 1 if stage in listed else None
    return None if stage is None else int(stage)


def _count_stages(stage: Stage | None, number: int | None, listed: list[str]) -> int:
    """Return the number of stages; a plan may list only those that were reached."""
    if number is None or number > len(listed) or (stage not in listed and _LAST_STAGE in listed):
        return max(STAGES, len(listed), number or 0)
    return len(listed)


def _find_end(state: Mapping[str, Any], stages: object) -> str | None:
    """Return the word that says a plan is over; None while it is active."""
    last = stages.get(_LAST_STAGE) if isinstance(stages, dict) else None
    words = [
        state.get("status"),
        last.get("status") if isinstance(last, dict) else last,
        "archived" if state.get("archived") else None,
        state.get("current_stage"),
    ]
    said = [each.lower() for each in words if isinstance(each, str)]
    return next((each for each in said if each in _ENDED), None)


def read_tdd_session(folder: Path) -> TddSession | None:
    """Read the current test-first session."""
    found = read_object(folder / TDD)
    if found is None:
        return None
    keys = ("id", "phase", "target", "mode")
    session = TddSession(**{key: text(found.get(key)) for key in keys})
    is_over = (session.phase or "").lower() in _ENDED
    return None if is_over or session == TddSession() else session


def list_delegates(folder: Path) -> list[str]:
    """Return the names of the worktrees in which helpers work."""
    try:
        found = sorted(path.name for path in (folder / WORKTREES).iterdir() if path.is_dir())
    except OSError:
        return []
    return found


def text(value: object) -> str | None:
    """Return a text that says something."""
    return value.strip() or None if isinstance(value, str) else None


def words(value: object) -> str | None:
    """Return what a value says as text: agents also write lists and objects."""
    if isinstance(value, dict):
        parts = [f"{key}: {said}" for key, each in value.items() if (said := words(each))]
        return "; ".join(parts) or None
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value))) or None
    if value is None or isinstance(value, str):
        return text(value)
    return json.dumps(value)


def moment(value: object) -> datetime | None:
    """Parse a time as these files have it: with a zone, or in UTC."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            # JavaScript counts milliseconds.
            return datetime.fromtimestamp(value / 1000 if value > _MOST_SECONDS else value, UTC)
        if not isinstance(value, str):
            return None
        found = times.parse(value.strip()) or loose_times.read_moment(value)[0]
        return found.astimezone(UTC) if found else None
    except (ValueError, OverflowError, OSError):
        return None


def find_time(path: Path) -> datetime:
    """Return when a file was last written; the beginning of time if it is gone."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)


class DelegatedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A helper's task, and its progress."""

    what: str
    status: str = "in progress"
    agent: str | None = None


def find_delegated(folder: Path, index: Mapping[str, Any]) -> list[DelegatedTask]:
    """Return the tasks of helpers, from the index or from their worktrees."""
    if not index.get("delegate_running"):
        return []
    delegation = index.get("delegation")
    listed = (
        delegation.get("tasks")
        if isinstance(delegation, dict)
        else index.get("delegate_tasks", delegation)
    )
    if isinstance(listed, dict):
        listed = [_add_name(name, each) for name, each in listed.items()]
    tasks = [_read_task(each) for each in listed] if isinstance(listed, list) else []
    return [task for task in tasks if task] or [
        DelegatedTask(what=name) for name in list_delegates(folder)
    ]


def _add_name(name: str, value: object) -> dict[str, Any]:
    """Read a task stored under its name, as a status or as an object."""
    task = value if isinstance(value, dict) else {"status": value}
    return {"id": name, **task}


def _read_task(value: object) -> DelegatedTask | None:
    if not isinstance(value, dict):
        return DelegatedTask(what=value) if isinstance(value, str) and value else None
    keys = ("description", "task", "name", "title", "id")
    what = next((found for key in keys if (found := text(value.get(key)))), None)
    status = text(value.get("status")) or "in progress"
    agent = text(value.get("agent")) or text(value.get("worker"))
    return DelegatedTask(what=what, status=status.replace("_", " "), agent=agent) if what else None
