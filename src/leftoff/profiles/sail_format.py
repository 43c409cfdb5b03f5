"""Read and write one sail checkpoint as JSON: sail's own keys, and what those cannot hold.

Sail's readers ignore unknown keys, so a member of ours stores what would be lost: the name, the
moment to the millisecond, and values that a plain text cannot distinguish.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from leftoff.checkpoint import Checkpoint, Plan, to_plain
from leftoff.names import suggest_name
from leftoff.profiles import sail_plans
from leftoff.profiles.json_codec import ALL_TEXTS, OBJECT, TEXT, Kind, Plain, is_number, object_of
from leftoff.profiles.profile import Native
from leftoff.profiles.regular_files import digest

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
# Deeper JSON is not a checkpoint, and Python's recursion has a limit.
_DEEPEST = 40


# Reading


def parse(data: bytes, *, stem: str, plan: str | None) -> Native:
    """Read a file; its name and its plan supply what it does not contain."""
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        return Native(problem=f"It is not valid JSON: {error}")
    if not isinstance(found, dict) or not _NATIVE.keys() & found.keys():
        return Native(problem="It has none of the keys of a checkpoint.")
    native = _plain(found)
    ours = native.pop(OURS, None)
    ours = ours if isinstance(ours, dict) else {}
    fields = _tell(native)
    _split_known(fields, ours)
    # Trust our member only if nobody changed the rest of the file.
    is_ours = ours.get("check") == _check(native)
    if is_ours:
        fields |= {
            REST: _without_derived(object_of(fields.get(REST)), ours),
            **object_of(ours.get("exact")),
        }
    if plan is not None and not fields.get("plan"):
        fields["plan"] = {"title": plan}
    saved_at = _find_moment(native, ours, stem, is_ours=is_ours)
    name = ours.get("name") if ours else plan or _name(fields, saved_at)
    return Native(fields=fields, name=sail_plans.text(name), saved_at=saved_at)


def _split_known(fields: Plain, ours: Plain) -> None:
    """Give the decisions that we wrote their reasons back, whatever else was changed."""
    wrote = _list(object_of(ours.get("exact")).get("decisions"))
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


def _plain(value: Any, deep: int = 0) -> Any:
    """Check that a value can be stored: foreign JSON may be nested or large without limit."""
    if deep > _DEEPEST:
        raise ValueError("It is nested too deeply.")
    if isinstance(value, dict):
        return {str(key): _plain(each, deep + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, deep + 1) for each in value]
    # Not every JSON reader can represent huge numbers, NaN or infinity.
    is_huge = isinstance(value, int) and abs(value) >= 1 << 63
    is_odd = isinstance(value, float) and value - value != 0
    return str(value) if is_huge or is_odd else value


def _tell(native: Plain) -> Plain:
    """Translate sail's keys to ours; anything else they contain is kept unchanged."""
    context, guard = object_of(native.get("context")), object_of(native.get("compaction_context"))
    fields: Plain = {
        "summary": native.get("summary"),
        "decisions": [_decision(each) for each in _list(native.get("decisions"))],
        "blockers": [_words(each) for each in _list(native.get("blockers"))],
        "plan": sail_plans.plan_of(
            sail_plans.text(context.get("active_plan")), context.get("active_plan_stage")
        ),
        "tdd_phase": context.get("active_tdd_phase"),
        "files_modified": [_words(each) for each in _list(context.get("files_in_progress"))],
        "session_id": sail_plans.text(object_of(native.get("epistemic")).get("session_id")),
    }
    if isinstance(action := native.get("next_action"), str) and action:
        fields["next_action"] = {"text": action}
    percent = guard.get("context_percentage_at_checkpoint")
    if isinstance(percent, int | float) and not isinstance(percent, bool):
        fields["context"] = {"percent": float(percent)}
        if guard.get("triggered_by_guardian") is True:
            fields["reason"] = f"context {percent:.0f}%"
    fields |= {key: None for key in ("summary", "tdd_phase") if not isinstance(fields[key], str)}
    fields = {key: value for key, value in fields.items() if value not in (None, [], {}, "")}
    if rest := _rest(native):
        fields[REST] = rest
    return fields


def _rest(native: Plain) -> Plain:
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
        if key not in _DERIVED or key in _list(ours.get("kept"))
    }


_DERIVED = ("epistemic", "compaction_context")


def _decision(value: object) -> Plain:
    """Read a decision as it was typed, or the object that some files contain."""
    if not isinstance(value, dict):
        return {"what": _words(value)}
    what = next((value[key] for key in ("what", "decision") if value.get(key)), None)
    why = next((value[key] for key in ("why", "rationale", "reason") if value.get(key)), "")
    return {"what": _words(what or value), **({"why": _words(why)} if why else {})}


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list(value: object) -> list[Any]:
    if isinstance(value, str):
        return [value] if value else []
    return value if isinstance(value, list) else []


def _find_moment(native: Plain, ours: Plain, stem: str, *, is_ours: bool) -> datetime | None:
    stated = sail_plans.moment(native.get("timestamp"))
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
    return exact or sail_plans.moment(native.get("timestamp"))


def is_autosave(native: Mapping[str, Any]) -> bool:
    """Return whether leftoff saved the content of a file without being asked."""
    return "trigger" in object_of(native.get(OURS))


# Writing


def render(checkpoint: Checkpoint, moment: datetime | None = None) -> str:
    """Write a checkpoint as sail's JSON, with its own time or the given one."""
    native = _native(checkpoint, moment or checkpoint.saved_at)
    # Remember which of these the file had, so that they are not taken for derived.
    kept = [key for key in _DERIVED if key in object_of(checkpoint.extra.get(REST))]
    exact = _exact(checkpoint, native)
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


def _native(checkpoint: Checkpoint, moment: datetime) -> Plain:
    rest = object_of(checkpoint.extra.get(REST))
    action = checkpoint.next_action
    native: Plain = {
        "timestamp": f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "summary": checkpoint.task or None,
        "decisions": [_format_decision(to_plain(each)) for each in checkpoint.decisions],
        "next_action": action.text if action else None,
        "blockers": checkpoint.blockers,
        "context": {**_context(checkpoint), **object_of(rest.get("context"))},
        **_optional(checkpoint),
    }
    native |= {key: value for key, value in rest.items() if key != "context"}
    if "context" in rest and not isinstance(rest["context"], dict):
        native["context"] = rest["context"]
    return native


def _context(checkpoint: Checkpoint) -> Plain:
    plan = checkpoint.plan or Plan()
    return {
        "active_plan": plan.title or plan.path,
        "active_plan_stage": plan.step if plan.step is not None else plan.stage,
        "active_tdd_phase": checkpoint.tdd_phase,
        "files_in_progress": _files(checkpoint),
    }


def _files(checkpoint: Checkpoint) -> list[str]:
    named = [file.path for file in checkpoint.files if file.role != "plan"]
    return list(dict.fromkeys([*checkpoint.files_modified, *named]))


def _optional(checkpoint: Checkpoint) -> Plain:
    """Write the members that only newer files have, if they have a value."""
    found: Plain = {}
    if checkpoint.session_id:
        found["epistemic"] = {"session_id": checkpoint.session_id}
    use = checkpoint.context
    if use is not None and use.percent is not None:
        found["compaction_context"] = {
            "triggered_by_guardian": checkpoint.trigger in _GUARDED,
            "context_percentage_at_checkpoint": use.percent,
            "key_context": _key_context(checkpoint),
        }
    return found


def _key_context(checkpoint: Checkpoint) -> Plain:
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


def _exact(checkpoint: Checkpoint, native: Mapping[str, Any]) -> Plain:
    """Return the values that reading the file back would lose."""
    plain = to_plain(checkpoint)
    back = _tell(_plain(dict(native)))
    keys = HOLDS - {"name", REST}
    exact = {key: plain.get(key) for key in sorted(keys) if plain.get(key) != back.get(key)}
    if "files_modified" in exact:
        # Not all files in progress were changed, so list the others here as well.
        exact["files"] = [{"path": each.path, "role": each.role} for each in checkpoint.files]
    return exact


def _check(native: Mapping[str, Any]) -> str:
    """Return a checksum of the content, so that our member is ignored if somebody changed it."""
    return digest(json.dumps(native, sort_keys=True).encode())[:12]
