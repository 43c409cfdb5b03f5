"""Read SESSION-STATE.md, an agent's own notes, to fill in what a save leaves out."""

import re
from pathlib import Path
from typing import Any

from leftoff.projects.project import read_start
from leftoff.text.markdown_tables import replace_tables

FILE_NAME = "SESSION-STATE.md"

_LIMIT = 64 * 1024
# Compiled on first use: session start imports this module, and most projects have no notes.
_HEADING = r"^#{2,3}\s+(.+?)\s*$"
_FIELD = r"^\*\*(.+?):\*\*\s*(.*?)\s*$"
# The ways people write the fields that matter.
_LOOSE_FIELD = (
    r"(?i)^(?:[-*]\s+)?\**"
    r"((?:active |current )?(?:goal|task)|name|blocking on|next(?: action| step)?)"
    r"\**:\**\s*(.*?)\s*$"
)
_BULLET = r"^\s*[-*]\s+(?:\[[^\]]*\]\s+)?(.+?)\s*$"
_FURTHER = r"^\s{2,}([^\s*-].*?)\s*$"
_COMMENT = r"(?s)<!--.*?-->"
_RULE = r"^\s*([-*_])(?:\s*\1){2,}\s*$"
# Formatting, and the date of the last change, are not part of the notes.
_FRAME = r"(?i)^\s*(?:```|~~~|\||[*_]*last[ -](?:updated|modified)\b)"
# The template's own text about its sections, and its placeholders.
_REMARK = r"(?s)([*_])\(.*\)\1"
_UNFILLED = r"\[?YYYY-MM-DD\b.*|.*<(?:title|file|section)>.*|[*_`\w ]*→"
# leftoff used to note decisions that were made under this heading, each with its time.
_STAMPED = r"^\s*[-*]\s+\[\d{4}-\d\d-\d\d \d\d:\d\d\]\s+[^?]+$"
_MADE = "decisions made"
_NOTHING = frozenset({"", "-", "none", "none yet", "nothing", "nothing yet", "n/a", "tbd"})
_LISTS = ("decision", "correction", "preference", "noun", "value", "draft")
_UNDECIDED = ("open", "pending", "undecided")
_OF_THE_TASK = ("goal", "current goal", "task", "active task", "current task")


def read(path: Path) -> dict[str, Any]:
    """Return the notes as canonical keys; empty if there are none."""
    return parse(text_of(path))


def text_of(path: Path) -> str:
    """Return the text of the notes, limited in length; empty if unreadable."""
    try:
        return read_start(path, _LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""


def parse(text: str) -> dict[str, Any]:
    """Parse the notes: task, goal, decisions, corrections, blockers and next action."""
    fields, items = _split_parts(re.sub(_COMMENT, "", text))
    undecided = {key: items.pop(key) for key in [*items] if _is_undecided(key)}
    values: dict[str, Any] = {
        "summary": _find_task(fields, items),
        "done": _list_under(items, "progress", "completed", "done"),
        "blockers": _drop_empty([fields.get("blocking on", "")]) + _list_under(items, "blocker"),
        "questions": [each for found in undecided.values() for each in found],
        "decisions": [_parse_decision(each) for each in _list_under(items, *_LISTS[:1])],
        "notes": _list_under(items, *_LISTS[1:]),
    }
    hints = [text for key, text in fields.items() if key.startswith("next")]
    if hints := hints or _list_under(items, "next"):
        values["next_action"] = {"text": " ".join(hints)}
    return {key: value for key, value in values.items() if value}


def _is_undecided(heading: str) -> bool:
    """Return whether a heading lists what the user still has to decide."""
    is_open = any(word in heading for word in _UNDECIDED)
    return is_open and ("decision" in heading or "question" in heading)


def _find_task(fields: dict[str, str], items: dict[str, list[str]]) -> str | None:
    """Return the task, from a field or from the text under a heading."""
    for key in _OF_THE_TASK:
        if key in fields:
            return fields[key]
        if found := items.get(key):
            return found[0]
    return fields.get("name")


def is_empty(text: str) -> bool:
    """Return whether the notes are empty or an unfilled template."""
    return not parse(text)


def _split_parts(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the fields, and the bullets and paragraphs under each heading."""
    fields: dict[str, str] = {}
    items: dict[str, list[str]] = {}
    heading, is_open, is_below = "", False, False
    for line in replace_tables(text.splitlines()):
        was_open, is_open = is_open, False
        if found := re.match(_HEADING, line):
            heading, is_below = found[1].lower(), False
        elif re.match(_RULE, line):
            is_below = True
        elif found := _match_field(line, heading):
            fields |= {found[1].lower(): each for each in _drop_empty([found[2]])}
        elif found := re.match(_BULLET, line):
            is_made = _is_undecided(heading) and re.match(_STAMPED, line)
            items.setdefault(_MADE if is_made else heading, []).extend(_drop_empty([found[1]]))
        elif (found := re.match(_FURTHER, line)) and items.get(heading):
            items[heading][-1] += f"\n{found[1]}"
        elif is_below or re.match(_FRAME, line):
            # Below a horizontal rule only lists count; prose there is about the file itself.
            is_open = was_open and not is_below
        elif was_open and line.strip():
            items[heading][-1] += f" {line.strip()}"
            is_open = True
        elif _drop_empty([line]):
            items.setdefault(heading, []).append(line.strip())
            is_open = True
    return fields, items


def _match_field(line: str, heading: str) -> re.Match[str] | None:
    """Match a field, except in lists of decisions or notes, whose items may look like one."""
    is_list = any(word in heading for word in _LISTS)
    return re.match(_FIELD, line) or (None if is_list else re.match(_LOOSE_FIELD, line))


def _list_under(items: dict[str, list[str]], *words: str) -> list[str]:
    """Return what is written under every heading that contains one of these words."""
    return [
        each
        for heading, found in items.items()
        if any(word in heading for word in words)
        for each in found
    ]


def _drop_empty(texts: list[str]) -> list[str]:
    return [text for text in texts if not _is_nothing(text.strip())]


def _is_nothing(text: str) -> bool:
    is_unfilled = re.fullmatch(_REMARK, text) or re.fullmatch(_UNFILLED, text)
    return text.lower().strip("._*() \t") in _NOTHING or is_unfilled is not None


def _parse_decision(text: str) -> dict[str, str]:
    """Parse `what :: why`, or a reason in brackets, after a dash or after "because"."""
    found = re.fullmatch(r"(.+?)(?:\s*::\s*|\s+—\s+|\s+\(|,?\s+because\s+)(.+?)\)?", text)
    return {"what": found[1], "why": found[2]} if found else {"what": text, "why": ""}
