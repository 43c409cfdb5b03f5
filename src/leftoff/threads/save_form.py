"""Write a checkpoint as a form that people fill in, and read the form again.

A form is plain text: a label at the start of a line, its value behind it or below. Continued lines
are indented, so that no text of the work is mistaken for a label or a comment.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, Decision, Failure, NextAction, split_reason
from leftoff.errors import LeftoffError

Values = Mapping[str, str | list[str]]
"""What a form says, by key; an empty value if a field is empty or was removed."""

_TEXTS = {
    "name": "Name",
    "summary": "Task",
    "next_action": "Next action",
    "left_off": "Where it stopped",
}
_LISTS = {
    "next_steps": "Later steps",
    "done": "Done",
    "decisions": "Decisions",
    "failed": "Failed approaches",
    "blockers": "Blockers",
    "questions": "Open questions",
    "notes": "Notes",
}
_HINTS = {"name": " (optional)", "decisions": " (what :: why)", "failed": " (what :: why)"}
_REASONED: dict[str, type[Decision] | type[Failure]] = {"decisions": Decision, "failed": Failure}
# Most forms leave these empty.
_ONLY_IF_FILLED = frozenset({"next_steps"})
_KEYS = {label.lower(): key for key, label in {**_TEXTS, **_LISTS}.items()}
_LABEL = re.compile(
    rf"({'|'.join(map(re.escape, _KEYS))})[ \t]*(?:\([^)\n]*\))?[ \t]*:[ \t]*(.*)", re.IGNORECASE
)
_COMMENT = re.compile(r"#(?:\s.*)?")
_ITEM = re.compile(r"[-*](?:\s+(.*))?")
_INDENT = "  "


class FormTorn(LeftoffError):
    """A form that cannot be read; the text in it is not lost."""


# --- writing ---


def read_values(checkpoint: Checkpoint, name: str) -> Values:
    """Return what a form shows of a checkpoint."""
    action = checkpoint.next_action
    has_action = action is not None and not action.is_unknown
    shown: dict[str, str | list[str]] = {
        "name": name,
        "summary": checkpoint.summary or checkpoint.intent or "",
        "next_action": action.text if action is not None and has_action else "",
        "left_off": checkpoint.left_off or "",
    }
    for key in _LISTS:
        items = getattr(checkpoint, key)
        shown[key] = [_format_reason(each) if key in _REASONED else each for each in items]
    return shown


def write_form(values: Values, head: Sequence[str], known: Sequence[str]) -> str:
    """Return a form: what to do with it, its fields, and what is known without them."""
    lines = [_comment(line) for line in head]
    for key, label in _TEXTS.items():
        value = str(values.get(key, ""))
        first, *rest = value.splitlines() or [""]
        lines += ["", f"{label}{_HINTS.get(key, '')}: {first}".rstrip(), *map(_indent, rest)]
    for key, label in _LISTS.items():
        items = values.get(key, [])
        if items or key not in _ONLY_IF_FILLED:
            lines += ["", f"{label}{_HINTS.get(key, '')}:", *_write_items(items)]
    return "\n".join([*lines, "", *(_comment(line) for line in known), ""])


def _write_items(items: Iterable[str]) -> Iterator[str]:
    written = False
    for item in items:
        first, *rest = [line for line in item.splitlines() if line.strip()] or [""]
        yield f"- {first}"
        yield from map(_indent, rest)
        written = True
    if not written:
        yield "- "


def _comment(line: str) -> str:
    return f"# {line}".rstrip()


def _indent(line: str) -> str:
    return f"{_INDENT}{line}".rstrip()


def _format_reason(reason: Decision | Failure) -> str:
    return f"{reason.what} :: {reason.why}" if reason.why else reason.what


# --- reading ---


def parse_form(text: str) -> Values:
    """Read a form; raise FormTorn if a line belongs to no field, or a field is there twice."""
    fields: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        if _COMMENT.fullmatch(line):
            continue
        label = _LABEL.fullmatch(line)
        if label is not None:
            key = _KEYS[label[1].lower()]
            if key in fields:
                raise _build_error(number, f"the field {label[1]!r} appears twice")
            fields[key] = [label[2]]
        elif key:
            fields[key].append(line)
        elif line.strip():
            raise _build_error(number, f"{line.strip()[:60]!r} belongs to no field")
    texts = {key: _join_text(fields.get(key, [])) for key in _TEXTS}
    return {**texts, **{key: _split_items(fields.get(key, [])) for key in _LISTS}}


def is_empty(values: Values) -> bool:
    """Return whether a form says nothing."""
    return not any(values.values())


def _build_error(number: int, what: str) -> FormTorn:
    return FormTorn(f"Line {number} of the form cannot be read: {what}.")


def _join_text(lines: Sequence[str]) -> str:
    return "\n".join(line.strip() for line in lines).strip()


def _split_items(lines: Sequence[str]) -> list[str]:
    """Read a list; an indented line continues its item, and a line without a dash is an item."""
    items: list[str] = []
    for line in lines:
        found = _ITEM.fullmatch(line)
        if found is not None or (line.strip() and not (line[:1].isspace() and items)):
            items.append((found[1] or "") if found is not None else line)
        elif line.strip():
            items[-1] = f"{items[-1]}\n{line.strip()}"
    return [item.strip() for item in items if item.strip()]


# --- applying ---


def apply_changes(base: Checkpoint, before: Values, after: Values) -> Checkpoint:
    """Return a checkpoint with what was changed in its form; the rest stays as it was.

    What was changed counts as stated. What was removed no longer does.
    """
    changed = [key for key in after if key != "name" and after[key] != before.get(key)]
    values = {key: _read_value(base, key, after[key]) for key in changed}
    if "summary" in changed:
        values["intent"] = None if not after["summary"] else base.intent
    kept = [key for key in base.stated if key not in changed]
    stated = [*kept, *(key for key in changed if after[key])]
    return msgspec.structs.replace(base, **values, stated=stated)


def _read_value(base: Checkpoint, key: str, value: str | list[str]) -> Any:
    if key == "next_action":
        return NextAction(text=str(value)) if value else None
    if key in _REASONED:
        # One that was not touched keeps its alternatives and its impact.
        known = {_format_reason(each): each for each in getattr(base, key)}
        return [known.get(text) or _parse_reason(_REASONED[key], text) for text in value]
    return value or (None if key in _TEXTS else [])


def _parse_reason(kind: type[Decision] | type[Failure], text: str) -> Decision | Failure:
    what, why = split_reason(text)
    return kind(what=what, why=why)
