"""Write checkpoints as claude-harness does: as a project's progress and a session's context.

git tracks the progress, so it changes only if it says something new, and a save that nobody asked
for never replaces words that somebody chose.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.git.query import PathChange, printable
from leftoff.knowledge.features import Board, Feature, Fix, WorkNotes, collect_working_context
from leftoff.knowledge.features.work_context import (
    WORKING_LINES,
    WorkingContext,
    describe_change,
)
from leftoff.profiles.harness import HOLDS
from leftoff.profiles.harness.checkpoints import (
    CONTEXT,
    EXTRA,
    PROGRESS,
    SESSION_KEYS,
    folder_of,
    is_change,
    is_setup,
    list_shown,
    read_context,
    read_progress,
    read_roles,
    read_session,
    sign,
)
from leftoff.profiles.harness.spellings import find_key, keep_form, list_words, words_of
from leftoff.profiles.harness.understanding import merge_areas
from leftoff.profiles.json_codec import Plain, iso, object_of

_OWN = ".claude-harness/"
# Our key for each of theirs that a save states.
_STATED = {
    "summary": "summary",
    "completedTasks": "done",
    "blockers": "blockers",
    "nextSteps": "next_action",
}
# A context that is too long loses files down to this number.
_FEWEST_FILES = 3
# Roles that leftoff gave to files, and no one stated.
_OBSERVED = frozenset({"plan", "modified"})
# The role of a file that somebody only named.
_NAMED = "named in the checkpoint"


# Progress


def with_progress(found: Plain, checkpoint: Checkpoint, project: str) -> Plain:
    """Return the progress file updated with what a checkpoint says about the last session."""
    kept = object_of(to_plain(checkpoint).get(EXTRA))
    standing = read_session(found)
    former = {**object_of(kept.get("lastSession")), **standing}
    said: Plain = {
        "summary": checkpoint.task,
        "completedTasks": keep_form(former.get("completedTasks"), checkpoint.done),
        "blockers": keep_form(former.get("blockers"), checkpoint.blockers),
        "nextSteps": keep_form(former.get("nextSteps"), next_steps(checkpoint)),
        "sessionId": folder_of(checkpoint).partition("/")[2],
    }
    said = _keep_stated(said, {} if is_setup(standing) else standing, checkpoint)
    if _says_the_same(said, standing):
        return found
    key = find_key(found, "lastSession")
    last = found.get(key)
    inside = {**object_of(kept.get("lastSession")), **object_of(last)}
    spelled = {find_key(inside, name): value for name, value in said.items()}
    result = {**object_of(kept.get("progress")), **found}
    # An older file, or another program, has the same keys beside it as well.
    beside = {find_key(result, name): value for name, value in said.items()}
    result |= {name: value for name, value in beside.items() if name in result}
    if last is not None and not isinstance(last, dict | str):
        result.setdefault("formerSessions", last)
    if find_key(result, "currentProject") not in result:
        result["currentProject"] = project
    result[find_key(result, "lastUpdated")] = iso(checkpoint.saved_at)
    return {**result, key: {**inside, **spelled}}


def _keep_stated(said: Plain, standing: Plain, checkpoint: Checkpoint) -> Plain:
    """Keep what the file says where an automatic save has nothing better than a guess."""
    if not checkpoint.is_autosave or _ships_other_work(said, standing, checkpoint):
        return said
    guessed = [
        theirs
        for theirs, ours in _STATED.items()
        if ours not in checkpoint.stated and list_words(standing.get(theirs))
    ]
    if "summary" not in guessed and standing.get("sessionId") != said["sessionId"]:
        # Another session has a summary now, and did not do what the last one did.
        guessed = [key for key in guessed if key != "completedTasks"]
    result = {**said, **{key: standing[key] for key in guessed}}
    if len(guessed) == len([key for key in _STATED if list_words(standing.get(key))]) > 0:
        # None of it is about this session.
        result["sessionId"] = standing.get("sessionId", said["sessionId"])
    return result


def _ships_other_work(said: Plain, standing: Plain, checkpoint: Checkpoint) -> bool:
    """Return whether an agent shipped its own work, and the file is about another session's.

    Unlike other automatic saves, somebody asked for a ship, and its panel names this file.
    """
    is_own = checkpoint.trigger == "ship" and checkpoint.session_id is not None
    return is_own and bool(said["summary"]) and standing.get("sessionId") != said["sessionId"]


def _says_the_same(said: Plain, standing: Plain) -> bool:
    return {key: standing.get(key) for key in SESSION_KEYS} == {
        key: said.get(key) for key in SESSION_KEYS
    }


def next_steps(checkpoint: Checkpoint) -> list[str]:
    """Return what to do next, the next action first."""
    known = checkpoint.next_action
    # Asking the user is not a step, and git tracks some of these files.
    action = [known.text] if known is not None and not known.is_unknown else []
    todos = [todo.text for todo in checkpoint.todos if todo.status != "completed"]
    return [*dict.fromkeys([*action, *checkpoint.next_steps, *todos])]


# The working context


def with_context(
    found: Plain,
    checkpoint: Checkpoint,
    board: Board,
    changes: Sequence[PathChange] = (),
    decided: Sequence[str] = (),
) -> Plain:
    """Return a working context updated from a checkpoint; our part has at most 40 lines.

    `changes` are what git shows, and `decided` is what the session added to the memory.
    """
    kept = object_of(object_of(to_plain(checkpoint).get(EXTRA)).get("context"))
    former = {**kept, **found}
    at_hand = context_of(checkpoint, board, changes, decided)
    standing = former.get(find_key(former, "codebaseUnderstanding"))
    # The agent's last words say little about the code, unless somebody stated or wrote them.
    is_said = "left_off" in checkpoint.stated or checkpoint.source is not None
    learnt = (checkpoint.left_off or "") if is_said else ""
    values: Plain = {
        "lastUpdated": iso(checkpoint.saved_at),
        "activeFeature": _keep_object(former.get(find_key(former, "activeFeature")), at_hand),
        "summary": at_hand.summary,
        "workingFiles": at_hand.files,
        "decisions": keep_form(former.get(find_key(former, "decisions")), at_hand.decisions),
        "codebaseUnderstanding": merge_areas(standing, learnt, checkpoint.notes),
        "nextSteps": keep_form(former.get(find_key(former, "nextSteps")), at_hand.next_steps),
    }
    values["workingFiles"] = _fit_files(values, former)
    return {
        "version": 1,
        **former,
        **{find_key(former, name): value for name, value in values.items()},
    }


def _keep_object(standing: object, at_hand: WorkingContext) -> object:
    """Return the active feature; keep an object about the same one."""
    is_same = isinstance(standing, dict) and standing.get("id") == at_hand.feature
    return standing if is_same else at_hand.feature


def _fit_files(values: Plain, former: Plain) -> object:
    """Return as many files as there is room for, in the form that they have in the file."""
    files: dict[str, str] = values["workingFiles"]
    lines = json.dumps({"version": 1, **values, "workingFiles": {}}, indent=2).count("\n") + 1
    room = max(_FEWEST_FILES, WORKING_LINES - lines - 1)
    shown = dict([*files.items()][:room])
    standing = former.get(find_key(former, "workingFiles"))
    # A list of files need not say more than their names.
    roles = {path: role or shown.get(path, "") for path, role in read_roles(standing).items()}
    if standing and not isinstance(standing, dict) and roles == shown:
        return standing
    if standing and read_roles(standing) == shown:
        return standing
    forms = standing if isinstance(standing, dict) else {}
    return {
        path: forms[path] if path in forms and words_of(forms[path]) == role else role
        for path, role in shown.items()
    }


def context_of(
    checkpoint: Checkpoint,
    board: Board,
    changes: Sequence[PathChange] = (),
    decided: Sequence[str] = (),
) -> WorkingContext:
    """Collect the state of a session's work."""
    named = [file for file in checkpoint.files if file.role not in _OBSERVED]
    # Files that leftoff writes are not the session's work.
    named = [file for file in named if not file.path.startswith(_OWN)]
    changed = _list_changes(checkpoint, changes)
    how = {printable(each.path): describe_change(each) for each in changed}
    stated = {file.path: _write_role(file.role, how.get(file.path)) for file in named if file.role}
    notes = WorkNotes(
        decisions=[*dict.fromkeys([*(each.what for each in checkpoint.decisions), *decided])],
        next_steps=next_steps(checkpoint),
    )
    item = _find_item(checkpoint, board)
    found = collect_working_context(item, changed, notes, checkpoint.saved_at)
    # What somebody said about a file beats what git says about it, and is not cut first.
    files = {**stated, **{path: role for path, role in found.files.items() if path not in stated}}
    for file in named:
        files.setdefault(file.path, _NAMED)
    return WorkingContext(
        updated_at=found.updated_at,
        feature=checkpoint.feature or found.feature,
        summary=found.summary or checkpoint.task,
        files=files,
        decisions=found.decisions,
        next_steps=found.next_steps,
    )


def _write_role(role: str, change: str | None) -> str:
    """Write the role of a changed file as claude-harness does: `new - streaming writer`."""
    return role if change is None or is_change(role) else f"{change} - {role}"


def _list_changes(checkpoint: Checkpoint, seen: Sequence[PathChange]) -> list[PathChange]:
    """Return the changed files of a checkpoint, each with what git shows of it now."""
    known = {printable(each.path): each for each in seen}
    changed = dict.fromkeys([*checkpoint.files_modified, *checkpoint.dirty])
    return [
        known.get(path, PathChange(path=path, code=".M"))
        for path in changed
        if not path.startswith(_OWN)
    ]


def _find_item(checkpoint: Checkpoint, board: Board) -> Feature | Fix | None:
    """Return the checkpoint's feature or fix, or the first feature that is not done."""
    if checkpoint.feature is None:
        return board.active_feature
    return next((each for each in board.items if each.id == checkpoint.feature), None)


# The record


def record_of(checkpoint: Checkpoint, context: Plain, progress: Plain) -> Mapping[str, Any]:
    """Return everything to be read back from a checkpoint, and how the files show it."""
    plain = to_plain(checkpoint)
    held = {key: plain[key] for key in sorted(HOLDS) if key in plain}
    # The progress file names no files, and the context may have no room for all.
    named = [each for each in checkpoint.files if each.role not in _OBSERVED]
    if named:
        held["files"] = [{"path": each.path, "role": each.role} for each in named]
    return sign(
        {
            "id": checkpoint.id,
            **held,
            **({EXTRA: plain[EXTRA]} if plain.get(EXTRA) else {}),
            "saved_at": plain["saved_at"],
            "shown": {
                PROGRESS: list_shown(read_progress(progress), PROGRESS),
                CONTEXT: list_shown(read_context(context, Path(CONTEXT)), CONTEXT),
            },
        }
    )
