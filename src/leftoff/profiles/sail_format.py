"""Read and write one sail checkpoint as JSON: sail's own keys, and what those cannot hold.

Sail's readers ignore unknown keys, so leftoff adds a member with what would be lost: the name, the
moment to the millisecond, and values that a plain text cannot distinguish.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, Plan, to_plain
from leftoff.names import suggest_name
from leftoff.profiles import sail_plans
from leftoff.profiles.json_codec import (
    ALL_TEXTS,
    OBJECT,
    TEXT,
    Kind,
    Plain,
    is_number,
    object_of,
    without,
)
from leftoff.profiles.profile import Native
from leftoff.profiles.regular_files import compute_digest
from leftoff.profiles.sail_spellings import (
    describe,
    describe_files,
    find_meaning,
    is_checkpoint,
    list_paths,
    list_values,
    load,
    read_checkpoint,
    read_decisions,
    respell,
)

HOLDS = frozenset(
    {
        "name", "reason", "summary", "intent", "left_off", "decisions", "next_action", "blockers",
        "plan", "tdd_phase", "files_modified", "session_id", "context", "sail",
    }
)  # fmt: skip
OURS = "leftoff"
REST = "sail"
"""The key under which a checkpoint keeps content of its native file that we do not know."""

# The triggers that correspond to sail's context guardian.
_GUARDED = frozenset({"context", "precompact"})
_STAMP = re.compile(r"(\d{8}T\d{6})Z")
_MOST_FILES = 10
# Deeper JSON is not a checkpoint, and Python's recursion has a limit.
_DEEPEST = 40


# Reading


def parse(data: bytes, *, stem: str, plan: str | None) -> Native:
    """Read a file; its name and its plan supply what it does not contain."""
    try:
        found = load(data)
    except (ValueError, RecursionError) as error:
        return Native(problem=f"It is not valid JSON: {error}")
    if not is_checkpoint(found):
        return Native(problem="It has none of the keys of a checkpoint.")
    native = _check_plain(found)
    ours = native.pop(OURS, None)
    ours = ours if isinstance(ours, dict) else {}
    fields = _translate(native)
    _split_known(fields, ours)
    # Trust our member only if nobody changed the rest of the file.
    is_ours = ours.get("check") == _check(native)
    if is_ours:
        fields |= {
            REST: _without_derived(object_of(fields.get(REST)), ours),
            **object_of(ours.get("exact")),
        }
    fields |= _note_rest(object_of(fields.get(REST)), respell(native))
    if plan is not None and not fields.get("plan"):
        fields["plan"] = {"title": plan}
    saved_at = _find_moment(native, ours, stem, is_ours=is_ours)
    name = ours.get("name") if ours else plan or _name(fields, saved_at)
    return Native(fields=fields, name=sail_plans.text(name), saved_at=saved_at)


def _split_known(fields: Plain, ours: Plain) -> None:
    """Give the decisions that we wrote their reasons back, whatever else was changed."""
    wrote = list_values(object_of(ours.get("exact")).get("decisions"))
    known = {_format_decision(each): each for each in wrote if isinstance(each, dict)}
    if "decisions" in fields:
        found = fields["decisions"]
        fields["decisions"] = [known.get(_format_decision(each), each) for each in found]


def _format_decision(decision: Mapping[str, Any]) -> str:
    what, why = decision.get("what", ""), decision.get("why")
    return f"{what}: {why}" if why else str(what)


_STAGE = Kind(lambda value: value if isinstance(value, str) or is_number(value) else None)
_NATIVE = {
    "timestamp": TEXT,
    "summary": TEXT,
    "decisions": ALL_TEXTS,
    "next_action": TEXT,
    "blockers": ALL_TEXTS,
    "context": OBJECT,
}
_CONTEXT = {
    "active_plan": TEXT,
    "active_plan_stage": _STAGE,
    "active_tdd_phase": TEXT,
    "files_in_progress": ALL_TEXTS,
}


def _check_plain(value: Any, deep: int = 0) -> Any:
    """Check that a value can be stored: foreign JSON may be nested or large without limit."""
    if deep > _DEEPEST:
        raise ValueError("It is nested too deeply.")
    if isinstance(value, dict):
        return {str(key): _check_plain(each, deep + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_check_plain(each, deep + 1) for each in value]
    # Not every JSON reader can represent huge numbers, NaN or infinity.
    is_huge = isinstance(value, int) and abs(value) >= 1 << 63
    is_odd = isinstance(value, float) and value - value != 0
    return str(value) if is_huge or is_odd else value


def _translate(native: Plain) -> Plain:
    """Translate sail's keys to ours; anything else they contain is kept unchanged."""
    read = respell(native)
    context, guard = object_of(read.get("context")), object_of(native.get("compaction_context"))
    stated = {key: None if _is_null(value) else value for key, value in context.items()}
    fields: Plain = {
        "summary": _read_said(read.get("summary")),
        "decisions": read_decisions(read.get("decisions")),
        "blockers": [describe(each) for each in list_values(read.get("blockers"))],
        "plan": _read_plan(stated),
        "tdd_phase": _read_said(stated.get("active_tdd_phase")),
        "files_modified": list_paths(context.get("files_in_progress")),
        "session_id": sail_plans.text(object_of(native.get("epistemic")).get("session_id")),
    }
    if action := _read_said(read.get("next_action")):
        fields["next_action"] = {"text": action}
    percent = guard.get("context_percentage_at_checkpoint")
    if isinstance(percent, int | float) and not isinstance(percent, bool):
        fields["context"] = {"percent": float(percent)}
        if guard.get("triggered_by_guardian") is True:
            fields["reason"] = f"context {percent:.0f}%"
    fields = {key: value for key, value in fields.items() if value not in (None, [], {}, "")}
    if rest := _keep_rest(native):
        fields[REST] = rest
    return fields


def _read_plan(context: Plain) -> Plain:
    """Read the active plan and its stage; some files have both in one object."""
    plan, stage = context.get("active_plan"), context.get("active_plan_stage")
    if isinstance(plan, dict):
        named = (plan.get(key) for key in ("name", "title", "plan", "id"))
        own = (plan.get(key) for key in ("stage", "current_stage", "step"))
        stage = next(filter(None, own), None) if stage is None else stage
        plan = next(filter(None, map(sail_plans.text, named)), None)
    return sail_plans.plan_of(sail_plans.text(plan), stage)


def _note_rest(rest: Plain, read: Plain) -> Plain:
    """Return the members that sail does not know as notes, so that a session gets them, too."""
    context = rest.get("context")
    shown = {**object_of(read.get("context")), **read}

    def is_unknown(key: str, value: object) -> bool:
        if key in _NATIVE or key in _CONTEXT or key == "epistemic":
            return False
        meaning = find_meaning(key) or ""
        if meaning == "timestamp" and sail_plans.moment(value) is not None:
            return False
        meant = shown.get(meaning)
        if _is_of_files(key):
            return not {*list_paths(value)} <= {*list_paths(meant)}
        return not _list_words(value) <= _list_words(meant)

    inside = [key for key in rest if find_meaning(key) == "context" and object_of(rest[key])]
    members = [*without(rest, *inside).items(), *(m for key in inside for m in rest[key].items())]
    found = {key: each for key, each in members if is_unknown(key, each)}
    found |= {"context": context} if not isinstance(context, dict | None) else {}
    for key, each in members:
        found |= dict(describe_files(each)) if _is_of_files(key) else {}
    notes = [f"{key}: {said}" for key, each in found.items() if (said := sail_plans.words(each))]
    return {"notes": notes} if notes else {}


def _is_of_files(key: str) -> bool:
    return find_meaning(key) == "files_in_progress"


def _list_words(value: object) -> set[str]:
    """Return the words of a value, without the names of its members."""
    if isinstance(value, dict | list):
        values = value.values() if isinstance(value, dict) else value
        return {word for each in values for word in _list_words(each)}
    return set() if _is_null(value) else {*re.findall(r"\w+", sail_plans.words(value) or "")}


def _is_null(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in {"null", "none", "n/a", "-"}


def _read_said(value: object) -> str | None:
    """Return a text as it was typed, or what another value says."""
    return value or None if isinstance(value, str) else sail_plans.words(value)


def _keep_rest(native: Plain) -> Plain:
    """Return what we do not know how to write: unknown keys and unusual values."""
    rest = _find_odd(native, _NATIVE)
    if isinstance(context := native.get("context"), dict):
        odd = _find_odd(context, _CONTEXT)
        rest |= {"context": odd} if odd else {}
    return rest


def _find_odd(found: Plain, table: Mapping[str, Kind]) -> Plain:
    """Return the members that a table does not know, or would write differently."""
    return {
        key: value
        for key, value in found.items()
        if key not in table or (value is not None and table[key].read(value) is None)
    }


def _without_derived(rest: Plain, ours: Plain) -> Plain:
    """Leave out what we derived ourselves from other keys of the checkpoint."""
    return {
        key: value
        for key, value in rest.items()
        if key not in _DERIVED or key in list_values(ours.get("kept"))
    }


_DERIVED = ("epistemic", "compaction_context")


def _find_moment(native: Plain, ours: Plain, stem: str, *, is_ours: bool) -> datetime | None:
    stated = sail_plans.moment(respell(native).get("timestamp"))
    exact = sail_plans.moment(ours.get("saved_at"))
    # sail's timestamp has whole seconds; after an edit, our exact time counts only if both agree.
    is_same = exact is not None and (stated is None or exact.replace(microsecond=0) == stated)
    if exact is not None and (is_ours or is_same):
        return exact
    stamp = _STAMP.match(stem)
    return stated or (sail_plans.moment(stamp[1]) if stamp else None)


def _name(fields: Plain, saved_at: datetime | None) -> str:
    action = object_of(fields.get("next_action")).get("text")
    if fields.get("summary") or action:
        return suggest_name([fields.get("summary"), action], None)
    return f"checkpoint-{saved_at:%Y%m%d-%H%M%S}" if saved_at else "checkpoint-without-summary"


def find_moment(native: Plain) -> datetime | None:
    """Return when the content of a file was saved, as exactly as it says."""
    exact = sail_plans.moment(object_of(native.get(OURS)).get("saved_at"))
    return exact or sail_plans.moment(respell(native).get("timestamp"))


def is_autosave(native: Mapping[str, Any]) -> bool:
    """Return whether leftoff saved the content of a file without being asked."""
    return "trigger" in object_of(native.get(OURS))


class PlanCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint as its file beside the plans describes it."""

    saved_at: datetime
    summary: str | None = None
    next_action: str | None = None
    id: str | None = None
    """The id of the same checkpoint in our store, if it came from there."""


def list_newest_kept(folder: Path, limit: int) -> list[PlanCheckpoint]:
    """Return the checkpoints written last, newest first by the times they contain."""
    paths = [
        *folder.glob("checkpoints/*.json"),
        *folder.glob(f"{sail_plans.PLANS}/*/checkpoints/*.json"),
    ]
    # Sort by the time of the files first, so that only a few of them are read.
    latest = sorted(paths, key=sail_plans.find_time, reverse=True)[:limit]
    found = [_read_kept(path) for path in latest]
    return sorted(filter(None, found), key=lambda each: each.saved_at, reverse=True)


def _read_kept(path: Path) -> PlanCheckpoint | None:
    found = read_checkpoint(path)
    if found is None:
        return None
    ours, read = object_of(found.get(OURS)), respell(found)
    return PlanCheckpoint(
        saved_at=_find_moment(found, ours, path.stem, is_ours=False) or sail_plans.find_time(path),
        summary=sail_plans.words(read.get("summary")),
        next_action=sail_plans.words(read.get("next_action")),
        id=sail_plans.text(ours.get("id")),
    )


# Writing


def render(checkpoint: Checkpoint, moment: datetime | None = None) -> str:
    """Write a checkpoint as sail's JSON, with its own time or the given one."""
    native = _build_native(checkpoint, moment or checkpoint.saved_at)
    # Remember which of these the file had, so that they are not taken for derived.
    kept = [key for key in _DERIVED if key in object_of(checkpoint.extra.get(REST))]
    exact = _keep_exact(checkpoint, native)
    ours: Plain = {
        "id": checkpoint.id,
        "name": checkpoint.name,
        "saved_at": checkpoint.saved_at.astimezone(UTC).isoformat(),
        "check": _check(native),
        **({"trigger": checkpoint.trigger} if checkpoint.is_autosave else {}),
        **({"kept": kept} if kept else {}),
        **({"exact": exact} if exact else {}),
    }
    return f"{json.dumps({**native, OURS: ours}, ensure_ascii=False, indent=2)}\n"


def _build_native(checkpoint: Checkpoint, moment: datetime) -> Plain:
    rest = object_of(checkpoint.extra.get(REST))
    action = checkpoint.next_action
    native: Plain = {
        "timestamp": f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "summary": checkpoint.task or None,
        "decisions": [_format_decision(to_plain(each)) for each in checkpoint.decisions],
        "next_action": action.text if action else None,
        "blockers": checkpoint.blockers,
        "context": {**_build_context(checkpoint), **object_of(rest.get("context"))},
        **_write_optional(checkpoint),
    }
    native |= {key: value for key, value in rest.items() if key != "context"}
    if "context" in rest and not isinstance(rest["context"], dict):
        native["context"] = rest["context"]
    return native


def _build_context(checkpoint: Checkpoint) -> Plain:
    plan = checkpoint.plan or Plan()
    return {
        "active_plan": plan.title or plan.path,
        "active_plan_stage": plan.step if plan.step is not None else plan.stage,
        "active_tdd_phase": checkpoint.tdd_phase,
        "files_in_progress": _list_files(checkpoint),
    }


def _list_files(checkpoint: Checkpoint) -> list[str]:
    named = [file.path for file in checkpoint.files if file.role != "plan"]
    changed = [path for path in checkpoint.dirty if not path.startswith(f"{sail_plans.FOLDER}/")]
    found = dict.fromkeys([*checkpoint.files_modified, *named])
    # If nobody said which files are in progress, git knows.
    return [*found] or changed[:_MOST_FILES]


def _write_optional(checkpoint: Checkpoint) -> Plain:
    """Write the members that only newer files have, if they have a value."""
    found: Plain = {}
    if checkpoint.session_id:
        found["epistemic"] = {"session_id": checkpoint.session_id}
    use = checkpoint.context
    if use is not None and use.percent is not None:
        found["compaction_context"] = {
            "triggered_by_guardian": checkpoint.trigger in _GUARDED,
            "context_percentage_at_checkpoint": use.percent,
            "key_context": _build_key_context(checkpoint),
        }
    return found


def _build_key_context(checkpoint: Checkpoint) -> Plain:
    action = checkpoint.next_action
    asked = [*checkpoint.questions, *checkpoint.blockers]
    is_guess = action is not None and action.origin == "inferred"
    return {
        "current_task": checkpoint.intent or checkpoint.task or None,
        "blocking_question": asked[0] if asked else None,
        "last_file_edited": checkpoint.files_modified[-1] if checkpoint.files_modified else None,
        "next_intended_action": action.text if action else None,
        "confidence_caveat": _CAVEAT if is_guess else None,
    }


_CAVEAT = "The next action was inferred from the session; nobody stated it."


def _keep_exact(checkpoint: Checkpoint, native: Mapping[str, Any]) -> Plain:
    """Return the values that reading the file back would lose."""
    plain = to_plain(checkpoint)
    back = _translate(_check_plain(dict(native)))
    keys = HOLDS - {"name", REST}
    exact = {key: plain.get(key) for key in sorted(keys) if plain.get(key) != back.get(key)}
    if "files_modified" in exact:
        # Not all files in progress were changed, so list the others here as well.
        exact["files"] = [{"path": each.path, "role": each.role} for each in checkpoint.files]
    return exact


def _check(native: Mapping[str, Any]) -> str:
    """Return a checksum of the content, so that our member is ignored if somebody changed it."""
    return compute_digest(json.dumps(native, sort_keys=True).encode())[:12]
