"""Write checkpoints as the project's progress and the working context of a session.

git tracks the progress, so it changes only if it says something new, and a save that nobody asked
for never replaces words that somebody chose.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.git.query import PathChange
from leftoff.knowledge.features import Board, WorkNotes, working_context
from leftoff.knowledge.features.work_context import WORKING_LINES, WorkingContext
from leftoff.profiles.harness import HOLDS
from leftoff.profiles.harness.checkpoints import (
    CONTEXT,
    EXTRA,
    PROGRESS,
    SESSION_KEYS,
    folder_of,
    list_shown,
    read_context,
    read_progress,
    read_roles,
    session_in,
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
# Roles that leftoff gave to files by itself.
_OBSERVED = frozenset({"plan", "modified"})


# Progress


def with_progress(found: Plain, checkpoint: Checkpoint, project: str) -> Plain:
    """Return the progress file updated with what a checkpoint says about the last session."""
    kept = object_of(to_plain(checkpoint).get(EXTRA))
    standing = session_in(found)
    former = {**object_of(kept.get("lastSession")), **standing}
    said: Plain = {
        "summary": checkpoint.task,
        "completedTasks": keep_form(former.get("completedTasks"), checkpoint.done),
        "blockers": keep_form(former.get("blockers"), checkpoint.blockers),
        "nextSteps": keep_form(former.get("nextSteps"), next_steps(checkpoint)),
        "sessionId": folder_of(checkpoint).partition("/")[2],
    }
    said = _keep_stated(said, standing, checkpoint)
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
    if not checkpoint.is_autosave or checkpoint.trigger == "ship":
        return said
    guessed = [
        theirs
        for theirs, ours in _STATED.items()
        if ours not in checkpoint.stated and list_words(standing.get(theirs))
    ]
    result = {**said, **{key: standing[key] for key in guessed}}
    if len(guessed) == len([key for key in _STATED if list_words(standing.get(key))]) > 0:
        # Nothing of it is about this session.
        result["sessionId"] = standing.get("sessionId", said["sessionId"])
    return result


def _says_the_same(said: Plain, standing: Plain) -> bool:
    return {key: standing.get(key) for key in SESSION_KEYS} == {
        key: said.get(key) for key in SESSION_KEYS
    }


def next_steps(checkpoint: Checkpoint) -> list[str]:
    """Return what to do next, the next action first."""
    action = [checkpoint.next_action.text] if checkpoint.next_action else []
    todos = [todo.text for todo in checkpoint.todos if todo.status != "completed"]
    return [*action, *(text for text in todos if text not in action)]


# The working context


def with_context(found: Plain, checkpoint: Checkpoint, board: Board) -> Plain:
    """Return a working context updated from a checkpoint; our part has at most 40 lines."""
    kept = object_of(object_of(to_plain(checkpoint).get(EXTRA)).get("context"))
    former = {**kept, **found}
    at_hand = context_of(checkpoint, board)
    standing = former.get(find_key(former, "codebaseUnderstanding"))
    values: Plain = {
        "lastUpdated": iso(checkpoint.saved_at),
        "activeFeature": at_hand.feature,
        "summary": at_hand.summary,
        "workingFiles": at_hand.files,
        "decisions": keep_form(former.get(find_key(former, "decisions")), at_hand.decisions),
        "codebaseUnderstanding": merge_areas(standing, checkpoint.left_off or "", checkpoint.notes),
        "nextSteps": keep_form(former.get(find_key(former, "nextSteps")), at_hand.next_steps),
    }
    values["workingFiles"] = _fit_files(values, former)
    return {
        "version": 1,
        **former,
        **{find_key(former, name): value for name, value in values.items()},
    }


def _fit_files(values: Plain, former: Plain) -> object:
    """Return as many files as there is room for, in the form that they have in the file."""
    files: dict[str, str] = values["workingFiles"]
    lines = json.dumps({"version": 1, **values, "workingFiles": {}}, indent=2).count("\n") + 1
    room = max(_FEWEST_FILES, WORKING_LINES - lines - 1)
    shown = dict([*files.items()][:room])
    standing = former.get(find_key(former, "workingFiles"))
    if standing and read_roles(standing) == shown:
        return standing
    forms = standing if isinstance(standing, dict) else {}
    return {
        path: forms[path] if path in forms and words_of(forms[path]) == role else role
        for path, role in shown.items()
    }


def context_of(checkpoint: Checkpoint, board: Board) -> WorkingContext:
    """Collect the state of a session's work."""
    roles = {
        file.path: file.role
        for file in checkpoint.files
        if file.role not in _OBSERVED and not file.path.startswith(_OWN)
    }
    changed = dict.fromkeys([*checkpoint.files_modified, *checkpoint.dirty])
    # Files that leftoff writes are not the session's work.
    changes = [PathChange(path=path, code=".M") for path in changed if not path.startswith(_OWN)]
    notes = WorkNotes(
        decisions=[each.what for each in checkpoint.decisions],
        next_steps=next_steps(checkpoint),
    )
    found = working_context(_board_for(checkpoint, board), changes, notes, checkpoint.saved_at)
    # What somebody said about a file beats what git says about it.
    files = {**found.files, **roles}
    return WorkingContext(
        updated_at=found.updated_at,
        feature=checkpoint.feature or found.feature,
        summary=found.summary or checkpoint.task,
        files=files,
        decisions=found.decisions,
        next_steps=found.next_steps,
    )


def _board_for(checkpoint: Checkpoint, board: Board) -> Board:
    """Return a board with only the checkpoint's feature, or the whole board if it names none."""
    named = [each for each in board.features if each.id == checkpoint.feature]
    if checkpoint.feature is not None:
        return Board(features=named)
    return board


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
