"""SESSION-STATE.md: the notes an agent keeps while it works, read when a save leaves things out."""

import os
import re
import stat
from pathlib import Path
from typing import Any

FILE_NAME = "SESSION-STATE.md"

_LIMIT = 64 * 1024
_HEADING = re.compile(r"^#{2,3}\s+(.+?)\s*$")
_FIELD = re.compile(r"^\*\*(.+?):\*\*\s*(.*?)\s*$")
_BULLET = re.compile(r"^\s*[-*]\s+(?:\[[^\]]*\]\s+)?(.+?)\s*$")
_FURTHER = re.compile(r"^\s{2,}([^\s*-].*?)\s*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NOTHING = frozenset({"", "-", "none", "nothing", "n/a", "tbd"})


def read(path: Path) -> dict[str, Any]:
    """Return what the notes tell, in canonical keys; nothing where there are none."""
    return parse(text_of(path))


def text_of(path: Path) -> str:
    """Return the notes as they are, of bounded length; empty where there are none to read."""
    try:
        # A FIFO would never answer, and a folder has no text.
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def parse(text: str) -> dict[str, Any]:
    """Read the notes: the task and its goal, decisions, corrections, what blocks, what is next."""
    fields, bullets = _parts(_COMMENT.sub("", text))
    told: dict[str, Any] = {
        "summary": fields.get("goal") or fields.get("name"),
        "blockers": _some([fields.get("blocking on", "")]) + bullets.get("blockers", []),
        "decisions": [_decision(each) for each in _under(bullets, "decision")],
        "notes": _under(bullets, "correction", "preference", "noun", "value", "draft"),
    }
    if hints := _under(bullets, "next"):
        told["next_action"] = {"text": " ".join(hints)}
    return {key: value for key, value in told.items() if value}


def is_empty(text: str) -> bool:
    """Say whether the notes tell nothing, as a template does."""
    return not parse(text)


def _parts(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    fields: dict[str, str] = {}
    bullets: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if found := _HEADING.match(line):
            heading = found[1].lower()
        elif (found := _FIELD.match(line)) and found[2].lower() not in _NOTHING:
            fields[found[1].lower()] = found[2]
        elif found := _BULLET.match(line):
            bullets.setdefault(heading, []).extend(_some([found[1]]))
        elif (found := _FURTHER.match(line)) and bullets.get(heading):
            bullets[heading][-1] += f"\n{found[1]}"
    return fields, bullets


def _under(bullets: dict[str, list[str]], *words: str) -> list[str]:
    """Return the bullets under every heading that holds one of these words."""
    return [
        each
        for heading, items in bullets.items()
        if any(word in heading for word in words)
        for each in items
    ]


def _some(texts: list[str]) -> list[str]:
    return [text for text in texts if text.lower().strip(".") not in _NOTHING]


def _decision(text: str) -> dict[str, str]:
    """Read `what :: why`, or the reason that people put in brackets or after a dash."""
    found = re.fullmatch(r"(.+?)(?:\s*::\s*|\s+—\s+|\s+\()(.+?)\)?", text)
    return {"what": found[1], "why": found[2]} if found else {"what": text, "why": ""}
