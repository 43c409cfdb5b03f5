"""The format of openclaw's checkpoint files: date, task, five sections, and anything else."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from leftoff.checkpoint import EXPECTED, MENTIONED, Checkpoint, Decision, Plan
from leftoff.fingerprints import list_mentioned
from leftoff.names import kebab
from leftoff.profiles.loose_headings import fold_title
from leftoff.profiles.markdown_codec import (
    Field,
    Layout,
    Lines,
    Parts,
    Plain,
    Section,
    read_nothing,
)
from leftoff.profiles.openclaw import moments, points
from leftoff.profiles.openclaw.level_text import level
from leftoff.profiles.openclaw.openclaw_titles import FIELDS, SECTIONS
from leftoff.profiles.openclaw.points import Point
from leftoff.profiles.openclaw.section_items import (
    EDGES,
    INFERRED,
    escape,
    escape_marks,
    fold_headings,
    join_lines,
    split_items,
    unescape,
    unescape_marks,
)
from leftoff.profiles.profile import Native
from leftoff.profiles.regular_files import compute_digest
from leftoff.text.markdown_tables import replace_tables

KEY = "openclaw"
"""The key under which a checkpoint keeps content of a file that we do not know."""
TEXT = "native_text"
"""The key under which a checkpoint keeps the text of its file."""
# Separates the name from the mark of its project; no checkpoint name contains this.
BESIDE = "--"
_NO_TASK = "Unnamed task"
_ASKED = "Open question"
_STEP = re.compile(r"(.+?)(?: \(step (\d+) of (\d+)\))?", re.DOTALL)
_TITLE = re.compile(r"^\W*(?:checkpoint|autosave)\b\W*", re.IGNORECASE)
# The placeholder of the template.
_UNFILLED = re.compile(r"YYYY|<")
_SUBHEADING = re.compile(r"#{3,6} \S(?:.*\S)?")


def read(text: str, path: Path) -> Native:
    """Read a checkpoint's file, however its headings and fields are spelled."""
    text = level(text)
    parts = LAYOUT.split(text)
    fields = LAYOUT.read(parts)
    if asked := fields.pop("asked", []):
        fields["questions"] = [*fields.get("questions", []), *asked]
    _, remark = _split_task(parts.fields.get("Task", ""))
    notes = [unescape(each) for each in (parts.intro, remark) if each]
    moment = read_moment(parts, path)
    created = parts.fields.get("Created", "")
    if moment is None and created and _UNFILLED.search(created) is None:
        notes.append(f"Created: {unescape(created)}")
    if notes:
        fields["notes"] = [*notes, *fields.get("notes", [])]
    kept = {"fields": parts.unknown_fields, "sections": parts.unknown_sections}
    if not any([*fields.values(), *kept.values()]):
        return Native(problem="It is empty: it has neither a task nor a section with text.")
    own = {"title": _find_own_title(text, path), **kept}
    fields[KEY] = {key: value for key, value in own.items() if value}
    fields["files"] = _add_mentioned(fields)
    project = unescape(parts.fields.get("Project", ""))
    return Native(fields=fields, saved_at=moment, project=project)


def _find_own_title(text: str, path: Path) -> str:
    """Return a title that says more than the name of the file."""
    first = text.split("\n", 1)[0]
    title = first.removeprefix("# ").strip() if first.startswith("# ") else ""
    named = _TITLE.sub("", title)
    stem = path.stem.partition(BESIDE)[0]
    return "" if kebab(named) in {"", kebab(stem), "autosave"} else title


def _add_mentioned(fields: Plain) -> list[Plain]:
    """Return the named files, and those that the texts mention."""
    named: list[Plain] = fields.get("files", [])
    action = fields.get("next_action") or {}
    texts = [
        *fields.get("done", []),
        fields.get("left_off") or "",
        action.get("text", ""),
        *fields.get("blockers", []),
        *fields.get("notes", []),
    ]
    known = {each["path"] for each in named} | {*fields.get("files_modified", [])}
    known.add((fields.get("plan") or {}).get("path", ""))
    found = list_mentioned(texts, besides=known)
    return [*named, *({"path": file.path, "role": file.role} for file in found)]


def read_moment(parts: Parts, path: Path) -> datetime | None:
    """Return the time at which a file says it was saved."""
    return moments.read(unescape(parts.fields.get("Created", "")).partition("\n")[0], path)


def find_owner(parts: Parts) -> str:
    """Return the project that a file names; empty if it names none."""
    return unescape(parts.fields.get("Project", "")).partition("\n")[0]


def render(checkpoint: Checkpoint, *, project: str = "") -> str:
    """Write a checkpoint as its native file: as it was read, if nobody changed it since."""
    if (text := _find_text(checkpoint)) is not None:
        return text
    own = _find_kept(checkpoint).get("title")
    head = f"# {own}\n" if isinstance(own, str) else f"# Checkpoint: {checkpoint.name}\n"
    return "\n".join([head, write_moment(checkpoint), write_body(checkpoint, project=project)])


def _find_text(checkpoint: Checkpoint) -> str | None:
    """Return the text that a checkpoint was read from, if it still says the same."""
    text, source = checkpoint.extra.get(TEXT), checkpoint.source
    if not isinstance(text, str) or source is None or source.profile != KEY:
        return None
    # A redacted text is no longer the file's.
    return text if compute_digest(text.encode("utf-8", "replace")) == source.sha256 else None


def write_moment(checkpoint: Checkpoint) -> str:
    """Write the line with the file's date."""
    return LAYOUT.write_field("Created", moments.write(checkpoint.saved_at))


def write_body(checkpoint: Checkpoint, *, project: str) -> str:
    """Write everything below the line with the date."""
    kept = _find_kept(checkpoint)
    fields = LAYOUT.write_fields(checkpoint)
    if project:
        fields.append(LAYOUT.write_field("Project", project))
    fields += [LAYOUT.write_field(*each) for each in _list_texts(kept.get("fields"))]
    sections = LAYOUT.write_sections(checkpoint, _list_texts(kept.get("sections")))
    return "\n".join([*fields, "", sections])


def _find_kept(checkpoint: Checkpoint) -> Plain:
    """Return what is stored for these files and means nothing elsewhere."""
    found = checkpoint.extra.get(KEY)
    return found if isinstance(found, dict) else {}


def find_state(checkpoint: Checkpoint) -> str:
    """Return the working notes that an imported autosave repeats."""
    found = _find_kept(checkpoint).get("state")
    return found if isinstance(found, str) else ""


def _list_texts(value: object) -> list[tuple[str, str]]:
    return [(str(k), str(v)) for k, v in value.items()] if isinstance(value, dict) else []


# Progress


def _read_progress(lines: Lines) -> Plain:
    """Read what was done; prose at the end says where the work stopped."""
    found = split_items(replace_tables(lines), is_list=True)
    left_off = found.pop().text if found and found[-1].kind == "prose" else ""
    done = [
        each.text if each.kind == "heading" else points.unguard(unescape(each.text))
        for each in found
        if not points.is_nothing(each.text)
    ]
    is_nothing = points.is_nothing(left_off)
    text = "" if is_nothing else points.unguard(unescape(unescape_marks(left_off)))
    return {"done": done, "left_off": text or None}


def _write_progress(checkpoint: Checkpoint) -> str:
    """Write what was done, under a heading per day if there are several, and where it stopped."""
    lines = []
    for number, text in enumerate(checkpoint.done):
        is_heading = _SUBHEADING.fullmatch(text) is not None
        lines += [""] if is_heading and number else []
        lines.append(text if is_heading else points.write(Point(text=text)))
    if checkpoint.left_off:
        lines += [""] if checkpoint.done else []
        lines.append(escape_marks(escape(points.guard(checkpoint.left_off))))
    return "\n".join(lines) or "- None"


# Next Action


def _read_action(lines: Lines) -> Plain:
    lines = replace_tables(lines)
    found, raw = split_items(lines), join_lines(lines)
    if len(found) == 1 and found[0].kind == "bullet":
        raw = found[0].text
    if points.is_nothing(raw):
        return {}
    before, _, last = raw.rpartition("\n")
    is_inferred = last == INFERRED
    text = points.unguard(unescape(before.strip(EDGES) if is_inferred else raw))
    return {"next_action": {"text": text, "origin": "inferred" if is_inferred else "stated"}}


def _write_action(checkpoint: Checkpoint) -> str:
    action = checkpoint.next_action
    if action is None:
        return "None"
    text = escape(points.guard(action.text))
    return f"{text}\n{INFERRED}" if action.origin == "inferred" else text


# Blockers


def _read_blockers(lines: Lines) -> Plain:
    found = points.read_all(fold_headings(replace_tables(lines)))
    asked = [point for point in found if point.label == _ASKED]
    return {
        "blockers": [_join_point(point) for point in found if point.label != _ASKED],
        "questions": [_join_point(point, without=_ASKED) for point in asked],
    }


def _read_questions(lines: Lines) -> Plain:
    found = points.read_all(replace_tables(lines))
    return {"asked": [_join_point(point, without=_ASKED) for point in found]}


def _write_blockers(checkpoint: Checkpoint) -> str:
    blockers = [Point(text=text) for text in checkpoint.blockers]
    questions = [Point(label=_ASKED, text=text) for text in checkpoint.questions]
    return points.write_all([*blockers, *questions])


def _join_point(point: Point, *, without: str = "") -> str:
    """Return a point as one text, for places that cannot hold its parts."""
    label = f"{point.label}: " if point.label and point.label != without else ""
    return "\n".join([f"{label}{point.text}", *(f"- {name}: {text}" for name, text in point.parts)])


# Key Decisions


# What agents call the reason of a decision.
_REASON = re.compile(
    r"^([ \t]+[-*+][ \t]+)(?:\*\*)?(?:Why|Reason|Reasoning|Rationale|Because)"
    r"(?::\*\*|\*\*:|:)(?=[ \t])",
    re.IGNORECASE,
)


def _read_decisions(lines: Lines) -> Plain:
    named = [_REASON.sub(r"\1Why:", line) for line in fold_headings(replace_tables(lines))]
    return {"decisions": [*map(_read_decision, points.read_all(named))]}


def _read_decision(point: Point) -> Plain:
    if point.label:
        return {"what": _join_point(point), "why": ""}
    what, why = points.read_reason(point)
    alternatives = [text for name, text in point.parts if name == "Alternative"]
    return {"what": what, "why": why, "alternatives": alternatives, "impact": point.part("Impact")}


def _make_decision(decision: Decision) -> Point:
    more = [("Alternative", each) for each in decision.alternatives]
    more += [("Impact", decision.impact)] if decision.impact else []
    return points.add_reason("", decision.what, decision.why, more)


# Relevant Context


def _read_context(lines: Lines) -> Plain:
    fields: Plain = {"files": [], "files_modified": [], "artifacts": {}, "failed": [], "notes": []}
    for point in points.read_all(replace_tables(lines)):
        match point.label:
            case "Branch":
                fields.setdefault("branch", point.text)
            case "Plan":
                fields.setdefault("plan", _read_plan(point))
            case "File":
                fields["files"].append({"path": point.text})
            case "Modified":
                fields["files_modified"].append(point.text)
            case "Artifact":
                fields["artifacts"] |= [_read_artifact(point)]
            case "Failed":
                what, why = points.read_reason(point)
                fields["failed"].append({"what": what, "why": why})
            case _:
                fields["notes"].append(_join_point(point))
    return fields


def _make_context(checkpoint: Checkpoint) -> Iterator[Point]:
    if checkpoint.branch:
        yield Point(label="Branch", text=checkpoint.branch)
    if checkpoint.plan is not None:
        yield _make_plan(checkpoint.plan)
    for path in checkpoint.files_modified:
        yield Point(label="Modified", text=path)
    shown = {*checkpoint.files_modified, checkpoint.plan.path if checkpoint.plan else None}
    for file in checkpoint.files:
        if file.path not in shown and file.role not in {MENTIONED, EXPECTED}:
            yield Point(label="File", text=file.path)
    for artifact in checkpoint.artifacts.items():
        yield _make_artifact(*artifact)
    for failure in checkpoint.failed:
        yield points.add_reason("Failed", failure.what, failure.why)
    yield from (Point(text=text) for text in checkpoint.notes)


def _read_artifact(point: Point) -> tuple[str, str]:
    if point.parts:
        return point.text, point.part("Path")
    name, _, path = point.text.partition(" = ")
    return name, path


def _make_artifact(name: str, path: str) -> Point:
    text = f"{name} = {path}"
    if text.partition(" = ")[0] != name:
        return Point(label="Artifact", text=name, parts=[("Path", path)])
    return Point(label="Artifact", text=text)


def _read_plan(point: Point) -> Plain:
    found = _STEP.fullmatch(point.text)
    step, total = (found[2], found[3]) if found else (None, None)
    path = found[1] if found else point.text
    if point.parts:
        path = point.text
        step, _, total = point.part("Step").partition(" of ")
    plan = {
        "path": path or None,
        "title": point.part("Title") or None,
        "step": int(step) if step and step.isdecimal() else None,
        "total": int(total) if total and total.isdecimal() else None,
        "stage": point.part("Stage") or None,
    }
    return {key: value for key, value in plan.items() if value is not None}


def _make_plan(plan: Plan) -> Point:
    path = plan.path or ""
    step = f"{plan.step} of {plan.total}" if plan.total else str(plan.step or "")
    # A path that ends in a parenthesis would be read back as a step.
    is_short = not plan.title and not plan.stage and not path.endswith(")")
    if path and is_short and (plan.total or not step):
        return Point(label="Plan", text=f"{path} (step {step})" if step else path)
    parts = {"Title": plan.title, "Step": step, "Stage": plan.stage}
    return Point(label="Plan", text=path, parts=[(k, v) for k, v in parts.items() if v])


# We write such a line with a backslash, so it is not part of the task.
_MARKUP = re.compile(
    r"^(?:#{1,6}[ \t]|```|~~~|[-*+][ \t]|-{3,}|<!--|\|).*", re.DOTALL | re.MULTILINE
)


def _split_task(text: str) -> tuple[str, str]:
    """Separate the task from what somebody wrote below it."""
    first, newline, below = text.partition("\n")
    found = _MARKUP.search(below)
    if found is None:
        return text, ""
    return f"{first}{newline}{below[: found.start()]}".strip(EDGES), found[0].strip(EDGES)


def _read_task(text: str) -> Plain:
    task = unescape(_split_task(text)[0])
    return {"summary": "" if task == _NO_TASK else task}


def _write_task(checkpoint: Checkpoint) -> str:
    return escape(checkpoint.summary or checkpoint.intent or "") or _NO_TASK


def _make_other_field(title: str) -> Field:
    """Make a field that says nothing about the work, or is written separately."""
    return Field(title, read_nothing, lambda _: None)


LAYOUT = Layout(
    fold=fold_title,
    fields=(
        *(_make_other_field(title) for title in ("Project", "Auto-saved", "Age")),
        Field("Created", read_nothing, lambda _: None, FIELDS["Created"]),
        Field("Task", _read_task, _write_task, FIELDS["Task"]),
    ),
    sections=(
        Section("Progress", _read_progress, _write_progress, SECTIONS["Progress"]),
        Section("Next Action", _read_action, _write_action, SECTIONS["Next Action"]),
        Section("Blockers", _read_blockers, _write_blockers, SECTIONS["Blockers"]),
        # They are written among the blockers.
        Section("Open questions", _read_questions, lambda _: None, SECTIONS["Open questions"]),
        Section(
            "Key Decisions",
            _read_decisions,
            lambda checkpoint: points.write_all(map(_make_decision, checkpoint.decisions)),
            SECTIONS["Key Decisions"],
        ),
        Section(
            "Relevant Context",
            _read_context,
            lambda checkpoint: points.write_all(_make_context(checkpoint)),
            SECTIONS["Relevant Context"],
        ),
    ),
)
