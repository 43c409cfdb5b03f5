"""Loops, work that broke off, and agents that work together, as the layout's files."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import msgspec

from leftoff.features import (
    Attempt,
    Interrupted,
    Loop,
    LoopStatus,
    Tasks,
)
from leftoff.profiles.harness.checkpoints import folder_name
from leftoff.profiles.harness.documents import (
    Documents,
    Plain,
    iso,
    moment_of,
    object_of,
    objects_of,
    text_of,
    texts_of,
    without,
)

LOOP = "loop-state.json"
RECOVERY = "sessions/.recovery"
INTERRUPTED = f"{RECOVERY}/interrupted.json"
RECOVERED_LOOP = f"{RECOVERY}/{LOOP}"
EXTRA = "harness"
"""Under which key a record keeps what only this layout knows."""
_VERSION = 9
_STATUSES: dict[str, LoopStatus] = {status: status for status in get_args(LoopStatus)}
_LOOP_KEYS = (
    *("version", "feature", "featureName", "type", "linkedTo", "status", "attempt", "maxAttempts"),
    *("startedAt", "lastAttemptAt", "verification", "history", "tasks", "lastCheckpoint"),
    *("escalationRequested", "tddPhase"),
)


# Loops


def read_loop(found: Plain) -> Loop:
    """Read the state of a loop."""
    tasks = object_of(found.get("tasks"))
    link = object_of(found.get("linkedTo"))
    rest = without(found, *_LOOP_KEYS)
    kept = {**rest, **({"linkedTo": link} if link else {})}
    return Loop(
        feature=text_of(found.get("feature")) or None,
        name=text_of(found.get("featureName")) or None,
        type="fix" if found.get("type") == "fix" else "feature",
        linked_to=text_of(link.get("featureId")) or text_of(found.get("linkedTo")) or None,
        status=_STATUSES.get(text_of(found.get("status")), "idle"),
        phase=text_of(found.get("tddPhase")) or None,
        attempt=_number(found.get("attempt"), 0),
        max_attempts=_number(found.get("maxAttempts"), 15),
        started_at=moment_of(found.get("startedAt")),
        last_attempt_at=moment_of(found.get("lastAttemptAt")),
        verification=object_of(found.get("verification")),
        history=[_attempt(each, at) for at, each in enumerate(objects_of(found.get("history")), 1)],
        tasks=Tasks(
            enabled=tasks.get("enabled") is True,
            chain=_ids(tasks.get("chain")),
            current=text_of(tasks.get("current")) or None,
            completed=_ids(tasks.get("completed")),
        ),
        last_checkpoint=text_of(found.get("lastCheckpoint")) or None,
        escalation_requested=found.get("escalationRequested") is True,
        extra={EXTRA: kept} if kept else {},
    )


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _ids(value: object) -> list[str]:
    """Return the ids of tasks; some write whole tasks."""
    found = value if isinstance(value, list) else []
    return [
        str(each.get("id") if isinstance(each, dict) else each)
        for each in found
        if isinstance(each, str | int) or (isinstance(each, dict) and each.get("id") is not None)
    ]


def _attempt(found: Plain, number: int) -> Attempt:
    rest = without(found, "attempt", "approach", "result", "errors", "rootCause")
    return Attempt(
        attempt=_number(found.get("attempt"), number),
        approach=text_of(found.get("approach")),
        result=text_of(found.get("result")) or "failed",
        errors=texts_of(found.get("errors")),
        root_cause=text_of(found.get("rootCause")),
        extra=rest,
    )


def show_loop(loop: Loop, standing: Plain) -> Plain:
    """Return a loop as the layout writes it; one that did not change as it stands."""
    if standing and _bare(read_loop(standing)) == _bare(loop):
        return standing
    kept = object_of(loop.extra.get(EXTRA))
    phase = {"tddPhase": loop.phase} if loop.phase or "tddPhase" in standing else {}
    return {
        **without(kept, "linkedTo"),
        **standing,
        "version": _VERSION,
        "feature": loop.feature,
        "featureName": loop.name,
        "type": loop.type,
        "linkedTo": _link(loop, object_of(kept.get("linkedTo"))),
        "status": loop.status,
        "attempt": loop.attempt,
        "maxAttempts": loop.max_attempts,
        "startedAt": iso(loop.started_at) if loop.started_at else None,
        "lastAttemptAt": iso(loop.last_attempt_at) if loop.last_attempt_at else None,
        "verification": loop.verification,
        "history": [_write_attempt(each) for each in loop.history],
        "tasks": {**object_of(standing.get("tasks")), **_write_tasks(loop.tasks)},
        "lastCheckpoint": loop.last_checkpoint,
        "escalationRequested": loop.escalation_requested,
        **phase,
    }


def _write_tasks(tasks: Tasks) -> Plain:
    return {
        "enabled": tasks.enabled,
        "chain": tasks.chain,
        "current": tasks.current,
        "completed": tasks.completed,
    }


def write_loop(documents: Documents, key: str, loop: Loop) -> None:
    """Show a loop in the folder of its session; one that never was is not shown."""
    path = f"sessions/{folder_name(loop.session_id or key)}/{LOOP}"
    if loop.status != "idle" or documents.files.read(path) is not None or loop.last_checkpoint:
        documents.change(path, lambda found: show_loop(loop, found))


def with_mark(loops: Mapping[str, Loop], mark: Interrupted) -> dict[str, Loop]:
    """Return loops with the mark on the one that broke off."""
    return {
        session: msgspec.structs.replace(loop, interrupted=mark)
        if loop.feature == mark.feature and loop.is_under_way
        else loop
        for session, loop in loops.items()
    }


def _bare(loop: Loop) -> Loop:
    return msgspec.structs.replace(loop, worktree=None, session_id=None, interrupted=None)


def _link(loop: Loop, kept: Plain) -> Plain | None:
    return {**kept, "featureId": loop.linked_to} if loop.linked_to else None


def _write_attempt(tried: Attempt) -> Plain:
    return {
        "attempt": tried.attempt,
        "approach": tried.approach,
        "result": tried.result,
        "errors": tried.errors,
        "rootCause": tried.root_cause,
        **tried.extra,
    }


# Work that broke off


def read_interrupted(found: Plain) -> Interrupted | None:
    """Read where a session left a loop."""
    feature, at = text_of(found.get("feature")), moment_of(found.get("interruptedAt"))
    if not feature or at is None:
        return None
    return Interrupted(
        feature=feature,
        attempt=_number(found.get("attemptAtInterrupt"), 0),
        phase=text_of(found.get("tddPhase")) or None,
        reason=text_of(found.get("reason")),
        at=at,
        session_id=text_of(found.get("staleSessionId")) or None,
    )


def write_interrupted(documents: Documents, loops: Mapping[str, Loop]) -> None:
    """Show the newest loop that broke off, and no longer one that was taken up or is done."""
    broken = [each for each in loops.values() if each.interrupted and each.is_under_way]
    if broken:
        newest = max(broken, key=_broke_off_at)
        documents.change(INTERRUPTED, lambda found: _write_mark(newest, found))
        documents.change(RECOVERED_LOOP, lambda found: show_loop(newest, found))
        return
    marked = text_of(documents.read(INTERRUPTED).get("feature"))
    if any(loop.feature == marked for loop in loops.values()):
        documents.files.trash(INTERRUPTED)
        documents.files.trash(RECOVERED_LOOP)


def _broke_off_at(loop: Loop) -> datetime:
    return loop.interrupted.at if loop.interrupted else datetime.min.replace(tzinfo=UTC)


def _write_mark(loop: Loop, found: Plain) -> Plain:
    mark = loop.interrupted
    if mark is None:
        return found
    return {
        "version": 1,
        **found,
        "interruptedAt": iso(mark.at),
        "staleSessionId": mark.session_id,
        "feature": mark.feature,
        "attemptAtInterrupt": mark.attempt,
        "tddPhase": mark.phase,
        "reason": mark.reason,
    }


def loops_in(folder: Path) -> list[Path]:
    """List the files that hold a loop: each session's, then the one that older versions have."""
    found = sorted((folder / "sessions").glob(f"*/{LOOP}"))
    old = folder / "loops" / "state.json"
    return [*(path for path in found if path.parent.name != ".recovery"), old]


def session_of(path: Path) -> str:
    """Tell whose loop a file holds; empty for one that belongs to no session."""
    folder = path.parent.name
    return "" if path.name != LOOP or folder.startswith("worktree-") else folder
