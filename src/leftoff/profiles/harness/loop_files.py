"""Read and write claude-harness's files of loops and interrupted work."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import msgspec

from leftoff.knowledge.features import Attempt, Interrupted, Loop, LoopStatus, Tasks
from leftoff.profiles.harness.checkpoints import build_folder_name
from leftoff.profiles.harness.documents import Documents
from leftoff.profiles.harness.spellings import (
    LOOSE_NUMBER,
    WORDS_LIST,
    feature_id_of,
    item_of,
    list_items,
    spell_status,
    words_of,
)
from leftoff.profiles.json_codec import (
    FLAG,
    MOMENT,
    OBJECT,
    SAID,
    Key,
    KeyTable,
    Kind,
    Plain,
    object_of,
    text_of,
    without,
)

LOOP = "loop-state.json"
OLD_LOOP = "loops/state.json"
RECOVERY = "sessions/.recovery"
INTERRUPTED = f"{RECOVERY}/interrupted.json"
RECOVERED_LOOP = f"{RECOVERY}/{LOOP}"
EXTRA = "harness"
"""The key under which a record keeps what only this layout knows."""
_VERSION = 9


# Loops


def _read_ids(value: object) -> list[str]:
    """Return the ids of tasks; some files contain whole tasks."""
    found = value if isinstance(value, list) else []
    return [
        str(each.get("id") if isinstance(each, dict) else each)
        for each in found
        if isinstance(each, str | int) or (isinstance(each, dict) and each.get("id") is not None)
    ]


_WORDS = Kind(lambda value: words_of(value) or None)
_STATUS = spell_status(
    get_args(LoopStatus),
    {
        **dict.fromkeys(("done", "complete", "passed", "passing"), "completed"),
        **dict.fromkeys(("active", "running", "started"), "in_progress"),
    },
)
_ATTEMPT = KeyTable(
    Key("attempt", "attempt", LOOSE_NUMBER),
    Key("approach", "approach", _WORDS),
    Key("result", "result", SAID),
    Key("errors", "errors", WORDS_LIST),
    Key("root_cause", "rootCause", _WORDS),
)
_TASKS = KeyTable(
    Key("enabled", "enabled", FLAG),
    Key("chain", "chain", Kind(_read_ids)),
    Key("current", "current", SAID),
    Key("completed", "completed", Kind(_read_ids)),
)


def _read_history(value: object) -> list[Attempt]:
    return [
        Attempt(
            **{"attempt": number, "approach": "", "result": "failed", **_ATTEMPT.read(each)},
            extra={EXTRA: rest} if (rest := _ATTEMPT.rest(each)) else {},
        )
        for number, each in enumerate(_list_attempts(value), 1)
    ]


def _list_attempts(value: object) -> list[Plain]:
    return [item_of(each, "approach") for each in list_items(value, "approach")]


def _write_history(history: Sequence[Attempt]) -> list[Plain]:
    return [
        {**_ATTEMPT.write(each), **without(each.extra, EXTRA), **object_of(each.extra.get(EXTRA))}
        for each in history
    ]


def _read_link(value: object) -> str | None:
    named = (feature_id_of(object_of(value).get(key)) for key in ("featureId", "feature", "id"))
    return next(filter(None, named), "") or feature_id_of(value) or None


_LOOP = KeyTable(
    Key("feature", "feature", Kind(lambda value: feature_id_of(value) or None)),
    Key("name", "featureName", SAID),
    Key("type", "type", spell_status(("fix",), dict.fromkeys(("bugfix", "hotfix", "bug"), "fix"))),
    Key("linked_to", "linkedTo", Kind(_read_link)),
    Key("status", "status", _STATUS),
    Key("attempt", "attempt", LOOSE_NUMBER),
    Key("max_attempts", "maxAttempts", LOOSE_NUMBER),
    Key("started_at", "startedAt", MOMENT),
    Key("last_attempt_at", "lastAttemptAt", MOMENT),
    Key("verification", "verification", OBJECT),
    Key("history", "history", Kind(_read_history, _write_history)),
    Key("tasks", "tasks", Kind(lambda value: Tasks(**_TASKS.read(object_of(value))), _TASKS.write)),
    Key("last_checkpoint", "lastCheckpoint", SAID),
    Key("escalation_requested", "escalationRequested", FLAG),
    Key("phase", "tddPhase", SAID),
)


def read_loop(found: Plain) -> Loop:
    """Read the state of a loop."""
    kept = without(_LOOP.rest(found), "version")
    if link := object_of(found.get("linkedTo")):
        kept["linkedTo"] = link
    tasks = object_of(found.get("tasks"))
    if any(isinstance(each, dict) for each in list_items(tasks.get("chain"), "id")):
        kept["tasks"] = tasks
    values = _LOOP.read(found)
    # The number of a fix contains its feature.
    named = re.fullmatch(r"fix-(.+)-\d+", values.get("feature", ""))
    if named:
        values = {"linked_to": named[1], **values, "type": "fix"}
    return Loop(**values, extra={EXTRA: kept} if kept else {})


def show_loop(loop: Loop, standing: Plain) -> Plain:
    """Return a loop in the layout's format; an unchanged one keeps its current form."""
    if standing and _drop_owner(read_loop(standing)) == _drop_owner(loop):
        return standing
    kept, written = object_of(loop.extra.get(EXTRA)), _LOOP.write(loop)
    link = {**object_of(kept.get("linkedTo")), "featureId": loop.linked_to}
    written["linkedTo"] = link if loop.linked_to else None
    tasks = object_of(standing.get("tasks")) or object_of(kept.get("tasks"))
    written["tasks"] = _write_tasks(loop.tasks, tasks)
    if not loop.phase and "tddPhase" not in standing:
        del written["tddPhase"]
    return {**without(kept, "linkedTo"), **standing, "version": _VERSION, **written}


def _write_tasks(tasks: Tasks, standing: Plain) -> Plain:
    """Return tasks; some files have whole tasks where others have ids."""
    written = _TASKS.write(tasks)
    same = [key for key in ("chain", "completed") if _read_ids(standing.get(key)) == written[key]]
    return {**standing, **written, **{key: standing[key] for key in same if key in standing}}


def write_loop(documents: Documents, key: str, loop: Loop) -> None:
    """Write a loop to the folder of its session, unless it never started.

    A loop outside of sessions may be in the file of older versions, which then stays in use.
    """
    path = f"sessions/{build_folder_name(loop.session_id or key)}/{LOOP}"
    if loop.session_id is None and documents.files.read(path) is None:
        path = OLD_LOOP if documents.files.read(OLD_LOOP) is not None else path
    if loop.status != "idle" or documents.files.read(path) is not None or loop.last_checkpoint:
        documents.change(path, lambda found: show_loop(loop, found))


def with_mark(loops: Mapping[str, Loop], mark: Interrupted) -> dict[str, Loop]:
    """Return loops with the mark on the interrupted one."""
    return {
        session: msgspec.structs.replace(loop, interrupted=mark)
        if loop.feature == mark.feature and loop.is_under_way
        else loop
        for session, loop in loops.items()
    }


def _drop_owner(loop: Loop) -> Loop:
    return msgspec.structs.replace(loop, worktree=None, session_id=None, interrupted=None)


# Interrupted work


_MARK = KeyTable(
    Key("at", "interruptedAt", MOMENT),
    Key("session_id", "staleSessionId", SAID),
    Key("feature", "feature", SAID),
    Key("attempt", "attemptAtInterrupt", LOOSE_NUMBER),
    Key("phase", "tddPhase", SAID),
    Key("reason", "reason"),
)


def read_interrupted(found: Plain) -> Interrupted | None:
    """Read where a session left a loop."""
    values = _MARK.read(found)
    if not {"feature", "at"} <= values.keys():
        return None
    return Interrupted(**{"attempt": 0, "reason": "", **values})


def write_interrupted(documents: Documents, loops: Mapping[str, Loop]) -> None:
    """Write the newest interrupted loop, and remove one that was continued or is done."""
    broken = [each for each in loops.values() if each.interrupted and each.is_under_way]
    if broken:
        newest = max(broken, key=_find_break)
        documents.change(INTERRUPTED, lambda found: _write_mark(newest, found))
        documents.change(RECOVERED_LOOP, lambda found: show_loop(newest, found))
        return
    marked = text_of(documents.read(INTERRUPTED).get("feature"))
    if any(loop.feature == marked for loop in loops.values()):
        documents.files.trash(INTERRUPTED)
        documents.files.trash(RECOVERED_LOOP)


def _find_break(loop: Loop) -> datetime:
    return loop.interrupted.at if loop.interrupted else datetime.min.replace(tzinfo=UTC)


def _write_mark(loop: Loop, found: Plain) -> Plain:
    mark = loop.interrupted
    return found if mark is None else {"version": 1, **found, **_MARK.write(mark)}


def list_loop_files(folder: Path) -> list[Path]:
    """List the files with a loop: each session's, then the one of older versions."""
    found = sorted((folder / "sessions").glob(f"*/{LOOP}"))
    old = folder / OLD_LOOP
    return [*(path for path in found if path.parent.name != ".recovery"), old]


def session_of(path: Path) -> str:
    """Return the session of a loop's file; empty if it belongs to none."""
    folder = path.parent.name
    return "" if path.name != LOOP or folder.startswith("worktree-") else folder
