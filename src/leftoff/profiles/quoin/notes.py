"""What the skills of quoin noted while they worked: the session's file, and the artifacts."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from leftoff.profiles import markdown
from leftoff.profiles.quoin import blocks
from leftoff.profiles.quoin.rendering import DATED, PLAN, STATE
from leftoff.profiles.quoin.sentinels import MEMORY
from leftoff.profiles.reading import read_regular

SESSIONS = f"{MEMORY}/sessions"
_RECENT = timedelta(days=7)
_FIELD = re.compile(r"[-*]?\s*(Session UUID|Phase):\s*(.+?)\s*$")
_NUMBERED = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:[✓✔☑✅x]\s+)?(.+)|[✓✔☑✅]\s+(.+)")
_NUMBER = re.compile(r"-(\d+)\.md$")


def noted(folder: Path, session_id: str | None, now: datetime) -> dict[str, Any]:
    """Tell what the newest session's file says, or the one that names this session."""
    path = _state_file(folder, session_id, now)
    told = _state(path) if path is not None else {}
    if session_id is not None:
        told["session_id"] = session_id
    artifacts = _artifacts(folder, told.get("name", ""))
    if path is not None:
        artifacts[STATE] = str(path)
    if PLAN in artifacts:
        told["plan"] = {**told.get("plan", {}), "path": artifacts[PLAN]}
    return {key: value for key, value in {**told, "artifacts": artifacts}.items() if value}


def _state_file(folder: Path, session_id: str | None, now: datetime) -> Path | None:
    recent = [path for path in _by_age(folder / SESSIONS, "*.md") if _is_recent(path, now)]
    if session_id:
        for path in recent:
            if session_id in _text(path):
                return path
    return recent[0] if recent else None


def _is_recent(path: Path, now: datetime) -> bool:
    return now.timestamp() - path.stat().st_mtime < _RECENT.total_seconds()


def _by_age(folder: Path, pattern: str) -> list[Path]:
    """List files by when they were last written, newest first: names do not tell."""
    found = [path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink()]
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def _text(path: Path) -> str:
    found = read_regular(path)
    return found[0].decode("utf-8", "replace") if found else ""


def _state(path: Path) -> dict[str, Any]:
    dated = DATED.fullmatch(path.name)
    parts = {part.title.lower(): part.lines for part in markdown.sections(_text(path))}
    cost = (_FIELD.match(line) for line in parts.get("cost", []))
    fields = {found[1]: found[2] for found in cost if found}
    unfinished = blocks.read_text(parts.get("unfinished work", []))
    stage = fields.get("Phase") or blocks.read_text(parts.get("current stage", []))
    return {
        "name": dated[4] if dated else path.stem,
        "session_id": fields.get("Session UUID"),
        "plan": {"stage": stage} if stage else {},
        "questions": _listed(parts, "open questions"),
        "decisions": [_decision(each) for each in _listed(parts, "decisions made")],
        "left_off": unfinished,
        "intent": next(iter(_plain_lines(unfinished or "")), None),
        "done": _listed(parts, "completed in this session"),
    }


def _listed(parts: dict[str, list[str]], title: str) -> list[str]:
    found = [blocks.unescaped(raw) for raw in blocks.raw_items(parts.get(title, []))]
    return [next(_plain_lines(each), each) if "\n" not in each else each for each in found if each]


def _plain_lines(text: str) -> Iterator[str]:
    """Yield the lines without the bullet, number or tick they begin with."""
    for line in text.split("\n"):
        plain = line.strip()
        while found := _NUMBERED.match(plain):
            plain = (found[1] or found[2]).strip()
        if plain:
            yield plain


def _decision(text: str) -> dict[str, str]:
    what, _, why = text.partition(" :: ") if " :: " in text else text.partition(" — ")
    return {"what": what.strip(), "why": why.strip()}


# Artifacts


def _artifacts(folder: Path, task: str) -> dict[str, str]:
    """Find the files that the work is about, the task's own before any other's."""
    if not folder.is_dir():
        return {}
    own = [folder / task] if task and (folder / task).is_dir() else []
    others = [each for each in folder.iterdir() if each.is_dir() and each.name != MEMORY]
    found = {
        PLAN: _newest(own, others, PLAN),
        "architecture.md": _newest(own, [folder, *others], "architecture.md"),
        "latest critic-response": _highest(own, others, "critic-response-*.md"),
        "latest review": _highest(own, others, "review-*.md"),
    }
    return {name: str(path) for name, path in found.items() if path is not None}


def _newest(own: list[Path], others: list[Path], name: str) -> Path | None:
    for folders in (own, others):
        found = [path for folder in folders for path in _below(folder, name)]
        if found:
            return max(found, key=lambda path: path.stat().st_mtime_ns)
    return None


def _highest(own: list[Path], others: list[Path], pattern: str) -> Path | None:
    """Find the last of numbered files: of this task, or else of the one last worked on."""
    for folders in (own, others):
        found = [path for folder in folders for path in _below(folder, pattern)]
        if found:
            newest = max(found, key=lambda path: path.stat().st_mtime_ns).parent
            return max((each for each in found if each.parent == newest), key=_number)
    return None


def _number(path: Path) -> int:
    found = _NUMBER.search(path.name)
    return int(found[1]) if found else -1


def _below(folder: Path, pattern: str) -> list[Path]:
    """Find files in a task's folder, or in one of its stages."""
    found = [*folder.glob(pattern), *folder.glob(f"*/{pattern}")]
    return [path for path in found if MEMORY not in path.parts and path.is_file()]
