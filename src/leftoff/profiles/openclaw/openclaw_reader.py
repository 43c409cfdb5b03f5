"""Reading a checkpoint's file: when it was saved, its task, five sections, and whatever else."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leftoff.profiles import markdown
from leftoff.profiles.openclaw import moments, points
from leftoff.profiles.openclaw.points import Point
from leftoff.profiles.openclaw.section_items import EDGES, INFERRED, Item, items, plain, unescaped
from leftoff.profiles.profile import Native

KEY = "openclaw"
"""Where a checkpoint keeps what a file holds beside all that we know of."""
SECTIONS = ("Progress", "Next Action", "Blockers", "Key Decisions", "Relevant Context")

NO_TASK = "Unnamed task"
_FIELD = re.compile(r"\*\*([^*\n]+?):\*\*[ \t]*(.*)$")
_KNOWN_FIELDS = frozenset({"created", "task", "project", "auto-saved", "age"})
_STEP = re.compile(r"(.+?)(?: \(step (\d+) of (\d+)\))?", re.DOTALL)


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What stands above the first section."""

    fields: dict[str, str] = {}
    """By their names in lower case."""
    unknown: dict[str, str] = {}
    """The fields that are not ours, as they are written."""
    intro: str = ""
    """Prose above all fields."""


def read(text: str, path: Path) -> Native:
    """Read a checkpoint's file."""
    head, parts, others = divided(text)
    task = head.fields.get("task", "")
    told = _told_by_sections(parts)
    told["summary"] = task if task != NO_TASK else ""
    told["notes"] = [*([head.intro] if head.intro else []), *told["notes"]]
    kept = {"fields": head.unknown, "sections": others}
    told[KEY] = {key: value for key, value in kept.items() if value}
    if not any(told.values()):
        return Native(problem="It tells nothing: it has neither a task nor a section with text.")
    return Native(
        told=told,
        saved_at=moments.read(head.fields.get("created", ""), path),
        project=head.fields.get("project", ""),
    )


def divided(text: str) -> tuple[Head, dict[str, list[str]], dict[str, str]]:
    """Split a file into its head, the sections we know, and the others as they are written."""
    above, *found = markdown.sections(text)
    known = {title.lower(): title for title in SECTIONS}
    parts: dict[str, list[str]] = {}
    others: dict[str, str] = {}
    for section in found:
        title = known.get(section.title.lower())
        if title is not None:
            parts.setdefault(title, []).extend(section.lines)
        else:
            joined = [others.get(section.title, ""), "\n".join(section.lines).strip("\n")]
            others[section.title] = "\n\n".join(each for each in joined if each)
    return _head(above.lines), parts, others


def _head(lines: Sequence[str]) -> Head:
    fields: dict[str, list[str]] = {}
    name = ""
    for line in lines[1:] if lines and lines[0].startswith("# ") else lines:
        if found := _FIELD.match(line):
            name = found[1]
        fields.setdefault(name, []).append(found[2] if found else line)
    texts = {key: "\n".join(value).strip(EDGES) for key, value in fields.items()}
    intro = texts.pop("", "")
    return Head(
        fields={key.lower(): unescaped(value) for key, value in texts.items()},
        unknown={k: v for k, v in texts.items() if k.lower() not in _KNOWN_FIELDS and v},
        intro=unescaped(intro),
    )


def _told_by_sections(parts: Mapping[str, list[str]]) -> dict[str, Any]:
    found = {title: items(parts.get(title, [])) for title in SECTIONS}
    return {
        **_progress(found["Progress"]),
        **_next_action(parts.get("Next Action", [])),
        **_blockers(found["Blockers"]),
        "decisions": [_decision(point) for point in _points(found["Key Decisions"])],
        **_context(_points(found["Relevant Context"])),
    }


def _progress(found: list[Item]) -> dict[str, Any]:
    """Read what was done; prose at the end tells where the work stopped."""
    left_off = found.pop().text if found and found[-1].kind == "prose" else ""
    done = [each.text if each.kind == "heading" else _text(each) for each in found if _says(each)]
    is_nothing = points.is_nothing(left_off)
    return {"done": done, "left_off": None if is_nothing else points.unguarded(unescaped(left_off))}


def _next_action(lines: Sequence[str]) -> dict[str, Any]:
    found, raw = items(lines), plain(lines)
    if len(found) == 1 and found[0].kind == "bullet":
        raw = found[0].text
    if points.is_nothing(raw):
        return {}
    before, _, last = raw.rpartition("\n")
    is_inferred = last == INFERRED
    text = points.unguarded(unescaped(before.strip(EDGES) if is_inferred else raw))
    return {"next_action": {"text": text, "origin": "inferred" if is_inferred else "stated"}}


def _blockers(found: list[Item]) -> dict[str, Any]:
    told = _points(found)
    asked = "Open question"
    return {
        "blockers": [_whole(point) for point in told if point.label != asked],
        "questions": [_whole(point, without=asked) for point in told if point.label == asked],
    }


def _context(told: list[Point]) -> dict[str, Any]:
    def labelled(label: str) -> list[Point]:
        return [point for point in told if point.label == label]

    branch = [point.text for point in labelled("Branch")]
    plan = [_plan(point) for point in labelled("Plan")]
    ours = {"Branch", "Plan", "File", "Modified", "Artifact", "Failed"}
    return {
        "branch": branch[0] if branch else None,
        "plan": plan[0] if plan else None,
        "files": [{"path": point.text} for point in labelled("File")],
        "files_modified": [point.text for point in labelled("Modified")],
        "artifacts": dict(_artifact(point) for point in labelled("Artifact")),
        "failed": [
            {"what": what, "why": why}
            for what, why in (points.reason(point) for point in labelled("Failed"))
        ],
        "notes": [_whole(point) for point in told if point.label not in ours],
    }


def _points(found: list[Item]) -> list[Point]:
    return [points.read(each.text) for each in found if _says(each)]


def _says(item: Item) -> bool:
    return not points.is_nothing(item.text)


def _text(item: Item) -> str:
    return points.unguarded(unescaped(item.text))


def _whole(point: Point, *, without: str = "") -> str:
    """Return a point as one text, where its parts have no place of their own."""
    label = f"{point.label}: " if point.label and point.label != without else ""
    return "\n".join([f"{label}{point.text}", *(f"- {name}: {text}" for name, text in point.parts)])


def _decision(point: Point) -> dict[str, Any]:
    if point.label:
        return {"what": _whole(point), "why": ""}
    what, why = points.reason(point)
    alternatives = [text for name, text in point.parts if name == "Alternative"]
    return {"what": what, "why": why, "alternatives": alternatives, "impact": point.part("Impact")}


def _artifact(point: Point) -> tuple[str, str]:
    if point.parts:
        return point.text, point.part("Path")
    name, _, path = point.text.partition(" = ")
    return name, path


def _plan(point: Point) -> dict[str, Any]:
    found = _STEP.fullmatch(point.text)
    step, total = (found[2], found[3]) if found else (None, None)
    path = found[1] if found else point.text
    if point.parts:
        path = point.text
        step, _, total = point.part("Step").partition(" of ")
    told = {
        "path": path or None,
        "title": point.part("Title") or None,
        "step": int(step) if step and step.isdecimal() else None,
        "total": int(total) if total and total.isdecimal() else None,
        "stage": point.part("Stage") or None,
    }
    return {key: value for key, value in told.items() if value is not None}
