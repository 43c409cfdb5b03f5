"""Map checkpoints to this layout: the project's progress and each session's working context.

The progress file describes the last session; a working context describes one session in at most 40
lines. Anything else goes to `checkpoint.json` beside the working context, git-ignored like it. What
somebody changed in a file since counts as it is; that record completes the rest.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.git.query import PathChange
from leftoff.knowledge.features import Board, WorkNotes, working_context
from leftoff.knowledge.features.work_context import WorkingContext
from leftoff.profiles.harness import HOLDS
from leftoff.profiles.harness.documents import parse
from leftoff.profiles.json_codec import (
    MOMENT,
    OBJECT,
    SAID,
    TEXTS,
    Key,
    KeyTable,
    Plain,
    iso,
    moment_of,
    object_of,
    text_of,
    without,
)
from leftoff.profiles.profile import Native
from leftoff.profiles.regular_files import digest, read_regular

PROGRESS = "claude-progress.json"
CONTEXT = "working-context.json"
RECORD = "checkpoint.json"
SESSIONS = "sessions"
OLD_CONTEXT = "memory/working/context.json"

EXTRA = "harness"
"""The key under which a checkpoint keeps what only this layout knows."""
_LEFT_OFF = "leftOff"
_PROGRESS_KEYS = ("lastUpdated", "lastSession", "currentProject")
_SESSION = KeyTable(
    Key("summary", "summary"),
    Key("done", "completedTasks", TEXTS),
    Key("blockers", "blockers", TEXTS),
    Key("next_steps", "nextSteps", TEXTS),
    Key("session_id", "sessionId"),
)
_CONTEXT = KeyTable(
    Key("updated_at", "lastUpdated", MOMENT),
    Key("feature", "activeFeature", SAID),
    Key("summary", "summary"),
    Key("files", "workingFiles", OBJECT),
    Key("decisions", "decisions", TEXTS),
    Key("understanding", "codebaseUnderstanding", OBJECT),
    Key("next_steps", "nextSteps", TEXTS),
)
_OWN = ".claude-harness/"
# An id becomes the name of a folder, so it must not lead anywhere else.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


# Reading


def read(path: Path, data: bytes) -> Native:
    """Read a progress file, a working context, or the record beside one."""
    try:
        found = parse(data)
    except ValueError as error:
        return Native(problem=str(error))
    if not isinstance(found, dict) or not found:
        return Native(problem="It is not a JSON object, or it is empty.")
    if path.name == RECORD:
        return _read_record(found)
    record = _record_of(path, found)
    fields = _of_progress(found) if path.name == PROGRESS else _of_context(found, path)
    if not any(fields.get(key) for key in ("summary", "done", "next_action", "feature", "files")):
        return Native(problem="It does not describe any work.")
    name = record.get("name") if record else fields.get("feature") or fields.get("summary")
    edited = _find_edits(fields, record, path.name)
    return Native(
        fields=_complete(fields, record, edited),
        name=name,
        saved_at=moment_of(found.get("lastUpdated")),
        is_exact=True,
        shows="" if edited else text_of(record.get("id")),
    )


def _read_record(found: Plain) -> Native:
    fields = without(found, *_NOT_TOLD)
    return Native(
        fields=fields,
        name=text_of(found.get("name")) or None,
        saved_at=moment_of(found.get("saved_at")),
        shows=text_of(found.get("id")) if found.get(_CHECK) == _check(found) else "",
    )


def _record_of(path: Path, found: Plain) -> Plain:
    """Return the record of the same session, if there is one."""
    if path.name == PROGRESS:
        session = text_of(object_of(found.get("lastSession")).get("sessionId"))
        if not _PLAIN_NAME.fullmatch(session):
            return {}
        path = path.parent / SESSIONS / session / CONTEXT
    found_record = read_regular(path.with_name(RECORD))
    try:
        return object_of(parse(found_record[0])) if found_record else {}
    except ValueError:
        return {}


def _of_progress(found: Plain) -> Plain:
    last = object_of(found.get("lastSession"))
    said = {"summary": "", **_SESSION.read(last)}
    fields = {key: said[key] for key in ("summary", "done", "blockers")}
    kept = {"progress": without(found, *_PROGRESS_KEYS), "lastSession": _SESSION.rest(last)}
    extra = _extra({key: value for key, value in kept.items() if value})
    return {**fields, **_steps(said["next_steps"]), **extra}


def _of_context(found: Plain, path: Path) -> Plain:
    said = _CONTEXT.read(found)
    roles = {name: text_of(role) for name, role in said.get("files", {}).items() if name}
    fields: Plain = {
        "feature": said.get("feature"),
        "summary": said.get("summary", ""),
        "files": [{"path": name, "role": role} for name, role in roles.items()],
        "files_modified": [name for name, role in roles.items() if _is_change(role)],
        "decisions": [{"what": text} for text in said["decisions"]],
        "left_off": _join_understanding(said.get("understanding", {})),
        **_steps(said["next_steps"]),
    }
    if path.parent.parent.name == SESSIONS:
        fields["session_id"] = path.parent.name
    rest = without(_CONTEXT.rest(found), "version")
    return fields | _extra({"context": rest} if rest else {})


def _extra(kept: Plain) -> Plain:
    return {EXTRA: kept} if kept else {}


def _steps(steps: list[str]) -> Plain:
    """Split steps: the first is the next action, the others are what to do then."""
    if not steps:
        return {}
    later = [{"text": step, "status": "pending"} for step in steps[1:]]
    return {"next_action": {"text": steps[0]}, **({"todos": later} if later else {})}


def _join_understanding(found: Plain) -> str:
    if [*found] == [_LEFT_OFF]:
        return text_of(found[_LEFT_OFF])
    return "\n".join(f"{area}: {text}" for area, text in found.items() if isinstance(text, str))


def _is_change(role: str) -> bool:
    return role.startswith(("new", "modified", "renamed", "deleted", "copied", "changed"))


def _find_edits(fields: Plain, record: Plain, shown_as: str) -> Plain:
    """Return the values that somebody changed after the file was written."""
    shown = object_of(object_of(record.get("shown")).get(shown_as))
    return {key: fields.get(key) for key, value in shown.items() if fields.get(key) != value}


def _complete(fields: Plain, record: Plain, edited: Plain) -> Plain:
    """Add the record's values, except where the file was changed since."""
    if not record:
        return fields
    files = {key: fields[key] for key in ("files", EXTRA) if key in fields}
    return {**without(record, *_NOT_TOLD), **edited, **files}


# The values that each file shows; if they differ from the record, somebody edited the file.
_SHOWN = {
    PROGRESS: ("summary", "done", "blockers", "next_action", "todos"),
    CONTEXT: ("feature", "summary", "decisions", "left_off", "next_action", "todos", "files"),
}
_CHECK = "check"
_NOT_TOLD = ("id", "name", "saved_at", "shown", _CHECK)


def _check(record: Mapping[str, Any]) -> str:
    """Return a checksum, so that a record somebody changed does not pass for ours."""
    signed = {key: value for key, value in record.items() if key != _CHECK}
    return digest(json.dumps(signed, sort_keys=True).encode())[:12]


# Writing


def folder_of(checkpoint: Checkpoint) -> str:
    """Return the folder with the state of a checkpoint's session."""
    return f"{SESSIONS}/{folder_name(checkpoint.session_id or checkpoint.name or 'no-session')}"


def folder_name(session_id: str) -> str:
    """Build the name of a session's folder: its id, or a hash if the id is not a plain name."""
    if _PLAIN_NAME.fullmatch(session_id):
        return session_id
    return digest(session_id.encode("utf-8", "surrogateescape"))[:32]


def with_progress(found: Plain, checkpoint: Checkpoint, project: str) -> Plain:
    """Return the progress file updated with what a checkpoint says about the last session."""
    kept = object_of(to_plain(checkpoint).get(EXTRA))
    said = {
        "summary": checkpoint.task,
        "done": checkpoint.done,
        "blockers": checkpoint.blockers,
        "next_steps": next_steps(checkpoint),
        "session_id": folder_of(checkpoint).partition("/")[2],
    }
    last = {
        **object_of(kept.get("lastSession")),
        **object_of(found.get("lastSession")),
        **_SESSION.write(said),
    }
    named = {"currentProject": project} if "currentProject" not in found else {}
    news = {"lastUpdated": iso(checkpoint.saved_at), "lastSession": last}
    result = {**object_of(kept.get("progress")), **found, **named, **news}
    # git tracks the file, so a new time alone must not change it.
    is_same = {**result, "lastUpdated": found.get("lastUpdated")} == found
    return found if is_same else result


def next_steps(checkpoint: Checkpoint) -> list[str]:
    """Return what to do next, the next action first."""
    action = [checkpoint.next_action.text] if checkpoint.next_action else []
    todos = [todo.text for todo in checkpoint.todos if todo.status != "completed"]
    return [*action, *(text for text in todos if text not in action)]


def with_context(found: Plain, checkpoint: Checkpoint, board: Board) -> Plain:
    """Return a working context updated from a checkpoint; our part has at most 40 lines."""
    at_hand = context_of(checkpoint, board)
    kept = object_of(object_of(to_plain(checkpoint).get(EXTRA)).get("context"))
    return {"version": 1, **kept, **found, **_CONTEXT.write(at_hand)}


def context_of(checkpoint: Checkpoint, board: Board) -> WorkingContext:
    """Collect the state of a session's work."""
    roles = {file.path: file.role for file in checkpoint.files if file.role not in {"", "plan"}}
    changed = dict.fromkeys([*checkpoint.files_modified, *checkpoint.dirty])
    # Files that leftoff writes are not the session's work.
    changes = [PathChange(path=path, code=".M") for path in changed if not path.startswith(_OWN)]
    left_off = {_LEFT_OFF: checkpoint.left_off} if checkpoint.left_off else {}
    notes = WorkNotes(
        decisions=[each.what for each in checkpoint.decisions],
        understanding=left_off,
        next_steps=next_steps(checkpoint),
    )
    mine = _board_for(checkpoint, board)
    found = working_context(mine, changes, notes, checkpoint.saved_at)
    files = {**found.files, **{path: roles[path] for path in found.files if path in roles}}
    return WorkingContext(
        updated_at=found.updated_at,
        feature=checkpoint.feature or found.feature,
        summary=found.summary or checkpoint.task,
        files=files,
        decisions=found.decisions,
        understanding=found.understanding,
        next_steps=found.next_steps,
    )


def _board_for(checkpoint: Checkpoint, board: Board) -> Board:
    """Return a board with only the checkpoint's feature, or the whole board if it names none."""
    named = [each for each in board.features if each.id == checkpoint.feature]
    if checkpoint.feature is not None:
        return Board(features=named)
    return board


def record_of(checkpoint: Checkpoint, board: Board) -> Mapping[str, Any]:
    """Return everything to be read back from a checkpoint, and how the files show it."""
    plain = to_plain(checkpoint)
    held = {key: plain[key] for key in sorted(HOLDS) if key in plain}
    progress = _of_progress(with_progress({}, checkpoint, ""))
    context = _of_context(with_context({}, checkpoint, board), Path(CONTEXT))
    record = {
        "id": checkpoint.id,
        **held,
        "saved_at": plain["saved_at"],
        "shown": {
            PROGRESS: {key: progress.get(key) for key in _SHOWN[PROGRESS]},
            CONTEXT: {key: context.get(key) for key in _SHOWN[CONTEXT]},
        },
    }
    return {**record, _CHECK: _check(record)}
