"""Read claude-harness's checkpoints: a project's progress and each session's working context.

The progress file describes the last session; a working context describes one session in at most 40
lines. Anything else is in `checkpoint.json` beside the working context, git-ignored like it. What
somebody changed in a file since counts as it is; that record completes the rest.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint
from leftoff.profiles.harness.loose_json import parse
from leftoff.profiles.harness.spellings import find_key, list_words, respell, words_of
from leftoff.profiles.harness.understanding import join_areas
from leftoff.profiles.json_codec import Plain, moment_of, object_of, text_of, without
from leftoff.profiles.profile import Native
from leftoff.profiles.regular_files import compute_digest, read_regular

PROGRESS = "claude-progress.json"
CONTEXT = "working-context.json"
RECORD = "checkpoint.json"
SESSIONS = "sessions"
OLD_CONTEXT = "memory/working/context.json"

EXTRA = "harness"
"""The key under which a checkpoint keeps what only this layout knows."""
SESSION_LISTS = {"done": "completedTasks", "blockers": "blockers", "next_steps": "nextSteps"}
"""Our name and theirs of each list in the summary of a session."""
SESSION_KEYS = ("summary", *SESSION_LISTS.values(), "sessionId")
_PROGRESS_KEYS = ("lastUpdated", "lastSession")
_FILES, _DECISIONS, _STEPS = "workingFiles", "decisions", "nextSteps"
_FEATURE, _UNDERSTANDING = "activeFeature", "codebaseUnderstanding"
CONTEXT_KEYS = (
    *("lastUpdated", "activeFeature", "summary"),
    *(_FILES, _DECISIONS, _UNDERSTANDING, _STEPS),
)
_VERSION = 1
# An id becomes the name of a folder, so it must not lead anywhere else.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# What the installer of claude-harness writes before anybody works.
_SETUP = re.compile(r"initial (claude[- ])?harness setup\b.*", re.IGNORECASE)
_NO_WORK = "It does not describe any work."
_NAMED_FILE = re.compile(r"(\S+?)\s*(?::|\s-|\s—)\s+(.+)")


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
    fields = read_progress(found) if path.name == PROGRESS else read_context(found, path)
    if not any(fields.get(key) for key in ("summary", "done", "next_action", "feature", "files")):
        return Native(problem=_NO_WORK)
    name = record.get("name") if record else fields.get("feature") or fields.get("summary")
    edited = _find_edits(fields, record, path.name)
    return Native(
        fields=_complete(fields, record, edited),
        name=name,
        saved_at=moment_of(found.get(find_key(found, "lastUpdated"))),
        is_exact=True,
        shows="" if edited else text_of(record.get("id")),
    )


def is_unused(path: Path) -> bool:
    """Return whether a file is as the installer left it, before any work."""
    found = read_regular(path)
    try:
        plain = object_of(parse(found[0])) if found else {}
    except ValueError:
        return False
    if path.name == PROGRESS:
        return is_setup(read_session(plain))
    # The context of older versions is compiled at each start, and empty before the first one.
    return "computedAt" in plain and not plain.get("activeFeature") and not plain.get("summary")


def is_setup(session: Plain) -> bool:
    """Return whether a session is the installer's, which is not work."""
    is_named = bool(_SETUP.fullmatch(words_of(session.get("summary"))))
    return is_named and not list_words(session.get("completedTasks"))


def _read_record(found: Plain) -> Native:
    fields = without(found, *_NOT_WRITTEN)
    return Native(
        fields=fields,
        name=text_of(found.get("name")) or None,
        saved_at=moment_of(found.get("saved_at")),
        shows=text_of(found.get("id")) if found.get(_CHECK) == _check(found) else "",
    )


def _record_of(path: Path, found: Plain) -> Plain:
    """Return the record of the same session, if there is one."""
    if path.name == PROGRESS:
        session = text_of(read_session(found).get("sessionId"))
        if not _PLAIN_NAME.fullmatch(session):
            return {}
        path = path.parent / SESSIONS / session / CONTEXT
    found_record = read_regular(path.with_name(RECORD))
    try:
        return object_of(parse(found_record[0])) if found_record else {}
    except ValueError:
        return {}


# The two files


def read_session(found: Plain) -> Plain:
    """Return what a progress file says about the last session: under its key, or beside it."""
    found = respell(found, ("lastSession", *SESSION_KEYS))
    beside = {key: found[key] for key in SESSION_KEYS if key in found}
    last = found.get("lastSession")
    inside = last if isinstance(last, dict) else {"summary": last} if last else {}
    return {**beside, **respell(inside, SESSION_KEYS)}


def read_progress(found: Plain) -> Plain:
    """Return what a progress file says, in the keys of a checkpoint."""
    found = respell(found, (*_PROGRESS_KEYS, *SESSION_KEYS))
    last = read_session(found)
    fields: Plain = {
        "summary": words_of(last.get("summary")),
        **{key: list_words(last.get(theirs)) for key, theirs in SESSION_LISTS.items()},
    }
    steps = fields.pop("next_steps")
    odd = _keep_odd(last, SESSION_LISTS.values())
    inside = without(respell(object_of(found.get("lastSession")), SESSION_KEYS), *SESSION_KEYS)
    kept = {"progress": without(found, *_PROGRESS_KEYS), "lastSession": {**inside, **odd}}
    extra = _build_extra({key: value for key, value in kept.items() if value})
    return {**fields, **_split_steps(steps), **extra}


def read_context(found: Plain, path: Path) -> Plain:
    """Return what a working context says, in the keys of a checkpoint."""
    found = respell(found, CONTEXT_KEYS)
    roles = read_roles(found.get(_FILES))
    understanding = found.get(_UNDERSTANDING)
    fields: Plain = {
        "feature": _read_feature(found.get(_FEATURE)),
        "summary": words_of(found.get("summary")),
        "files": [{"path": name, "role": role} for name, role in roles.items()],
        "files_modified": [name for name, role in roles.items() if is_change(role)],
        "decisions": [_read_decision(each) for each in _list(found.get(_DECISIONS))],
        "left_off": join_areas(understanding),
        **_split_steps(list_words(found.get(_STEPS))),
    }
    fields["decisions"] = [each for each in fields["decisions"] if each]
    if path.parent.parent.name == SESSIONS:
        fields["session_id"] = path.parent.name
    kept = without(found, *CONTEXT_KEYS) | _keep_odd(found, (_DECISIONS, _STEPS))
    if isinstance(found.get(_FEATURE), dict):
        kept[_FEATURE] = found[_FEATURE]
    if kept.get("version") == _VERSION:
        del kept["version"]
    if not _is_plain_object(understanding):
        kept |= {_UNDERSTANDING: understanding} if understanding else {}
    if not _is_plain_object(found.get(_FILES)):
        kept |= {_FILES: found[_FILES]} if found.get(_FILES) else {}
    return fields | _build_extra({"context": kept} if kept else {})


def _read_feature(value: object) -> str | None:
    """Return the id of the active feature; an object also says its name."""
    said = object_of(value).get("id")
    return (said if isinstance(said, str) and said else words_of(value)) or None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else list_words(value)


def _read_decision(found: object) -> Plain:
    """Return a decision; an object may also say why, and what else was considered."""
    what = words_of(found)
    if not isinstance(found, dict) or not what:
        return {"what": what} if what else {}
    spelled = respell(found, ("decision", "rationale", "alternatives", "impact"))
    known = {
        "why": words_of(spelled.get("rationale")) or words_of(spelled.get("why")),
        "alternatives": list_words(spelled.get("alternatives")),
        "impact": words_of(spelled.get("impact")),
    }
    return {"what": what, **{key: value for key, value in known.items() if value}}


def read_roles(value: object) -> dict[str, str]:
    """Return the files of a working context with their roles, whatever form they have."""
    if isinstance(value, dict):
        return {path: words_of(role) for path, role in value.items() if path.strip()}
    return dict(filter(None, map(_read_file, _list(value))))


def _read_file(value: object) -> tuple[str, str] | None:
    if isinstance(value, dict):
        named = ((key, words_of(value[key])) for key in ("path", "file", "name") if key in value)
        key, path = next(named, ("", ""))
        rest = words_of(value.get("role")) or words_of(without(value, key))
        return (path, rest) if path else None
    text = words_of(value)
    found = _NAMED_FILE.fullmatch(text)
    return ((found[1], found[2]) if found else (text, "")) if text else None


def _keep_odd(found: Plain, keys: Iterable[str]) -> Plain:
    """Return the lists that have another form than texts in a list."""
    texts = ((key, found.get(key)) for key in keys)
    return {key: value for key, value in texts if value and list_words(value) != value}


def _is_plain_object(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _build_extra(kept: Plain) -> Plain:
    return {EXTRA: kept} if kept else {}


def _split_steps(steps: list[str]) -> Plain:
    """Split steps: the first is the next action, the others are what to do then."""
    if not steps:
        return {}
    return {"next_action": {"text": steps[0]}, "next_steps": steps[1:]}


def is_change(role: str) -> bool:
    """Return whether a role says what happened to its file."""
    return role.lower().startswith(("new", "modified", "renamed", "deleted", "copied", "changed"))


# The record


def _find_edits(fields: Plain, record: Plain, shown_as: str) -> Plain:
    """Return the values that somebody changed after the file was written."""
    shown = object_of(object_of(record.get("shown")).get(shown_as))
    return {key: fields.get(key) for key, value in shown.items() if fields.get(key) != value}


def _complete(fields: Plain, record: Plain, edited: Plain) -> Plain:
    """Add the record's values, except where the file was changed since."""
    if not record:
        return fields
    files = {"files": fields["files"]} if "files" in fields else {}
    # Each file knows only its own part of this.
    extra = {**object_of(record.get(EXTRA)), **object_of(fields.get(EXTRA))}
    return {**without(record, *_NOT_WRITTEN), **edited, **files, **_build_extra(extra)}


# The values that each file shows; if they differ from the record, somebody edited the file.
_SHOWN = {
    PROGRESS: ("summary", "done", "blockers", "next_action", "next_steps"),
    CONTEXT: ("feature", "summary", "decisions", "left_off", "next_action", "next_steps", "files"),
}
_CHECK = "check"
_NOT_WRITTEN = ("id", "name", "saved_at", "shown", _CHECK)


def list_shown(fields: Plain, shown_as: str) -> Plain:
    """Return what a file shows of a checkpoint, to find later what was edited."""
    return {key: fields.get(key) for key in _SHOWN[shown_as]}


def sign(record: Mapping[str, Any]) -> Plain:
    """Add a checksum, so that a record somebody changed does not pass for ours."""
    return {**record, _CHECK: _check(record)}


def _check(record: Mapping[str, Any]) -> str:
    signed = {key: value for key, value in record.items() if key != _CHECK}
    return compute_digest(json.dumps(signed, sort_keys=True).encode())[:12]


def folder_of(checkpoint: Checkpoint) -> str:
    """Return the folder with the state of a checkpoint's session."""
    return (
        f"{SESSIONS}/{build_folder_name(checkpoint.session_id or checkpoint.name or 'no-session')}"
    )


def build_folder_name(session_id: str) -> str:
    """Build the name of a session's folder: its id, or a hash if the id is not a plain name."""
    if _PLAIN_NAME.fullmatch(session_id):
        return session_id
    return compute_digest(session_id.encode("utf-8", "surrogateescape"))[:32]
