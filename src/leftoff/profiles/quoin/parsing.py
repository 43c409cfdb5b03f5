"""Reading the file of one checkpoint, as we write it or as quoin did; nothing in it gets lost."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import MANUAL, TRIGGERS
from leftoff.profiles import markdown
from leftoff.profiles.profile import Native
from leftoff.profiles.quoin import section_texts
from leftoff.profiles.quoin.rendering import (
    AUTOMATIC,
    BECAUSE,
    DATED,
    EXTRA,
    INFERRED,
    NOT_FOUND,
    PLAN,
    PRECOMPACT,
    REASONS,
    UNKNOWN,
)

_CONFLICT_COPY = re.compile(r".+ \d+\.md")
_AUTOMATIC_FILE = re.compile(r"-(?:precompact|auto)(?:-\d+)?$")
_REASON = re.compile(rf"- ({'|'.join(REASONS)}): (.*)", re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_STEP = re.compile(r"(\d+|None) of (\d+|None)")
_LEAST_BYTES = 100
_AUTOMATIC = {AUTOMATIC.format(trigger=trigger): trigger for trigger in TRIGGERS}

Parts = dict[str, list[str]]


def read(path: Path, data: bytes, pending: Mapping[str, str]) -> Native:
    """Read a checkpoint's file; `pending` tells which session waits for which file."""
    if _CONFLICT_COPY.fullmatch(path.name):
        return Native(problem="It is a conflict copy of another file.")
    if len(data) < _LEAST_BYTES:
        return Native(problem=f"It has less than {_LEAST_BYTES} bytes.")
    parts = _sections(data)
    task = " ".join(section_texts.unescaped(parts.pop("Active task", [])).split())
    if task in {"", section_texts.NONE}:
        return Native(problem="It names no active task.")
    status = section_texts.unescaped(parts.pop("Status", []))
    is_named = _is_named(path, status)
    told = {
        "trigger": _trigger(parts.pop("Trigger", []), status, is_named=is_named),
        "session_id": section_texts.read_text(parts.pop("Session ID", []))
        or pending.get(path.name),
        **_told(parts),
    }
    saved_at = _moment(parts.pop("Saved at", [])) or _dated(path)
    return Native(
        told={**told, EXTRA: _kept(parts, "" if is_named else task)},
        name=task if is_named else None,
        saved_at=saved_at,
        is_open=path.name in pending,
    )


def _sections(data: bytes) -> Parts:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    parts: Parts = {}
    for section in markdown.sections(text)[1:]:
        # The first one counts: a second one of the same title was pasted in.
        parts.setdefault(section.title, section.lines)
    return parts


def _kept(parts: Parts, task: str) -> dict[str, Any]:
    """Keep what no key has room for."""
    parts.pop("Restore hint", None)
    unknown = {
        title: text for title, lines in parts.items() if (text := section_texts.read_text(lines))
    }
    return {
        **({"sections": unknown} if unknown else {}),
        **({"task": task} if task else {}),
    }


def _is_named(path: Path, status: str) -> bool:
    if status in _AUTOMATIC or PRECOMPACT in status:
        return False
    return "voluntary" in status or _AUTOMATIC_FILE.search(path.stem) is None


def _trigger(lines: Sequence[str], status: str, *, is_named: bool) -> str:
    told = section_texts.read_text(lines)
    if is_named:
        return told if told in TRIGGERS else MANUAL
    # The section, if there is one, tells how the compaction began, and the status why we saved.
    return _AUTOMATIC.get(status, PRECOMPACT)


def _told(parts: Parts) -> dict[str, Any]:
    """Take the sections that have a key of their own out of the parts."""
    branch = section_texts.read_text(parts.pop("Branch", []))
    artifacts = dict(_pairs(parts.pop("In-flight artifacts", [])))
    summary, intent = None, section_texts.read_text(parts.pop("Last user intent", []))
    if "Last request" in parts:
        summary, intent = intent, section_texts.read_text(parts.pop("Last request"))
    return {
        "branch": None if branch == UNKNOWN else branch,
        "summary": summary,
        "intent": intent,
        "plan": _plan(parts, artifacts),
        "artifacts": artifacts,
        "questions": section_texts.read_items(parts.pop("Open questions", [])),
        "decisions": [_decision(raw) for raw in _raw_items(parts, "Decisions made")],
        "left_off": section_texts.read_text(parts.pop("Unfinished work", [])),
        "next_action": _next_action(parts),
        "done": section_texts.read_items(parts.pop("Completed in this session", [])),
        "blockers": section_texts.read_items(parts.pop("Blockers", [])),
        "pending_prompts": section_texts.read_items(parts.pop("Pending prompts", [])),
        "notes": section_texts.read_items(parts.pop("Notes", [])),
        "context": _json(parts.pop("Context use", [])),
        **_link(parts.pop("Session link", [])),
    }


def _raw_items(parts: Parts, title: str) -> list[list[str]]:
    return section_texts.raw_items(parts.pop(title, []))


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names with their values; what was not found has none."""
    for raw in section_texts.raw_items(lines):
        name, rest = _word(raw[0])
        value = rest.removeprefix(":").strip(" \t")
        if name and value not in {"", NOT_FOUND, section_texts.NONE}:
            yield name, _value(value)


def _word(text: str) -> tuple[str, str]:
    """Split what stands before the colon, in quotes or not, from what follows."""
    quoted = _QUOTED.match(text)
    if quoted is not None and (read := _string(quoted[0])) is not None:
        return read, text[quoted.end() :]
    name, colon, rest = text.partition(":")
    return name.strip(), colon + rest


def _value(text: str) -> str:
    read = _string(text) if _QUOTED.fullmatch(text) else None
    return text.rstrip() if read is None else read


def _string(text: str) -> str | None:
    try:
        return msgspec.json.decode(text.encode(), type=str)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _plan(parts: Parts, artifacts: dict[str, str]) -> dict[str, Any] | None:
    stage = section_texts.read_text(parts.pop("Current stage", []))
    listed, lines = artifacts.get(PLAN), parts.pop("Plan", None)
    told = _plan_lines(lines or [])
    # Without a section of its own, the plan is the one among the artifacts.
    path = listed if lines is None or (told and "path" not in told) else told.get("path")
    if "path" in told and path == listed:
        # It stands among the artifacts only to be seen there.
        artifacts.pop(PLAN, None)
    plan = {**told, "path": path, "stage": stage}
    return {key: value for key, value in plan.items() if value is not None} or None


def _plan_lines(lines: Sequence[str]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for raw in section_texts.raw_items(lines):
        key, rest = _word(raw[0])
        value = rest.removeprefix(":").strip(" \t")
        if key == "step" and (found := _STEP.fullmatch(value)):
            numbers = zip(("step", "total"), found.groups(), strict=True)
            told |= {name: int(number) for name, number in numbers if number != "None"}
        elif key in {"path", "title"}:
            told[key] = None if value == section_texts.NONE else _value(value)
    return told


def _decision(raw: Sequence[str]) -> dict[str, Any]:
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line in raw:
        if (found := _REASON.match(line)) is not None:
            groups.append((found[1], [found[2]]))
        else:
            groups[-1][1].append(line.removeprefix("  ") if groups[-1][0] else line)
    told: dict[str, Any] = {"what": section_texts.unescaped(groups[0][1])}
    if len(groups) == 1 and "\n" not in told["what"]:
        what, _, why = told["what"].partition(BECAUSE)
        return {"what": what, "why": why}
    for word, lines in groups[1:]:
        text = section_texts.unescaped(lines)
        if word == "why" and lines == [section_texts.NONE]:
            continue
        if word == "instead of":
            told.setdefault("alternatives", []).append(text)
        else:
            told[REASONS[word]] = text
    return told


def _next_action(parts: Parts) -> dict[str, Any] | None:
    for title, origin in (("Next action", "stated"), (INFERRED, "inferred")):
        text = section_texts.read_text(parts.pop(title, []))
        if text is not None:
            return {"text": text, "origin": origin}
    return None


def _link(lines: Sequence[str]) -> dict[str, Any]:
    pairs = dict(_pairs(lines))
    told: dict[str, Any] = {"agent": pairs.get("Agent")}
    if (path := pairs.get("JSONL path")) is not None:
        offset = pairs.get("Read up to", "")
        told["transcript"] = {"path": path, "offset": int(offset) if offset.isdecimal() else 0}
    return told


def _json(lines: Sequence[str]) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode("\n".join(lines).strip().encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _moment(lines: Sequence[str]) -> datetime | None:
    try:
        moment = datetime.fromisoformat("\n".join(lines).strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _dated(path: Path) -> datetime | None:
    """Tell the moment by the file's name, unless it was last written on that day, or before."""
    found = DATED.fullmatch(path.name)
    if found is None:
        return None
    date, hour, minute, _ = found.groups()
    try:
        if hour is not None:
            return datetime.fromisoformat(f"{date}T{hour}:{minute}+00:00")
        noon = datetime.fromisoformat(f"{date}T12:00").astimezone()
        written = datetime.fromtimestamp(path.lstat().st_mtime).astimezone()
    except (ValueError, OSError, OverflowError):
        return None
    # A file that was last written before the day it names was not saved any later.
    return noon if f"{written:%Y-%m-%d}" > date else None
