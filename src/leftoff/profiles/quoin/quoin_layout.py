"""The format of a checkpoint's file: ten sections, and more where they do not suffice."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.checkpoint import MANUAL, TRIGGERS, Checkpoint, to_plain
from leftoff.names import kebab, suggest_name
from leftoff.profiles.markdown_codec import (
    Layout,
    Lines,
    Parts,
    Plain,
    Section,
    Style,
    read_nothing,
)
from leftoff.profiles.profile import Native
from leftoff.profiles.quoin import section_values
from leftoff.profiles.quoin.section_values import PLAN, STATE
from leftoff.text import times

PRECOMPACT = "precompact"
DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(\d\d))?-(.+)\.md")
_EXTRA = "quoin"
"""The key under which a checkpoint keeps sections that we do not know."""
_UNKNOWN = "unknown"
_INFERRED = "Next action (inferred)"
_VOLUNTARY = "checkpoint save (voluntary)"
_AUTOMATIC = {f"checkpoint save ({trigger})": trigger for trigger in TRIGGERS}
# Programs that sync folders name a conflict copy `name 2.md`.
_CONFLICT_COPY = re.compile(r".+ \d+\.md")
_AUTOMATIC_FILE = re.compile(r"-(?:precompact|auto)(?:-\d+)?$")
_LEAST_BYTES = 100


# Reading


def read(path: Path, data: bytes, pending: Mapping[str, str]) -> Native:
    """Read a checkpoint's file; `pending` maps files to the sessions that wait for them."""
    if _CONFLICT_COPY.fullmatch(path.name):
        return Native(problem="It is a conflict copy of another file.")
    if len(data) < _LEAST_BYTES:
        return Native(problem=f"It is smaller than {_LEAST_BYTES} bytes.")
    parts = LAYOUT.split(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    found = LAYOUT.read(parts)
    task, status = found.pop("task", ""), found.pop("status", "")
    if task in {"", section_values.NONE}:
        return Native(problem="It does not name an active task.")
    is_named = _is_named(path, status)
    told = {
        **_resolve(found),
        "trigger": _find_trigger(found.get("trigger"), status, is_named=is_named),
        "session_id": found.get("session_id") or pending.get(path.name),
        _EXTRA: _keep(_find_unknown(parts, found), "" if is_named else task),
    }
    return Native(
        told=told,
        name=task if is_named else None,
        saved_at=told.pop("saved_at", None) or _read_date(path),
        is_open=path.name in pending,
    )


def _resolve(found: Plain) -> Plain:
    """Combine what several sections say: the request, the plan, the next action."""
    told = dict(found)
    asked = told.pop("asked", None)
    # If there is a section for the last request, the other one holds the summary.
    has_request = "request" in told
    request = told.pop("request", None)
    told |= {"summary": asked, "intent": request} if has_request else {"intent": asked}
    artifacts = dict(told.get("artifacts", {}))
    told["plan"] = _resolve_plan(told.pop("stage", None), told.get("plan"), artifacts)
    inferred = told.pop("inferred", None)
    told["next_action"] = told.get("next_action") or inferred
    return {**told, "artifacts": artifacts}


def _resolve_plan(stage: str | None, section: Plain | None, artifacts: Plain) -> Plain | None:
    told, listed = section or {}, artifacts.get(PLAN)
    # Without its own section, the plan is the one among the artifacts.
    path = listed if section is None or (told and "path" not in told) else told.get("path")
    if "path" in told and path == listed:
        # It is listed among the artifacts only for readers.
        artifacts.pop(PLAN, None)
    plan = {**told, "path": path, "stage": stage}
    return {key: value for key, value in plan.items() if value is not None} or None


def _find_unknown(parts: Parts, found: Plain) -> dict[str, str]:
    """Return sections without a key; a guess beside a stated next action counts as one too."""
    if not {"next_action", "inferred"} <= found.keys():
        return parts.unknown_sections
    return {**parts.unknown_sections, _INFERRED: "\n".join(parts.sections[_INFERRED])}


def _keep(sections: Mapping[str, str], task: str) -> Plain:
    """Store what no key can hold."""
    read = {title: section_values.read_text(body.split("\n")) for title, body in sections.items()}
    unknown = {title: text for title, text in read.items() if text}
    return {
        **({"sections": unknown} if unknown else {}),
        **({"task": task} if task else {}),
    }


def _is_named(path: Path, status: str) -> bool:
    if status in _AUTOMATIC or PRECOMPACT in status:
        return False
    return "voluntary" in status or _AUTOMATIC_FILE.search(path.stem) is None


def _find_trigger(told: str | None, status: str, *, is_named: bool) -> str:
    if is_named:
        return told if told in TRIGGERS else MANUAL
    # The section, if present, says how the compaction began; the status says why we saved.
    return _AUTOMATIC.get(status, PRECOMPACT)


def _read_date(path: Path) -> datetime | None:
    """Take the date from the file's name, unless the file was last written by that day."""
    found = DATED.fullmatch(path.name)
    if found is None:
        return None
    date, hour, minute, _ = found.groups()
    if hour is not None:
        return times.parse(f"{date}T{hour}:{minute}")
    noon = times.parse(f"{date}T12:00", zone=None)
    try:
        written = datetime.fromtimestamp(path.lstat().st_mtime).astimezone()
    except (ValueError, OSError, OverflowError):
        return None
    # A file last written before the day in its name cannot have been saved later.
    return noon if f"{written:%Y-%m-%d}" > date else None


# Writing


def render(checkpoint: Checkpoint) -> str:
    """Write a checkpoint as its file."""
    kept = _find_kept(checkpoint).get("sections")
    unknown = kept if isinstance(kept, dict) else {}
    return LAYOUT.write_sections(
        checkpoint,
        [
            (" ".join(str(title).split()), section_values.write_text(str(body)))
            for title, body in unknown.items()
        ],
    )


def task_of(checkpoint: Checkpoint) -> str:
    """Return the task of a checkpoint: its name, or one derived from the work."""
    if checkpoint.name:
        return checkpoint.name
    known = _find_kept(checkpoint).get("task")
    dated = DATED.fullmatch(Path(checkpoint.artifacts.get(STATE, "")).name)
    found = known if isinstance(known, str) else dated[4] if dated else ""
    texts = [checkpoint.summary, checkpoint.intent, checkpoint.left_off]
    return kebab(found) or suggest_name(texts, checkpoint.branch)


def _find_kept(checkpoint: Checkpoint) -> dict[str, object]:
    """Return what is stored for these files and means nothing elsewhere."""
    found = checkpoint.extra.get(_EXTRA)
    return found if isinstance(found, dict) else {}


# Sections


def _read_branch(lines: Lines) -> Plain:
    branch = section_values.read_text(lines)
    return {"branch": None if branch == _UNKNOWN else branch}


def _write_hint(checkpoint: Checkpoint) -> str:
    branch = " ".join((checkpoint.branch or _UNKNOWN).split())
    return (
        f"Run /checkpoint --restore in a fresh session to resume task '{task_of(checkpoint)}' "
        f"from branch '{branch}'."
    )


def _make_action(title: str, key: str, origin: str) -> Section:
    """Make the section for a stated next action, or for an inferred one."""

    def read(lines: Lines) -> Plain:
        text = section_values.read_text(lines)
        return {} if text is None else {key: {"text": text, "origin": origin}}

    def write(checkpoint: Checkpoint) -> str | None:
        action = checkpoint.next_action
        is_mine = action is not None and (action.origin == "stated") == (origin == "stated")
        return section_values.write_text(action.text) if action and is_mine else None

    return Section(title, read, write)


def _read_context(lines: Lines) -> Plain:
    try:
        found = msgspec.json.decode("\n".join(lines).strip().encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return {"context": found} if isinstance(found, dict) else {}


def _write_context(checkpoint: Checkpoint) -> str | None:
    use = checkpoint.context
    return None if use is None else msgspec.json.encode(to_plain(use)).decode()


def _read_moment(lines: Lines) -> Plain:
    moment = times.parse("\n".join(lines).strip())
    return {"saved_at": moment} if moment else {}


def _find_status(checkpoint: Checkpoint) -> str:
    return _VOLUNTARY if checkpoint.name else f"checkpoint save ({checkpoint.trigger})"


def _find_trigger_told(checkpoint: Checkpoint) -> str | None:
    is_told = checkpoint.name and checkpoint.trigger != MANUAL
    return checkpoint.trigger if is_told else None


_STYLE = Style(
    read_text=section_values.read_text,
    write_text=section_values.write_text,
    read_list=section_values.read_items,
    write_list=section_values.write_items,
)
LAYOUT = Layout(
    # Match titles exactly as quoin writes them: a person's own section may differ in case only.
    fold=str,
    # The first section counts: a second one with the same title was pasted in.
    joins_repeated=False,
    sections=(
        Section("Status", lambda lines: {"status": section_values.unescape(lines)}, _find_status),
        _STYLE.text(
            "Current stage", "stage", find=lambda each: each.plan.stage if each.plan else None
        ),
        Section(
            "Active task",
            lambda lines: {"task": " ".join(section_values.unescape(lines).split())},
            task_of,
        ),
        Section(
            "Branch", _read_branch, lambda each: section_values.write_text(each.branch or _UNKNOWN)
        ),
        _STYLE.text("Last user intent", "asked", find=lambda each: each.summary or each.intent),
        Section(
            "In-flight artifacts",
            lambda lines: {"artifacts": dict(section_values.read_pairs(lines))},
            section_values.write_artifacts,
        ),
        _STYLE.texts("Open questions", "questions"),
        Section("Decisions made", section_values.read_decisions, section_values.write_decisions),
        _STYLE.text("Unfinished work", "left_off"),
        Section("Restore hint", read_nothing, _write_hint),
        # The sections above always exist; those below hold what does not fit into them.
        Section(
            "Last request",
            lambda lines: {"request": section_values.read_text(lines)},
            lambda each: section_values.write_text(each.intent) if each.summary else None,
        ),
        Section(
            "Plan",
            lambda lines: {"plan": section_values.read_plan(lines)},
            section_values.write_plan,
        ),
        _make_action("Next action", "next_action", "stated"),
        _make_action(_INFERRED, "inferred", "inferred"),
        _STYLE.texts("Completed in this session", "done", is_optional=True),
        _STYLE.texts("Blockers", "blockers", is_optional=True),
        _STYLE.texts("Pending prompts", "pending_prompts", is_optional=True),
        _STYLE.texts("Notes", "notes", is_optional=True),
        _STYLE.text("Session ID", "session_id", is_optional=True),
        Section("Session link", section_values.read_link, section_values.write_link),
        _STYLE.text("Trigger", "trigger", find=_find_trigger_told, is_optional=True),
        Section("Context use", _read_context, _write_context),
        Section("Saved at", _read_moment, lambda each: each.saved_at.astimezone(UTC).isoformat()),
    ),
)
