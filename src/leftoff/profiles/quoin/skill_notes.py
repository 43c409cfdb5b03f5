"""Read what quoin's skills noted during their work: the session's file, and the artifacts."""

import heapq
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from leftoff.names import kebab
from leftoff.profiles import markdown_codec
from leftoff.profiles.loose_frames import reframe
from leftoff.profiles.loose_headings import fold_title
from leftoff.profiles.quoin import section_texts
from leftoff.profiles.quoin.quoin_layout import DATED
from leftoff.profiles.quoin.section_titles import SPELLINGS, STATE_SPELLINGS
from leftoff.profiles.quoin.section_values import PLAN, STATE
from leftoff.profiles.quoin.sentinels import MEMORY
from leftoff.profiles.regular_files import read_regular

SESSIONS = f"{MEMORY}/sessions"
_MOST_TASKS = 30
# The folders below a task's own.
_DEEPEST = 4
_FIELD = re.compile(
    r"(?:[-*+|]\s+)?(?P<name>Session (?:UUID|ID)|Phase)\s*[:：|]\s*(?P<value>.+?)\s*\|?\s*$",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*`]+")
# The sections of a session's file, each with the other spellings of its title.
_SECTIONS = {
    fold_title(title): frozenset(map(fold_title, (title, *spellings)))
    for title, spellings in {**SPELLINGS, **STATE_SPELLINGS}.items()
    if title not in {"Active task", "Branch", "Last user intent", "Restore hint"}
}
_TITLES = {spelling: title for title, others in _SECTIONS.items() for spelling in others}
# A single word, such as `**Phase:**` under Cost, may be a field of another section.
_CLEAR_SECTIONS = {
    title: {each for each in others if each == title or " " in each or not each.isascii()}
    for title, others in _SECTIONS.items()
}
_NUMBERED = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:(?:[✓✔☑✅x]|\[[ xX]\])\s+)?(.+)|[✓✔☑✅]\s+(.+)")


def read_notes(
    folder: Path, session_id: str | None, since: datetime | None, task: str | None = None
) -> dict[str, Any]:
    """Return what a save should include: the content of a session's file, and the artifacts.

    The file is the one of the named task, of this session, or the newest one. If a task is named,
    the notes of another session about another task are left out.
    """
    path = _find_state_file(folder, session_id, since, task)
    fields = _read_state(path) if path is not None else {}
    noted_by = fields.get("session_id")
    if task is not None and path is not None and kebab(fields["name"]) != kebab(task):
        is_foreign = None not in {noted_by, session_id} and noted_by != session_id
        path, fields = (None, {}) if is_foreign else (path, {**fields, "name": task})
    if session_id is not None:
        fields["session_id"] = session_id
    name = task or fields.get("name", "")
    artifacts = _find_artifacts(folder, name)
    if path is not None:
        artifacts[STATE] = str(path)
    if PLAN in artifacts:
        fields["plan"] = {**fields.get("plan", {}), "path": artifacts[PLAN]}
    # The store knows the task by its name in kebab-case; quoin's files have it as it was typed.
    spelled = {"quoin": {"task": name}} if name and kebab(name) != name else {}
    noted = {**fields, **spelled, "artifacts": artifacts}
    return {key: value for key, value in noted.items() if value}


def _find_state_file(
    folder: Path, session_id: str | None, since: datetime | None, task: str | None
) -> Path | None:
    least = since.timestamp() if since else 0.0
    found = [
        path for path in _list_by_age(folder / SESSIONS, "*.md") if path.stat().st_mtime >= least
    ]
    for path in found if task else ():
        if kebab(_find_task(path)) == kebab(task or ""):
            return path
    if session_id:
        for path in found:
            if session_id in _read_text(path):
                return path
    return found[0] if found else None


def _find_task(path: Path) -> str:
    dated = DATED.fullmatch(path.name)
    return dated[4] if dated else path.stem


def _list_by_age(folder: Path, pattern: str) -> list[Path]:
    """List files by modification time, newest first, because their names do not show it."""
    found = [path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink()]
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def _read_text(path: Path) -> str:
    found = read_regular(path)
    return found[0].decode("utf-8", "replace") if found else ""


def _read_state(path: Path) -> dict[str, Any]:
    text = reframe(_read_text(path).removeprefix("\ufeff"), _CLEAR_SECTIONS)
    parts: dict[str, list[str]] = {}
    for part in markdown_codec.split_sections(text):
        title = fold_title(part.title)
        parts.setdefault(_TITLES.get(title, title), []).extend(part.lines)
    cost = (_FIELD.match(_MARKS.sub("", line).strip()) for line in parts.get("cost", []))
    fields = {found["name"].lower(): found["value"] for found in cost if found}
    unfinished = section_texts.read_text(parts.get("unfinished work", []))
    stage = fields.get("phase") or section_texts.read_word(parts.get("current stage", []))
    return {
        "name": _find_task(path),
        "session_id": fields.get("session uuid") or fields.get("session id"),
        "plan": {"stage": stage} if stage else {},
        "questions": _read_list(parts.get("open questions", [])),
        "decisions": [
            _parse_decision(each) for each in _read_list(parts.get("decisions made", []))
        ],
        "left_off": unfinished,
        "intent": next(iter(_list_plain_lines(unfinished or "")), None),
        "done": _read_list(parts.get("completed in this session", [])),
    }


def _read_list(lines: list[str]) -> list[str]:
    return [_strip_mark(each) for each in section_texts.read_items(lines) if each]


def _strip_mark(item: str) -> str:
    """Return an item without its own number or tick; the lines below it stay."""
    head, below, rest = item.partition("\n")
    return next(_list_plain_lines(head), head) + below + rest


def _list_plain_lines(text: str) -> Iterator[str]:
    """Yield the lines without their leading bullet, number or tick."""
    for line in text.split("\n"):
        plain = line.strip()
        while found := _NUMBERED.match(plain):
            plain = (found[1] or found[2]).strip()
        if plain:
            yield plain


def _parse_decision(text: str) -> dict[str, str]:
    what, _, why = text.partition(" :: ") if " :: " in text else text.partition(" — ")
    return {"what": what.strip(), "why": why.strip()}


# Artifacts

_ARTIFACT = re.compile(r"(current-plan|architecture|critic-response|review)(?:-(\d+))?\.md")
_NAMED = {
    "current-plan": PLAN,
    "architecture": "architecture.md",
    "critic-response": "latest critic-response",
    "review": "latest review",
}


class _Artifact(NamedTuple):
    """A file, with the time of the newest one of its kind in its folder, and its number."""

    kind: str
    number: int
    written: int
    path: Path


def _find_artifacts(folder: Path, task: str) -> dict[str, str]:
    """Find the files that the work is about, preferring the task's own."""
    found = [*_list_task_artifacts(folder / task)] if task else []
    missing = set(_NAMED) - {each.kind for each in found}
    if missing:
        tasks = (each for path in _list_tasks(folder) for each in _list_task_artifacts(path))
        others = [*_list_task_artifacts(folder, 0), *tasks]
        found += [each for each in others if each.kind in missing]
    kinds = {kind: [each for each in found if each.kind == kind] for kind in _NAMED}
    return {_NAMED[kind]: str(_pick_last(some).path) for kind, some in kinds.items() if some}


def _pick_last(found: list[_Artifact]) -> _Artifact:
    """Return the highest number in the folder that was written last."""
    folder = max(found, key=lambda each: each.written).path.parent
    return max((each for each in found if each.path.parent == folder), key=lambda each: each[1:3])


def _list_tasks(folder: Path) -> list[Path]:
    """List the tasks that were worked on last; a project may have had hundreds."""
    tasks = [each for each in _list_entries(folder) if each.is_dir() and each.name != MEMORY]
    newest = heapq.nlargest(_MOST_TASKS, tasks, key=lambda each: each.stat().st_mtime_ns)
    return [Path(each.path) for each in newest]


def _list_task_artifacts(folder: Path, depth: int = _DEEPEST) -> Iterator[_Artifact]:
    """Yield the artifacts of a task, and of its stages in subfolders."""
    for entry in _list_entries(folder):
        if depth and entry.is_dir(follow_symlinks=False):
            yield from _list_task_artifacts(Path(entry.path), depth - 1)
        elif (named := _ARTIFACT.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
            written = entry.stat(follow_symlinks=False).st_mtime_ns
            yield _Artifact(named[1], int(named[2] or 0), written, Path(entry.path))


def _list_entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [*found]
    except OSError:
        return []
